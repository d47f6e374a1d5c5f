// Gini cuts of all training sets of a node in one pass, and bounds of what nominal attributes can give.
#pragma once

#include <memory>

#include "growth/joint_sweep.hpp"
#include "growth/lane_class_scan.hpp"

namespace hornbeam {

template <class E> class GiniSweep final : public JointSweep<E, ClassTarget> {
  public:
    using Target = ClassTarget;
    using Stats = ClassCounts;
    using Node = Pending<E, Stats>;

    GiniSweep(const Frame<E> &frame, const ClassTarget &target, const GrowTask &task, const RuleTable &rules)
        : frame_(frame), target_(target), task_(task), rules_(rules) {}

    bool sweep(const Node &node, const Counting<E, Target> &counting, bool apart) override {
        const bool lists = sweeps_lists(node), values = sweeps_values(node);
        if (!lists && !values) return false;
        open_floors(node);
        if (lists && !two_classes()) {
            list_sweep_.open(target_.n_classes, floors_);
            for (std::size_t i = 0; i < node.lanes.size(); ++i) list_sweep_.seat(i, i, node.lanes[i].total);
        }
        if (values) seat_by_set(node);
        this->open(node, apart);
        cuts_.resize(node.lanes.size());
        for (std::size_t a = 0; a < node.active.size(); ++a) {
            const Segment<E> &s = node.active[a];
            const AvcSlot *slot = values ? slot_of(frame_, node, s) : nullptr;
            poll_if_large(node, task_.cancel);
            bool swept = false;
            if (slot != nullptr && slot->nominal)
                bound_nominal(node, counting, *slot, a);
            else if (slot != nullptr)
                swept = cut_values(node, counting, *slot, fresh_cuts());
            else if (lists && complete(node, s))
                swept = cut_list({s.begin, s.size}, fresh_cuts());
            if (!swept) continue;
            this->passed(a);
            for (std::size_t i = 0; i < cuts_.size(); ++i) this->found(a, i, {cuts_[i]});
        }
        return true;
    }

  private:
    using JointSweep<E, ClassTarget>::floors_;

    const Frame<E> &frame_;
    const ClassTarget &target_;
    const GrowTask &task_;
    const RuleTable &rules_;
    LanePatterns<E> patterns_;
    std::vector<Cut> cuts_; // of each lane in one attribute
    std::vector<LaneBlock> blocks_;
    LaneSweep list_sweep_;
    std::vector<LaneSweep> value_sweeps_; // by vector of sets

    std::span<Cut> fresh_cuts() {
        std::fill(cuts_.begin(), cuts_.end(), Cut{});
        return cuts_;
    }
    bool two_classes() const { return target_.n_classes == 2; }
    /// Two classes: whether there are blocks of rows. Many: whether rows are many for the classes, and their
    /// counts' squares few enough for 32 bits.
    bool worth_patterns(const Node &node) const {
        const std::size_t rows = node.rows.size();
        return two_classes() ? rows >= 64 : sizeof(E) == 4 && rows >= target_.n_classes;
    }

    static bool complete(const Node &node, const Segment<E> &segment) {
        return segment.listed() && segment.size == node.rows.size(); // nothing is missing
    }
    bool sweeps_lists(const Node &node) {
        const bool listed = std::any_of(node.active.begin(), node.active.end(),
                                        [&](const Segment<E> &s) { return complete(node, s); });
        return listed && node.lanes.size() <= lane_width && !frame_.sets.repeats() && worth_patterns(node) &&
               patterns_.open(frame_, node.rows, std::span(node.lanes));
    }
    /// Squares of counts have to fit 32 bits.
    bool sweeps_values(const Node &node) const {
        return sizeof(E) == 4 && !node.avc.empty() &&
               std::all_of(node.lanes.begin(), node.lanes.end(), [](const Lane<Stats> &lane) {
                   return lane.total.n <= static_cast<std::int64_t>(narrow_rows);
               });
    }

    void open_floors(const Node &node) {
        floors_.clear();
        for (std::size_t i = 0; i < node.lanes.size(); ++i) {
            const ClassCounts &total = node.lanes[i].total;
            const StopRules &rule = rules_.of(node.lanes[i].set, node.lanes[i].settings.first);
            const std::int64_t objs =
                rule.asks_objs()
                    ? rows_from(rule.cut_floor(as_double(total.n), total.classes_present()), total.n)
                    : 0;
            std::int64_t squares = 0;
            for (std::int64_t c : total.c) squares += c * c;
            floors_.push_back({total.n, total.c[1], squares, rule.least(objs, 0, 0)});
        }
    }
    bool cut_list(std::span<const E> list, std::span<Cut> cuts) {
        const Kernels &kernels = *task_.parameters.kernels;
        if constexpr (sizeof(E) == 4)
            if (!two_classes()) {
                sweep_list(list_sweep_, list, patterns_, target_.code, kernels, cuts);
                return true;
            }
        LaneScan<E>(patterns_, floors_, kernels).cuts(list, blocks_, cuts);
        return true;
    }

    /// A lane sits where the column of its set lies.
    void seat_by_set(const Node &node) {
        value_sweeps_.resize((frame_.avc->columns + lane_width - 1) / lane_width);
        for (LaneSweep &sweep : value_sweeps_) sweep.open(target_.n_classes, floors_);
        for (std::size_t i = 0; i < node.lanes.size(); ++i) {
            const auto set = static_cast<std::size_t>(node.lanes[i].set);
            value_sweeps_[set / lane_width].seat(i, set % lane_width, node.lanes[i].total);
        }
    }
    /// False where rows without a value have to be tried on both sides.
    bool cut_values(const Node &node, const Counting<E, Target> &counting, const AvcSlot &slot,
                    std::span<Cut> cuts) {
        for (std::size_t i = 0; i < node.lanes.size(); ++i)
            if (counting.has_missing(node, i, slot)) return false;
        auto has = [&](std::size_t lane, std::uint32_t value) {
            return counting.has_value(node, lane, slot, value);
        };
        for (std::size_t v = 0; v < value_sweeps_.size(); ++v)
            if (!value_sweeps_[v].empty())
                sweep_values(value_sweeps_[v], counting.cells(node, slot, v * lane_width), slot.n_values,
                             *task_.parameters.kernels, has, cuts);
        return true;
    }

    /// No test gains more than one that tells all categories, and the missing rows, apart.
    void bound_nominal(const Node &node, const Counting<E, Target> &counting, const AvcSlot &slot,
                       std::size_t a) {
        LaneFloats sum;
        const std::uint32_t rows = slot.n_values + 1;
        for (std::size_t v = 0; v < value_sweeps_.size(); ++v) {
            if (value_sweeps_[v].empty()) continue;
            task_.parameters.kernels->lane_contents(counting.cells(node, slot, v * lane_width), rows, sum);
            const double roundings = 1.0 + 0x1p-23 * (rows + 8.0);
            for (std::size_t i = 0; i < node.lanes.size(); ++i) {
                const auto set = static_cast<std::size_t>(node.lanes[i].set);
                if (set / lane_width != v) continue;
                const double n = as_double(floors_[i].n);
                const double most = (static_cast<double>(sum[set % lane_width]) * roundings -
                                     as_double(floors_[i].squares) / n) /
                                    n;
                this->bound(a, i, most);
            }
        }
    }
};

} // namespace hornbeam
