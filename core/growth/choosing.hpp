// The test of each training set at a node: one attribute after the other, or each by itself and then
// compared.
#pragma once

#include "choice/choice.hpp"
#include "choice/policy.hpp"
#include "growth/counting.hpp"
#include "growth/lane_class_scan.hpp"
#include "growth/pending.hpp"
#include "running/parallel.hpp"

namespace hornbeam {

template <class E, Criterion C> class Choosing {
  public:
    using Target = typename C::Target;
    using Stats = typename Target::Stats;
    using Node = Pending<E, Stats>;

    Choosing(const Frame<E> &frame, const Target &target, const C &criterion, const GrowTask &task,
             const RuleTable &rules)
        : frame_(frame), target_(target), criterion_(criterion), task_(task), rules_(rules),
          chooser_(frame, target, criterion, task.parameters, task.cancel) {}

    /// Fills `choice` with the best test of each lane. Several workers share the attributes.
    void choose(const Node &node, Counting<E, Target> &counting, Workers *workers,
                std::vector<Choice> &choice) {
        choice.resize(node.lanes.size());
        for (Choice &c : choice) c.clear();
        solo_ = solo(node);
        const bool shared = workers != nullptr && workers->several();
        if (!shared && !compares_attributes<C> && task_.parameters.competitors == 0)
            return take_as_they_come(node, counting, choice);
        for (std::size_t i = 0; i < node.lanes.size(); ++i)
            compare(node, counting, i, rules(node, i), shared ? workers : nullptr, choice[i]);
    }
    /// The best test of one lane under another of its settings; the node is the one chosen for last.
    void choose_under(const Node &node, Counting<E, Target> &counting, std::size_t lane,
                      std::uint32_t setting, Choice &choice) {
        choice.clear();
        compare(node, counting, lane, rules_.of(node.lanes[lane].set, setting), nullptr, choice);
    }

    /// Whether lists and counted values are scanned once for all lanes of a node.
    bool scans_together() const {
        return std::is_same_v<C, Gini> && sizeof(E) == 4 && !frame_.sets.repeats() &&
               task_.parameters.accelerate;
    }

  private:
    const Frame<E> &frame_;
    const Target &target_;
    const C &criterion_;
    const GrowTask &task_;
    const RuleTable &rules_;
    bool solo_ = false;
    Chooser<E, C> chooser_;
    std::vector<Chooser<E, C>> choosers_; // one a worker
    std::vector<Choice> found_;           // by attribute, of one lane
    std::vector<Entered> entered_;
    LanePatterns<E> patterns_;
    std::vector<LaneFloor> floors_;
    std::vector<LaneBlock> blocks_;
    LaneSweep list_sweep_;
    std::vector<LaneSweep> value_sweeps_; // by vector of sets
    std::vector<Cut> cuts_;               // [attribute][lane]
    std::vector<double> most_;            // [attribute][lane]: no test of the attribute is better
    Choice trial_;                        // of one attribute, before its turn
    std::vector<std::uint8_t> swept_;     // by attribute: its cuts are known

    /// The most lenient of a lane's settings chooses.
    const StopRules &rules(const Node &node, std::size_t lane) const {
        return rules_.of(node.lanes[lane].set, node.lanes[lane].settings.first);
    }

    void take_as_they_come(const Node &node, Counting<E, Target> &counting, std::vector<Choice> &choice) {
        const std::size_t lanes = node.lanes.size();
        const bool together = lanes > 1 && sweep_together(node, counting);
        for (std::size_t i = 0; i < lanes; ++i) {
            chooser_.open(node.lanes[i], solo_, rules(node, i));
            const std::size_t tried = together ? try_first(node, counting, i) : node.active.size();
            const double sure = together ? std::max(floors_[i].floor, trial_.quality) : -1.0;
            for (std::size_t a = 0; a < node.active.size(); ++a) {
                const Segment<E> &segment = node.active[a];
                bool more = true;
                if (together && swept_[a] != 0)
                    more = chooser_.consider_found(segment, cuts_[a * lanes + i], choice[i]);
                else if (a == tried)
                    more = chooser_.consider_tried(trial_, choice[i]);
                else if (!together || !(most_[a * lanes + i] < sure))
                    more = consider(node, counting, i, a, chooser_, choice[i]);
                if (!more) break;
            }
        }
    }
    /// The attribute for one lane alone.
    bool consider(const Node &node, const Counting<E, Target> &counting, std::size_t lane, std::size_t a,
                  Chooser<E, C> &chooser, Choice &best) const {
        poll_if_large(node, task_.cancel);
        const AvcSlot *slot = slot_of(node, node.active[a]);
        const std::uint32_t *counts =
            slot == nullptr ? nullptr : counting.own(node, lane, *slot, chooser.room_for_counts());
        return chooser.consider(node.active[a], node.rows, slot, counts, best);
    }
    const AvcSlot *slot_of(const Node &node, const Segment<E> &segment) const {
        return node.avc.empty() || segment.listed() ? nullptr : frame_.avc->find(segment.attribute);
    }

    // ---- all lanes in one pass ----

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

    /// Finds the best cut of every lane in every list and counted attribute where that is done for all lanes
    /// at once, as far as it may be the lane's best test, and bounds what nominal attributes can give. False
    /// where nothing is.
    bool sweep_together(const Node &node, const Counting<E, Target> &counting) {
        if constexpr (std::is_same_v<C, Gini>) {
            if (!task_.parameters.accelerate) return false;
            const bool lists = sweeps_lists(node), values = sweeps_values(node);
            if (!lists && !values) return false;
            const std::size_t lanes = node.lanes.size();
            open_floors(node);
            if (lists && !two_classes()) {
                list_sweep_.open(target_.n_classes, floors_);
                for (std::size_t i = 0; i < lanes; ++i) list_sweep_.seat(i, i, node.lanes[i].total);
            }
            if (values) seat_by_set(node);
            cuts_.assign(node.active.size() * lanes, Cut{});
            most_.assign(node.active.size() * lanes, std::numeric_limits<double>::infinity());
            swept_.assign(node.active.size(), 0);
            for (std::size_t a = 0; a < node.active.size(); ++a) {
                const Segment<E> &s = node.active[a];
                const AvcSlot *slot = values ? slot_of(node, s) : nullptr;
                poll_if_large(node, task_.cancel);
                if (slot != nullptr && slot->nominal)
                    bound_nominal(node, counting, *slot, a);
                else if (slot != nullptr)
                    swept_[a] = cut_values(node, counting, *slot, cuts_of(node, a));
                else if (lists && complete(node, s))
                    swept_[a] = cut_list({s.begin, s.size}, cuts_of(node, a));
                if (swept_[a] != 0) raise_floors(cuts_of(node, a));
            }
            return true;
        } else {
            return false;
        }
    }
    std::span<Cut> cuts_of(const Node &node, std::size_t a) {
        return std::span(cuts_).subspan(a * node.lanes.size(), node.lanes.size());
    }

    void open_floors(const Node &node) {
        floors_.clear();
        for (std::size_t i = 0; i < node.lanes.size(); ++i) {
            const ClassCounts &total = node.lanes[i].total;
            const StopRules &rule = rules(node, i);
            const std::int64_t objs =
                rule.asks_objs()
                    ? rows_from(rule.cut_floor(as_double(total.n), total.classes_present()), total.n)
                    : 0;
            std::int64_t squares = 0;
            for (std::int64_t c : total.c) squares += c * c;
            floors_.push_back({total.n, total.c[1], squares, rule.least(objs, 0, 0)});
        }
    }
    /// Equal qualities are found as well: another attribute may yet turn out to be in between.
    void raise_floors(std::span<const Cut> cuts) {
        for (std::size_t i = 0; i < cuts.size(); ++i)
            if (cuts[i].quality > floors_[i].floor) floors_[i].floor = std::nextafter(cuts[i].quality, -1.0);
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
                most_[a * node.lanes.size() + i] = (static_cast<double>(sum[set % lane_width]) * roundings -
                                                    as_double(floors_[i].squares) / n) /
                                                   n;
            }
        }
    }
    /// Looks at the nominal attribute that promises most, if that is more than the lane's best cut: `trial_`
    /// is its test then. Returns which it is.
    std::size_t try_first(const Node &node, const Counting<E, Target> &counting, std::size_t lane) {
        const std::size_t lanes = node.lanes.size();
        std::size_t best = node.active.size();
        double most = floors_[lane].floor;
        for (std::size_t a = 0; a < node.active.size(); ++a) {
            const double bound = most_[a * lanes + lane];
            if (bound > most && bound < std::numeric_limits<double>::infinity()) most = bound, best = a;
        }
        trial_.clear();
        if (best != node.active.size()) consider(node, counting, lane, best, chooser_, trial_);
        return best;
    }

    /// Each attribute by itself, then the attributes in order: the same as one after the other.
    void compare(const Node &node, Counting<E, Target> &counting, std::size_t lane, const StopRules &rules,
                 Workers *workers, Choice &choice) {
        const std::size_t attributes = node.active.size();
        if (found_.size() < attributes) found_.resize(attributes);
        auto look = [&](std::size_t a, Chooser<E, C> &chooser) {
            found_[a].clear();
            consider(node, counting, lane, a, chooser, found_[a]);
        };
        if (workers == nullptr) {
            chooser_.open(node.lanes[lane], solo_, rules);
            for (std::size_t a = 0; a < attributes; ++a) look(a, chooser_);
        } else {
            while (choosers_.size() < workers->places())
                choosers_.emplace_back(frame_, target_, criterion_, task_.parameters, task_.cancel);
            for (Chooser<E, C> &chooser : choosers_) chooser.open(node.lanes[lane], solo_, rules);
            workers->share(attributes, [&](std::size_t a, unsigned w) { look(a, choosers_[w]); });
        }
        entered_.clear();
        for (std::size_t a = 0; a < attributes; ++a)
            if (found_[a].found()) entered_.push_back({&found_[a]});
        decide(entered_, criterion_, rules, task_.parameters.competitors, choice);
    }
};

} // namespace hornbeam
