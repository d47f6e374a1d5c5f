// Settling by the grower's own choosers, rules and records.
#include "hornbeam/settling.hpp"

#include <stdexcept>

#include "hornbeam/bounds.hpp"
#include "hornbeam/policy.hpp"
#include "hornbeam/settling_nodes.hpp"
#include "hornbeam/settling_quest.hpp"

namespace hornbeam {
namespace {

constexpr double bound_slack = 1e-12; // relative: of the roundings of a quality

template <Criterion C> class SettlingBy final : public SettlingNodes<C> {
  public:
    SettlingBy(SettleTask task, C criterion, std::unique_ptr<XlogTable> xlog)
        : SettlingNodes<C>(std::move(task), std::move(criterion)), xlog_(std::move(xlog)) {}

    Settled look(std::int64_t number, const RefinedSet &set, Cancel &cancel) override {
        const OpenNode &node = nodes_[static_cast<std::size_t>(number)];
        Settled found;
        if (set.size() < 2) return found;
        Chooser<std::uint32_t, C> chooser(frame_, target_, criterion_, task_.parameters, cancel);
        const Lane<ClassCounts> lane{node.set, node.record, node.total};
        chooser.open(lane, true, rules_of(node));
        const AvcSlot slot{set.attribute, set.nominal, 0, set.size()};
        chooser.consider({set.attribute, 0, nullptr}, {}, &slot, set.counts.data(), found.choice);
        if (!found.choice.found()) return found;
        found.state = Settled::State::test;
        found.children = children_of(node, set, found.choice);
        if (found.choice.kind == TestKind::numeric) find_ends(set, found);
        return found;
    }

    Settled choose(std::int64_t number, std::vector<Settled> &found) override {
        const OpenNode &node = nodes_[static_cast<std::size_t>(number)];
        Settled best = best_of(node, found);
        best.state = worth(node, best.choice) ? Settled::State::test : Settled::State::leaf;
        return best;
    }

    Settled settle(std::int64_t number, const SetReader &sets, const LookedInto &before, double margin,
                   Cancel &cancel) override {
        std::vector<Settled> found;
        for (std::size_t a = 0; a < sets.size(); ++a) {
            cancel.poll();
            found.push_back(look(number, sets.read(a), cancel));
        }
        const OpenNode &node = nodes_[static_cast<std::size_t>(number)];
        Settled settled = best_of(node, found);
        if (before.best != nullptr && precedes(*before.best, settled)) {
            settled = *before.best;
            settled.alive.clear();
        }
        find_alive(node, sets, before, margin, cancel, settled);
        const bool taken = worth(node, settled.choice);
        if (settled.alive.empty() && taken) settled.alive = settled.ends;
        settled.state = !settled.alive.empty() ? Settled::State::open
                        : taken                ? Settled::State::test
                                               : Settled::State::leaf;
        return settled;
    }

  private:
    using Nodes = SettlingNodes<C>;
    using Nodes::nodes_, Nodes::task_, Nodes::criterion_, Nodes::frame_, Nodes::target_;
    using Nodes::rules_of, Nodes::share_of, Nodes::worth, Nodes::add, Nodes::children_of;

    std::unique_ptr<XlogTable> xlog_;

    /// As the grower compares the tests of attributes.
    Settled best_of(const OpenNode &node, std::vector<Settled> &found) const {
        std::vector<Entered> entered;
        for (Settled &one : found)
            if (one.choice.found()) entered.push_back({&one.choice});
        Settled best;
        Choice choice;
        decide(entered, criterion_, rules_of(node), task_.parameters.competitors, choice);
        if (!choice.found()) return best;
        for (Settled &one : found)
            if (!one.children.empty() && one.choice.attribute == choice.attribute) best = std::move(one);
        best.choice = std::move(choice);
        return best;
    }
    /// The order of tests. A cut inside a bucket is before one at the bucket's end, whose lower value may not
    /// be known.
    static bool precedes(const Settled &a, const Settled &b) {
        if (!a.choice.found() || !b.choice.found()) return a.choice.found();
        if (a.choice.quality != b.choice.quality) return a.choice.quality > b.choice.quality;
        if (a.choice.attribute != b.choice.attribute) return a.choice.attribute < b.choice.attribute;
        return a.choice.kind == TestKind::numeric && a.hi < b.hi;
    }
    static void find_ends(const RefinedSet &set, Settled &found) {
        const Choice &c = found.choice;
        found.lo = set.low[c.lo], found.hi = set.low[c.hi];
        // Both are wanted where one is: what was known of the other may have been let go by then.
        if (set.exact(c.lo) && set.exact(c.hi)) return;
        for (std::uint32_t end : {c.lo, c.hi}) found.ends.push_back({c.attribute, set.bucket[end]});
    }

    /// Buckets inside which a cut might be better than the test that was found.
    void find_alive(const OpenNode &node, const SetReader &sets, const LookedInto &before, double margin,
                    Cancel &cancel, Settled &settled) const {
        const StopRules &rules = rules_of(node);
        double reach = settled.choice.found() ? settled.choice.quality : -1.0;
        if constexpr (is_gain<C>)
            reach = std::max(reach, task_.parameters.min_impurity_decrease / share_of(node));
        reach -= bound_slack * std::max(1.0, std::abs(reach)) + margin;
        for (std::size_t a = 0; a < sets.size(); ++a) {
            cancel.poll();
            if (sets.exact(a)) continue;
            const RefinedSet set = sets.read(a);
            if constexpr (has_bound<C>) {
                const ClassCounts none(node.total.c.size());
                ClassCounts missing = none;
                add(missing, set.row(set.size()));
                bound_cuts(node, rules, set, none, missing.n, 0, reach, settled);
                if (missing.n != 0)
                    bound_cuts(node, rules, set, missing, missing.n, missing.n, reach, settled);
            } else {
                for (std::size_t i = 0; i < set.size(); ++i)
                    if (!set.exact(i)) settled.alive.push_back({set.attribute, set.bucket[i]});
            }
        }
        std::erase_if(settled.alive, [&, seen = AliveBucket{-1, 0}](const AliveBucket &b) mutable {
            const bool again = b.attribute == seen.attribute && b.bucket == seen.bucket;
            seen = b;
            return again || before.has(b);
        });
    }
    /// Missing rows, `on_left` of them, are on the left or on the right.
    void bound_cuts(const OpenNode &node, const StopRules &rules, const RefinedSet &set, ClassCounts below,
                    std::int64_t missing, std::int64_t on_left, double reach, Settled &settled) const {
        const std::int64_t known = node.total.n - missing;
        const std::int64_t floor =
            rules.asks_objs()
                ? rows_from(rules.cut_floor(as_double(known), node.total.classes_present()), known)
                : 0;
        const Least least = rules.least(floor, on_left, missing - on_left);
        BucketBound<C> bound(criterion_, node.total);
        for (std::size_t i = 0; i < set.size(); ++i) {
            const std::uint32_t *row = set.row(i);
            std::int64_t rows = 0;
            for (std::size_t k = 0; k < below.c.size(); ++k) rows += row[k];
            // Cuts inside leave between one row of the bucket and all but one on the left.
            if (!set.exact(i) && below.n + rows - 1 >= least.left &&
                node.total.n - below.n - 1 >= least.right) {
                const double most = bound.highest(below, row, reach);
                settled.bound = std::max(settled.bound, most);
                if (most > reach) settled.alive.push_back({set.attribute, set.bucket[i]});
            }
            add(below, row);
        }
    }
};

} // namespace

void Settling::graft(std::int64_t number, const Forest &part, std::int32_t set) {
    const OpenNode &node = nodes_[static_cast<std::size_t>(number)];
    forest_.costs.add(part.costs);
    forest_.n_nodes += part.n_nodes - 1;
    forest_.of(node.set).graft(node.record, part.sets[static_cast<std::size_t>(set)]);
}

std::unique_ptr<Settling> Settling::make(SettleTask task, Cancel &cancel) {
    const std::string criterion = task.criterion;
    std::int64_t most = 0;
    for (const ClassCounts &whole : task.wholes) most = std::max(most, whole.n);
    auto by_xlog = [&](auto made) -> std::unique_ptr<Settling> {
        auto xlog = std::make_unique<XlogTable>(static_cast<std::size_t>(most) + 1, cancel);
        if constexpr (requires { made.entropy; })
            made.entropy.xlog = xlog.get();
        else
            made.xlog = xlog.get();
        return std::make_unique<SettlingBy<decltype(made)>>(std::move(task), made, std::move(xlog));
    };
    if (criterion == "gini") return std::make_unique<SettlingBy<Gini>>(std::move(task), Gini{}, nullptr);
    if (criterion == "correlation")
        return std::make_unique<SettlingBy<Correlation>>(std::move(task), Correlation{}, nullptr);
    if (criterion == "entropy") return by_xlog(Entropy{});
    if (criterion == "gain_ratio") return by_xlog(GainRatio{});
    if (criterion == "c45") return by_xlog(C45<Entropy>{});
    if (criterion == "quest") return settle_by_quest(std::move(task));
    throw std::invalid_argument("criterion '" + criterion + "' is not settled from counts");
}

} // namespace hornbeam
