// Settling where rows are not only counted: weights of rows and classes, costs, and numbers that are
// predicted.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "choice/quality_chooser.hpp"
#include "growth/grow_criteria.hpp"
#include "settling/sum_bounds.hpp"
#include "settling/tests.hpp"

namespace hornbeam {

/// By the criterion's name, from exact sums as wide as they have to be.
std::unique_ptr<Settling> settle_by_sums(SettleTask task);

/// What settling of weighted classes needs to know about each set.
struct WeighedSets {
    WeighedClasses classes;
    std::vector<std::vector<double>> weight, factor; // of each class, by set
};

/// Each width is compiled in a file of its own.
template <int W>
std::unique_ptr<Settling> settle_weighed(SettleTask task, std::shared_ptr<const WeighedSets> sets);
std::unique_ptr<Settling> settle_variance(SettleTask task);
std::unique_ptr<Settling> settle_weighted_variance(SettleTask task);

/// The grower's own chooser looks at the entries of a set as at so many examples. C: the criterion that
/// bounds are made of, as `bounded_by` gives it; C4.5 is settled without bounds, and its C is that of
/// information.
template <Criterion C> class SettlingSums final : public SettlingTests<typename C::Target> {
  public:
    using Target = typename C::Target;
    using Stats = typename Target::Stats;
    using BoundedBy = const C &(*)(const SplitCriterion<Target> &);

    SettlingSums(SettleTask task, std::unique_ptr<SplitCriterion<Target>> criterion, BoundedBy bounded_by,
                 std::shared_ptr<const WeighedSets> sets)
        : SettlingTests<Target>(std::move(task), std::move(criterion)), bounded_by_(bounded_by),
          sets_(std::move(sets)) {
        task_.parameters.accelerate = false; // what is fast wants rows
        if (sets_ != nullptr) this->forest_.class_weight = sets_->weight;
        entries_.nominal.resize(task_.layout->attributes.size());
    }

    WholeSet whole(std::int32_t set) const override {
        WholeSet whole = Tests::whole(set);
        if (sets_ != nullptr && !sets_->factor.empty())
            whole.factor = sets_->factor[static_cast<std::size_t>(set)];
        return whole;
    }

    Settled look(std::int64_t number, const RefinedSet &set, Cancel &cancel) override {
        const OpenNode &node = nodes_[static_cast<std::size_t>(number)];
        Settled found;
        if (set.size() < 2) return found;
        const Target target{&set, set.n_classes};
        QualityChooser<Entry, Target> chooser(entries_, target, *criterion_, task_.parameters, cancel);
        const Lane<Stats> lane{node.set, node.record, this->total_of(node)};
        chooser.open(lane, true, rules_of(node));
        std::vector<Entry> list = listed(set, target);
        if (set.nominal)
            chooser.consider({set.attribute, 0, nullptr}, list, nullptr, nullptr, found.choice);
        else
            chooser.consider({set.attribute, set.size(), list.data()}, {}, nullptr, nullptr, found.choice);
        if (!found.choice.found()) return found;
        found.state = Settled::State::test;
        found.children = this->children_of(node, set, found.choice);
        found.child_sums = sums_of_children(set, found.choice);
        if (!set.nominal) Tests::find_ends(set, found);
        return found;
    }

  private:
    using Tests = SettlingTests<Target>;
    using Tests::nodes_, Tests::task_, Tests::criterion_, Tests::rules_of;
    using Entry = std::uint64_t;
    using Bound = std::conditional_t<requires(Stats s) { s.c; }, CornerBound<C>, VarianceBound<C>>;

    const BoundedBy bounded_by_;
    std::shared_ptr<const WeighedSets> sets_;
    Frame<Entry> entries_; // codes of a nominal attribute's entries; nothing else

    void find_alive(const OpenNode &node, const SetReader &sets, double margin, Cancel &cancel,
                    Settled &settled) const override {
        const Stats total = this->total_of(node);
        const auto turned = this->turned_to(node.set, total);
        Bound bound(bounded_by_(*turned), total);
        double reach = settled.choice.found() ? settled.choice.quality : -1.0;
        if (bound.of_gain())
            reach = std::max(reach, task_.parameters.min_impurity_decrease / this->share_of(node));
        reach -= bound.slack(reach) + margin;
        for (std::size_t a = 0; a < sets.size(); ++a) {
            cancel.poll();
            if (sets.exact(a)) continue;
            const RefinedSet set = sets.read(a);
            if (!bound.there()) {
                Tests::add_inexact(set, settled.alive);
                continue;
            }
            const Target target{&set, set.n_classes};
            Stats none = target.zero(), missing = none;
            target.add_for_quality(missing, set.size(), 1);
            const std::int64_t leaf = rules_of(node).min_leaf, gone = missing.n;
            bound_cuts(bound, target, total, none, {leaf, std::max(leaf, 1 + gone)}, reach, settled);
            if (gone != 0)
                bound_cuts(bound, target, total, missing, {std::max(leaf, 1 + gone), leaf}, reach, settled);
        }
    }
    /// `below` are the missing rows, where they are on the left. A cut leaves `least` rows on its sides.
    void bound_cuts(Bound &bound, const Target &target, const Stats &total, Stats below, Least least,
                    double reach, Settled &settled) const {
        const RefinedSet &set = *target.set;
        Stats bucket = target.zero();
        for (std::size_t i = 0; i < set.size(); ++i) {
            bucket.clear();
            target.add_for_quality(bucket, i, 1);
            const Moved moved{std::max<std::int64_t>(1, least.left - below.n),
                              std::min(bucket.n - 1, total.n - below.n - least.right)};
            if (!set.exact(i) && moved.least <= moved.most) {
                const double most = bound.highest(below, bucket, moved, reach);
                settled.bound = std::max(settled.bound, most);
                if (!(most < reach)) settled.alive.push_back({set.attribute, set.bucket[i]});
            }
            below += bucket;
        }
    }

    /// The entries as a sorted list; of a nominal attribute those that have rows, the missing ones too.
    std::vector<Entry> listed(const RefinedSet &set, const Target &target) {
        std::vector<Entry> list;
        const std::uint32_t n = set.size() + (set.nominal ? 1 : 0);
        for (std::uint32_t i = 0; i < n; ++i)
            if (!set.nominal || target.rows(i) != 0) list.push_back(Packed<Entry>::make(i, i, 0));
        if (!set.nominal) return list;
        FrameCodes &codes = entries_.nominal[static_cast<std::size_t>(set.attribute)];
        codes.n_categories = static_cast<std::int32_t>(set.size());
        codes.own.resize(n);
        for (std::uint32_t i = 0; i < n; ++i) codes.own[i] = static_cast<std::int32_t>(i);
        codes.own.back() = -1;
        codes.code = codes.own;
        return list;
    }

    std::vector<SumWords> sums_of_children(const RefinedSet &set, const Choice &c) const {
        const std::size_t words = set.shape->words();
        std::vector<SumWords> sums(static_cast<std::size_t>(c.n_children), SumWords(set.n_classes * words));
        this->each_of_children(set, c, [&](std::size_t child, std::size_t i) {
            for (std::size_t k = 0; words != 0 && k < set.n_classes; ++k)
                set.shape->add(&sums[child][k * words], set.sums_of(i) + k * words);
        });
        return sums;
    }
};

/// C is the criterion, or what it is derived from.
template <class C, class Given> std::unique_ptr<Settling>
settle_with(SettleTask task, const Given &criterion, std::shared_ptr<const WeighedSets> sets = nullptr) {
    using By = SplitBy<Given>;
    const auto bounded_by = [](const SplitCriterion<typename C::Target> &any) -> const C & {
        return static_cast<const By &>(any).rule;
    };
    return std::make_unique<SettlingSums<C>>(std::move(task), std::make_unique<By>(criterion), bounded_by,
                                             std::move(sets));
}

} // namespace hornbeam
