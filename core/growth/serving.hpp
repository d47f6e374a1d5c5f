// Several settings of what admits a test grow one tree while they choose alike: which of them a choice
// serves.
#pragma once

#include "choice/nominal.hpp"
#include "growth/choosing.hpp"
#include "growth/parting.hpp"

namespace hornbeam {

template <class E, class Target> class Serving {
  public:
    using Stats = typename Target::Stats;
    using Node = Pending<E, Stats>;

    Serving(const Frame<E> &frame, const GrowTask &task, const RuleTable &rules,
            Choosing<E, Target> &choosing, Counting<E, Target> &counting, Parting<E, Target> &parting)
        : frame_(frame), task_(task), rules_(rules), choosing_(choosing), counting_(counting),
          parting_(parting) {}

    /// The first of a lane's settings that its choice, which is that of the most lenient one, does not serve;
    /// the end of them where it serves all.
    std::uint32_t served(const Node &node, std::size_t lane, const Choice &choice) {
        const SettingRange range = node.lanes[lane].settings;
        if (range.size() == 1 || (!choosing_.compares_attributes() && !choice.found())) return range.last;
        std::uint32_t setting = range.first + 1;
        auto advance = [&](auto serves) {
            while (setting < range.last && serves(setting)) ++setting;
            return setting;
        };
        if (sizes_tell(node, lane, choice)) {
            const BranchSizes sizes = sizes_of(node, lane, choice);
            return advance([&](std::uint32_t s) { return rules_.of(node.lanes[lane].set, s).admits(sizes); });
        }
        return advance([&](std::uint32_t s) {
            choosing_.choose_under(node, counting_, lane, s, other_);
            return same(choice, other_);
        });
    }

  private:
    const Frame<E> &frame_;
    const GrowTask &task_;
    const RuleTable &rules_;
    Choosing<E, Target> &choosing_;
    Counting<E, Target> &counting_;
    Parting<E, Target> &parting_;
    Choice other_;
    std::vector<std::int64_t> size_; // by child

    /// Whether what is best among many tests is best among fewer wherever it is one of them, and the rows of
    /// its branches say whether it is. A search that goes from test to test may find another way, C4.5
    /// compares with the others, and min_objs weighs the rows that have a value.
    bool sizes_tell(const Node &node, std::size_t lane, const Choice &choice) const {
        if (choosing_.compares_attributes() || searches(node)) return false;
        const Lane<Stats> &of = node.lanes[lane];
        if (!rules_.of(of.set, of.settings.last - 1).asks_objs()) return true;
        return !requires { of.total.weight; } && !lacks_values(node, lane, choice);
    }
    bool searches(const Node &node) const {
        const bool by_order = task_.target.n_classes == 2 || task_.target.n_targets == 1;
        if (by_order || task_.parameters.nominal != NominalMode::subset) return false;
        return std::any_of(node.active.begin(), node.active.end(), [&](const Segment<E> &s) {
            return frame_.nominal[static_cast<std::size_t>(s.attribute)].n_categories >
                   static_cast<std::int32_t>(most_enumerated);
        });
    }
    /// Whether some row of the node has no value of the tested attribute.
    bool lacks_values(const Node &node, std::size_t lane, const Choice &choice) const {
        if (!node.avc.empty())
            if (const AvcSlot *slot = frame_.avc->find(choice.attribute))
                return counting_.has_missing(node, lane, *slot);
        if (choice.kind == TestKind::numeric)
            return segment_of(node.active, choice.attribute).size != node.rows.size();
        const FrameCodes &codes = frame_.nominal[static_cast<std::size_t>(choice.attribute)];
        return std::any_of(node.rows.begin(), node.rows.end(),
                           [&](E e) { return codes.code[Packed<E>::id(e)] < 0; });
    }

    BranchSizes sizes_of(const Node &node, std::size_t lane, const Choice &choice) {
        const bool alone = solo(node);
        size_.assign(static_cast<std::size_t>(choice.n_children), 0);
        parting_.each_child(node, choice, [&](std::uint32_t id, std::int32_t child) {
            size_[static_cast<std::size_t>(child)] += alone ? 1 : frame_.sets.count(id, node.lanes[lane].set);
        });
        std::sort(size_.begin(), size_.end());
        return {size_.front(), size_[size_.size() - 2]};
    }

    static bool same(const Choice &a, const Choice &b) {
        if (a.found() != b.found()) return false;
        return !a.found() || (a.attribute == b.attribute && a.kind == b.kind && a.lo == b.lo &&
                              a.hi == b.hi && a.default_child == b.default_child &&
                              a.n_children == b.n_children && a.gain == b.gain && a.branches == b.branches);
    }
};

} // namespace hornbeam
