// Cuts by information of all training sets of a node in one pass through each list and each counted
// attribute.
#pragma once

#include <memory>

#include "choice/information_lanes.hpp"
#include "growth/joint_sweep.hpp"
#include "growth/lane_patterns.hpp"

namespace hornbeam {

/// Lanes sit in vectors: in those of lists one after the other, and in those of counts where the columns of
/// their sets lie.
template <class E> class InformationSweep final : public JointSweep<E, ClassTarget> {
  public:
    using Node = Pending<E, ClassCounts>;

    InformationSweep(const Frame<E> &frame, const ClassTarget &target, const InformationCriterion &criterion,
                     const GrowTask &task, const RuleTable &rules)
        : frame_(frame), target_(target), criterion_(criterion), task_(task), rules_(rules) {}

    bool sweep(const Node &node, const Counting<E, ClassTarget> &counting, bool apart) override {
        const bool lists = seat_in_order(node), values = !node.avc.empty();
        if (!lists && !values) return false;
        this->open(node, apart);
        open_floors(node);
        missing_.assign(node.lanes.size(), ClassCounts(target_.n_classes));
        known_.resize(node.lanes.size());
        if (values) seat_by_set(node);
        for (std::size_t a = 0; a < node.active.size(); ++a) {
            const Segment<E> &segment = node.active[a];
            const AvcSlot *slot = values ? slot_of(frame_, node, segment) : nullptr;
            poll_if_large(node, task_.cancel);
            if (slot != nullptr && !slot->nominal)
                for (Vector &vector : by_set_) cut_values(node, counting, *slot, a, vector);
            else if (lists && segment.listed() && segment.size >= 2)
                for (Vector &vector : in_order_) cut_list(node, segment, a, vector);
        }
        return true;
    }

  private:
    using JointSweep<E, ClassTarget>::floors_, JointSweep<E, ClassTarget>::apart_;

    static constexpr std::size_t nobody = ~std::size_t{0};
    /// Lanes that are looked at together, by their places; `stays`: it is turned to the rows of the node.
    struct Vector {
        std::array<std::size_t, lane_width> lane;
        std::size_t n_places = 0, n_lanes = 0;
        bool stays = false;
        std::unique_ptr<InformationLanes> cuts;
        LanePatterns<E> patterns;
    };

    const Frame<E> &frame_;
    const ClassTarget &target_;
    const InformationCriterion &criterion_;
    const GrowTask &task_;
    const RuleTable &rules_;
    std::vector<Vector> in_order_, by_set_;
    std::vector<std::uint32_t> histogram_;     // [pattern][class]
    std::vector<ClassCounts> missing_, known_; // of each lane, in one attribute
    std::vector<int> classes_;                 // present, of each lane
    std::vector<InformationAsk> asks_;
    std::vector<Cut> cuts_, others_;

    const StopRules &rules(const Node &node, std::size_t lane) const {
        return rules_.of(node.lanes[lane].set, node.lanes[lane].settings.first);
    }
    void open_floors(const Node &node) {
        floors_.clear(), classes_.clear();
        for (const Lane<ClassCounts> &lane : node.lanes) {
            floors_.push_back({lane.total.n, 0, 0, {}, criterion_.by_known ? 0.0 : -1.0});
            classes_.push_back(lane.total.classes_present());
        }
    }
    /// What the cuts of a lane have to leave, so many of whose rows have a value.
    Least least(const Node &node, std::size_t lane, std::int64_t known, std::int64_t on_left,
                std::int64_t on_right) const {
        const StopRules &rule = rules(node, lane);
        const std::int64_t objs =
            rule.asks_objs() ? rows_from(rule.cut_floor(as_double(known), classes_[lane]), known) : 0;
        return rule.least(objs, on_left, on_right);
    }

    // ---- vectors ----

    void clear(std::vector<Vector> &vectors, std::size_t n) {
        vectors.resize(n);
        for (Vector &vector : vectors) {
            vector.lane.fill(nobody);
            vector.n_places = vector.n_lanes = 0;
            vector.stays = false;
            if (vector.cuts == nullptr)
                vector.cuts = std::make_unique<InformationLanes>(criterion_.entropy, criterion_.rule,
                                                                 *task_.parameters.kernels);
        }
    }
    static void seat(Vector &vector, std::size_t place, std::size_t lane) {
        vector.lane[place] = lane;
        vector.n_places = std::max(vector.n_places, place + 1);
        ++vector.n_lanes;
    }
    /// False where no list is worth it: few lanes are faster looked at one by one.
    bool seat_in_order(const Node &node) {
        const std::size_t lanes = node.lanes.size(), vectors = (lanes + lane_width - 1) / lane_width;
        const bool listed = std::any_of(node.active.begin(), node.active.end(),
                                        [](const Segment<E> &s) { return s.listed(); });
        if (!listed || frame_.sets.repeats()) return false;
        clear(in_order_, vectors);
        bool some = false;
        std::size_t next = 0;
        for (std::size_t v = 0; v < vectors; ++v) {
            const std::size_t end = lanes * (v + 1) / vectors;
            std::int64_t rows = 0;
            for (std::size_t i = next; i < end; ++i) rows += node.lanes[i].total.n;
            if (worth_a_pass(node.rows.size(), target_.n_classes, rows) &&
                in_order_[v].patterns.open(frame_, node.rows,
                                           std::span(node.lanes).subspan(next, end - next)))
                for (std::size_t i = next; i < end; ++i) seat(in_order_[v], i - next, i);
            some = some || in_order_[v].n_lanes != 0;
            next = end;
        }
        return some;
    }
    void seat_by_set(const Node &node) {
        clear(by_set_, (frame_.avc->columns + lane_width - 1) / lane_width);
        for (std::size_t i = 0; i < node.lanes.size(); ++i) {
            const auto set = static_cast<std::size_t>(node.lanes[i].set);
            seat(by_set_[set / lane_width], set % lane_width, i);
        }
    }
    template <class Visit> static void each_lane(const Vector &vector, Visit visit) {
        for (std::size_t place = 0; place < vector.n_places; ++place)
            if (vector.lane[place] != nobody) visit(place, vector.lane[place]);
    }

    /// Turns a vector to the rows that its lanes score cuts by: those of the node or, by known rows alone,
    /// those with a value.
    void turn(const Node &node, Vector &vector, bool gaps) {
        const bool to_known = gaps && criterion_.by_known;
        if (vector.stays && !to_known) return;
        std::array<const ClassCounts *, lane_width> nodes{};
        std::array<double, lane_width> wholes{};
        each_lane(vector, [&](std::size_t place, std::size_t lane) {
            const ClassCounts &total = node.lanes[lane].total;
            wholes[place] = as_double(total.n);
            nodes[place] = &total;
            if (!to_known) return;
            known_[lane] = total;
            known_[lane] -= missing_[lane];
            nodes[place] = &known_[lane];
        });
        vector.cuts->open(std::span(nodes).first(vector.n_places), std::span(wholes).first(vector.n_places));
        vector.stays = !to_known;
    }

    // ---- cuts ----

    /// Finds the cuts of a vector's lanes by `scan(asks, cuts)`; `missing_` holds their rows without a value.
    template <class Scan> void find(const Node &node, std::size_t a, Vector &vector, bool gaps, Scan scan) {
        turn(node, vector, gaps);
        const bool both_ways = gaps && !criterion_.by_known;
        cuts_.assign(vector.n_places, Cut{});
        asks_.assign(vector.n_places, InformationAsk{nullptr, 0, {}, -1.0, false});
        each_lane(vector, [&](std::size_t place, std::size_t lane) {
            const std::int64_t missing = missing_[lane].n, known = floors_[lane].n - missing;
            asks_[place] = {both_ways && missing != 0 ? &missing_[lane] : nullptr, known,
                            least(node, lane, known, both_ways ? missing : 0, 0), floors_[lane].floor, true};
        });
        scan(asks_, cuts_);
        this->passed(a);
        if (both_ways) try_on_the_right(node, vector, scan);
        each_lane(vector, [&](std::size_t place, std::size_t lane) {
            FoundCut cut{cuts_[place], missing_[lane].n, -1};
            if (both_ways && cut.missing != 0) cut.missing_child = asks_[place].wanted ? 1 : 0;
            this->found(a, lane, cut);
        });
    }
    /// Missing rows on the right: what is found there wins if it is better, or as good and at a lower value.
    /// A lane goes on wanting where the right won.
    template <class Scan> void try_on_the_right(const Node &node, Vector &vector, Scan scan) {
        each_lane(vector, [&](std::size_t place, std::size_t lane) {
            InformationAsk &ask = asks_[place];
            const std::int64_t missing = missing_[lane].n;
            ask.start = nullptr;
            ask.wanted = missing != 0;
            ask.least = least(node, lane, ask.known, 0, missing);
            if (const double left = cuts_[place].quality; left > ask.floor)
                ask.floor = std::nextafter(left, -1.0);
        });
        others_.assign(vector.n_places, Cut{});
        scan(asks_, others_);
        each_lane(vector, [&](std::size_t place, std::size_t) {
            const Cut &left = cuts_[place], &right = others_[place];
            const bool wins =
                asks_[place].wanted && right.next != 0 &&
                (right.quality > left.quality || (right.quality == left.quality && right.at < left.at));
            if (wins) cuts_[place] = right;
            asks_[place].wanted = wins;
        });
    }

    void cut_list(const Node &node, const Segment<E> &segment, std::size_t a, Vector &vector) {
        if (vector.n_lanes == 0) return;
        const LanePatterns<E> &patterns = vector.patterns;
        const LaneList<E> list{segment.begin,
                               segment.size,
                               patterns.of_id(),
                               patterns.in(),
                               patterns.steps(),
                               target_.code.data(),
                               static_cast<std::uint32_t>(target_.n_classes)};
        const bool gaps = segment.size != node.rows.size();
        count_missing(node, list, vector, gaps);
        const std::uint32_t block = suitable_block(list.n, target_.n_classes);
        find(node, a, vector, gaps, [&](std::span<const InformationAsk> asks, std::span<Cut> cuts) {
            vector.cuts->cuts(list, asks, block, criterion_.by_known, cuts);
        });
    }
    /// What the rows without a value are, by what those with one leave of each lane.
    void count_missing(const Node &node, const LaneList<E> &list, const Vector &vector, bool gaps) {
        each_lane(vector, [&](std::size_t, std::size_t lane) { missing_[lane].clear(); });
        if (!gaps) return;
        const std::size_t n_classes = target_.n_classes;
        histogram_.assign(vector.patterns.size() * n_classes, 0);
        for (std::uint32_t i = 0; i < list.n; ++i) {
            const std::uint32_t id = Packed<E>::id(list.entries[i]);
            ++histogram_[list.pattern[id] * n_classes + list.classes[id]];
        }
        each_lane(vector, [&](std::size_t place, std::size_t lane) {
            ClassCounts &missing = missing_[lane];
            missing = node.lanes[lane].total;
            for (std::size_t p = 0; p < vector.patterns.size(); ++p) {
                if (list.in[p].in[place] == 0) continue;
                for (std::size_t k = 0; k < n_classes; ++k) {
                    missing.c[k] -= histogram_[p * n_classes + k];
                    missing.n -= histogram_[p * n_classes + k];
                }
            }
        });
    }

    void cut_values(const Node &node, const Counting<E, ClassTarget> &counting, const AvcSlot &slot,
                    std::size_t a, Vector &vector) {
        if (vector.n_lanes == 0) return;
        const auto first = static_cast<std::size_t>(&vector - by_set_.data()) * lane_width;
        const LaneCells cells = counting.cells(node, slot, first);
        bool gaps = false;
        each_lane(vector, [&](std::size_t place, std::size_t lane) {
            ClassCounts &missing = missing_[lane];
            missing.clear();
            for (std::size_t k = 0; k < target_.n_classes; ++k) {
                const std::size_t cell = (std::size_t{slot.n_values} * cells.width + k) * cells.columns;
                missing.c[k] = cells.whole[cell] - cells.own[cell + place];
                missing.n += missing.c[k];
            }
            gaps = gaps || missing.n != 0;
        });
        find(node, a, vector, gaps, [&](std::span<const InformationAsk> asks, std::span<Cut> cuts) {
            vector.cuts->cuts(cells, slot.n_values, asks, cuts);
        });
    }
};

} // namespace hornbeam
