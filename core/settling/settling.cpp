// Settling by the grower's own choosers, rules and records.
#include "settling/settling.hpp"

#include <stdexcept>

#include "settling/bounds.hpp"
#include "settling/quest.hpp"
#include "settling/sums.hpp"
#include "settling/tests.hpp"
#include "tree/tree_graft.hpp"

namespace hornbeam {
namespace {

constexpr double bound_slack = 1e-12; // relative: of the roundings of a quality

class SettlingByCounts final : public SettlingTests<ClassTarget> {
  public:
    SettlingByCounts(SettleTask task, std::unique_ptr<SplitCriterion<ClassTarget>> criterion,
                     std::unique_ptr<XlogTable> xlog = nullptr)
        : SettlingTests(std::move(task), std::move(criterion)), xlog_(std::move(xlog)) {}

    Settled look(std::int64_t number, const RefinedSet &set, Cancel &cancel) override {
        const OpenNode &node = nodes_[static_cast<std::size_t>(number)];
        Settled found;
        if (set.size() < 2) return found;
        const auto chooser =
            make_chooser<std::uint32_t>(frame_, target_, *criterion_, task_.parameters, cancel);
        const Lane<ClassCounts> lane{node.set, node.record, node.total};
        chooser->open(lane, true, rules_of(node));
        const AvcSlot slot{set.attribute, set.nominal, 0, set.size()};
        chooser->consider({set.attribute, 0, nullptr}, {}, &slot, set.counts.data(), found.choice);
        if (!found.choice.found()) return found;
        found.state = Settled::State::test;
        found.children = children_of(node, set, found.choice);
        if (found.choice.kind == TestKind::numeric) find_ends(set, found);
        return found;
    }

  private:
    std::unique_ptr<XlogTable> xlog_;

    void find_alive(const OpenNode &node, const SetReader &sets, double margin, Cancel &cancel,
                    Settled &settled) const override {
        const StopRules &rules = rules_of(node);
        double reach = settled.choice.found() ? settled.choice.quality : -1.0;
        if (criterion_->traits.quality_is_gain)
            reach = std::max(reach, task_.parameters.min_impurity_decrease / share_of(node));
        reach -= bound_slack * std::max(1.0, std::abs(reach)) + margin;
        for (std::size_t a = 0; a < sets.size(); ++a) {
            cancel.poll();
            if (sets.exact(a)) continue;
            const RefinedSet set = sets.read(a);
            if (!BucketBound::there(*criterion_)) {
                add_inexact(set, settled.alive);
                continue;
            }
            const ClassCounts none(node.total.c.size());
            ClassCounts missing = none;
            add(missing, set.row(set.size()));
            bound_cuts(node, rules, set, none, missing.n, 0, reach, settled);
            if (missing.n != 0) bound_cuts(node, rules, set, missing, missing.n, missing.n, reach, settled);
        }
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
        BucketBound bound(*criterion_, node.total);
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

void Settling::graft(std::int64_t number, const TreeGraft &from, std::int32_t root, Cancel &cancel) {
    const OpenNode &node = nodes_[static_cast<std::size_t>(number)];
    forest_.n_nodes += from.graft(forest_.of(node.set), node.record, root, cancel);
}

std::unique_ptr<Settling> Settling::make(SettleTask task, Cancel &cancel) {
    if (!task.layout->sums.empty() || !task.costs.equal()) return settle_by_sums(std::move(task));
    const std::string criterion = task.criterion;
    std::int64_t most = 0;
    for (const ClassCounts &whole : task.wholes) most = std::max(most, whole.n);
    auto by = [&](const auto &made, std::unique_ptr<XlogTable> xlog = nullptr) -> std::unique_ptr<Settling> {
        using C = std::remove_cvref_t<decltype(made)>;
        return std::make_unique<SettlingByCounts>(std::move(task), std::make_unique<SplitBy<C>>(made),
                                                  std::move(xlog));
    };
    auto by_xlog = [&](auto make) {
        auto xlog = std::make_unique<XlogTable>(static_cast<std::size_t>(most) + 1, cancel);
        const Entropy entropy{xlog.get()};
        return by(make(entropy), std::move(xlog));
    };
    if (criterion == "gini") return by(Gini{});
    if (criterion == "correlation") return by(Correlation{});
    if (criterion == "entropy") return by_xlog([](Entropy entropy) { return entropy; });
    if (criterion == "gain_ratio") return by_xlog([](Entropy entropy) { return GainRatio{entropy}; });
    if (criterion == "c45") return by_xlog([](Entropy entropy) { return C45<Entropy>{entropy}; });
    if (criterion == "quest") return settle_by_quest(std::move(task));
    throw std::invalid_argument("criterion '" + criterion + "' is not settled from counts");
}

} // namespace hornbeam
