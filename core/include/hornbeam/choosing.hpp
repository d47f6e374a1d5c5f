// The test of each training set at a node: one attribute after the other, or each by itself and then
// compared.
#pragma once

#include "hornbeam/choice.hpp"
#include "hornbeam/lane_class_scan.hpp"
#include "hornbeam/parallel.hpp"
#include "hornbeam/pending.hpp"
#include "hornbeam/policy.hpp"

namespace hornbeam {

template <class E, Criterion C> class Choosing {
  public:
    using Target = typename C::Target;
    using Stats = typename Target::Stats;
    using Node = Pending<E, Stats>;

    Choosing(const Frame<E> &frame, const Target &target, const C &criterion, const GrowTask &task,
             const std::vector<StopRules> &rules)
        : frame_(frame), target_(target), criterion_(criterion), task_(task), rules_(rules),
          chooser_(frame, target, criterion, task.parameters, task.cancel) {}

    /// Fills `choice` with the best test of each lane. Several workers share the attributes.
    /// `own`: what each lane counts by value.
    void choose(const Node &node, std::span<const std::span<const std::uint32_t>> own, Workers *workers,
                std::vector<Choice> &choice) {
        own_ = own;
        choice.resize(node.lanes.size());
        for (Choice &c : choice) c.clear();
        solo_ = solo(node);
        const bool shared = workers != nullptr && workers->several();
        if (!shared && !compares_attributes<C> && task_.parameters.competitors == 0)
            take_as_they_come(node, choice);
        else
            compare(node, shared ? workers : nullptr, choice);
    }

    /// Whether there is one scan for all lanes of a node that has many classes.
    bool scans_lists_together() const {
        if constexpr (std::is_same_v<C, Gini> && sizeof(E) == 4)
            return !two_classes() && !frame_.sets.repeats() && task_.parameters.accelerate;
        return false;
    }

  private:
    const Frame<E> &frame_;
    const Target &target_;
    const C &criterion_;
    const GrowTask &task_;
    const std::vector<StopRules> &rules_;
    bool solo_ = false;
    std::span<const std::span<const std::uint32_t>> own_;
    Chooser<E, C> chooser_;
    std::vector<Chooser<E, C>> choosers_; // one a worker
    std::vector<Choice> found_;           // [attribute][lane]
    std::vector<Entered> entered_;
    LanePatterns<E> patterns_;
    std::vector<LaneFloor> floors_;
    std::vector<LaneBlock> blocks_;
    LaneClassScan class_scan_;
    std::vector<Cut> cuts_; // [attribute][lane]

    const StopRules &rules(const Node &node, std::size_t lane) const {
        return rules_[static_cast<std::size_t>(node.lanes[lane].set)];
    }

    void take_as_they_come(const Node &node, std::vector<Choice> &choice) {
        const bool together = scans_together(node);
        if (together) scan_together(node);
        for (std::size_t i = 0; i < node.lanes.size(); ++i) {
            chooser_.open(node.lanes[i], solo_, rules(node, i));
            for (std::size_t a = 0; a < node.active.size(); ++a) {
                const Segment<E> &segment = node.active[a];
                poll_if_large(node, task_.cancel);
                const bool more =
                    together && in_one_pass(node, segment)
                        ? chooser_.consider_found(segment, cuts_[a * node.lanes.size() + i], choice[i])
                        : chooser_.consider(segment, node.rows, own_[i], choice[i]);
                if (!more) break;
            }
        }
    }

    // ---- all lanes in one pass ----

    bool two_classes() const { return target_.n_classes == 2; }
    /// Two classes: whether there are blocks of rows. Many: whether rows are many for the classes, and their
    /// counts' squares few enough for 32 bits.
    bool worth_patterns(const Node &node) const {
        const std::size_t rows = node.rows.size();
        return two_classes() ? rows >= 64 : sizeof(E) == 4 && rows >= target_.n_classes;
    }

    static bool in_one_pass(const Node &node, const Segment<E> &segment) {
        return segment.listed() && segment.size == node.rows.size(); // nothing is missing
    }
    bool scans_together(const Node &node) {
        if constexpr (std::is_same_v<C, Gini>) {
            const bool listed = std::any_of(node.active.begin(), node.active.end(),
                                            [&](const Segment<E> &s) { return in_one_pass(node, s); });
            return listed && node.lanes.size() > 1 && node.lanes.size() <= lane_width &&
                   task_.parameters.accelerate && !frame_.sets.repeats() && worth_patterns(node) &&
                   patterns_.open(frame_, node.rows, std::span(node.lanes));
        } else {
            return false;
        }
    }

    /// The best cut of every lane in every list, as far as it may be the lane's best test.
    void scan_together(const Node &node) {
        if constexpr (std::is_same_v<C, Gini>) {
            const std::size_t lanes = node.lanes.size();
            floors_.clear();
            for (std::size_t i = 0; i < lanes; ++i) {
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
            if constexpr (sizeof(E) == 4)
                if (!two_classes()) class_scan_.open(patterns_, std::span(node.lanes), floors_);
            cuts_.assign(node.active.size() * lanes, Cut{});
            for (std::size_t a = 0; a < node.active.size(); ++a) {
                const Segment<E> &s = node.active[a];
                if (!in_one_pass(node, s)) continue;
                poll_if_large(node, task_.cancel);
                std::span<Cut> cuts = std::span(cuts_).subspan(a * lanes, lanes);
                cut_list({s.begin, s.size}, cuts);
                // Equal qualities are found as well: another attribute may yet turn out to be in between.
                for (std::size_t i = 0; i < lanes; ++i)
                    if (cuts[i].quality > floors_[i].floor)
                        floors_[i].floor = std::nextafter(cuts[i].quality, -1.0);
            }
        }
    }

    void cut_list(std::span<const E> list, std::span<Cut> cuts) {
        const Kernels &kernels = *task_.parameters.kernels;
        if constexpr (sizeof(E) == 4)
            if (!two_classes()) return class_scan_.cuts(list, target_.code, kernels, cuts);
        LaneScan<E>(patterns_, floors_, kernels).cuts(list, blocks_, cuts);
    }

    /// Each attribute by itself, then the attributes in order: the same as one after the other.
    void compare(const Node &node, Workers *workers, std::vector<Choice> &choice) {
        const std::size_t lanes = node.lanes.size(), attributes = node.active.size();
        if (found_.size() < attributes * lanes) found_.resize(attributes * lanes);
        auto look = [&](std::size_t a, std::size_t i, Chooser<E, C> &chooser) {
            Choice &found = found_[a * lanes + i];
            found.clear();
            chooser.consider(node.active[a], node.rows, own_[i], found);
        };
        if (workers != nullptr) {
            while (choosers_.size() < workers->places())
                choosers_.emplace_back(frame_, target_, criterion_, task_.parameters, task_.cancel);
            workers->share(attributes, [&](std::size_t a, unsigned w) {
                for (std::size_t i = 0; i < lanes; ++i) {
                    choosers_[w].open(node.lanes[i], solo_, rules(node, i));
                    look(a, i, choosers_[w]);
                }
            });
        } else {
            for (std::size_t i = 0; i < lanes; ++i) {
                chooser_.open(node.lanes[i], solo_, rules(node, i));
                for (std::size_t a = 0; a < attributes; ++a) {
                    poll_if_large(node, task_.cancel);
                    look(a, i, chooser_);
                }
            }
        }
        for (std::size_t i = 0; i < lanes; ++i) {
            entered_.clear();
            for (std::size_t a = 0; a < attributes; ++a)
                if (Choice &found = found_[a * lanes + i]; found.found()) entered_.push_back({&found});
            decide(entered_, criterion_, rules(node, i), task_.parameters.competitors, choice[i]);
        }
    }
};

} // namespace hornbeam
