// What an attribute enters at a node under QUEST, and which of them is selected.
#pragma once

#include <array>
#include <numeric>

#include "choice/chooser.hpp"
#include "choice/quest_statistics.hpp"
#include "criteria/quest.hpp"

namespace hornbeam {

/// The rows of a node by where an attribute's test sends them.
struct TestSides {
    const ClassCounts &known, &missing;
    ClassCounts &left, &right; // the left side's known rows are given
};

/// Missing rows go to the larger side of the known ones; false where a side has too few rows, or fewer known
/// ones than min_objs asks for.
inline bool admit_sides(const Quest &criterion, const ClassCounts &node, const StopRules &rules,
                        double least_known, const TestSides &sides, Choice &best) {
    auto &[known, missing, left, right] = sides;
    right = known;
    right -= left;
    if (rules.asks_objs() && (as_double(left.n) < least_known || as_double(right.n) < least_known))
        return false;
    best.default_child = left.n >= right.n ? 0 : 1;
    (best.default_child == 0 ? left : right) += missing;
    if (left.n < rules.min_leaf || right.n < rules.min_leaf) return false;
    const std::array<const ClassCounts *, 2> both{&left, &right};
    best.gain = criterion.score(node, both).gain;
    best.n_children = 2;
    return true;
}

/// Sums over the rows of a node for one lane, attribute by attribute. An attribute that cannot be selected
/// any more enters nothing, unless competitors are asked for.
template <class E> class QuestChooser final : public Chooser<E, ClassTarget> {
  public:
    using Stats = ClassCounts;

    QuestChooser(const Frame<E> &frame, const ClassTarget &target, const Quest &criterion,
                 const GrowParameters &parameters, Cancel &cancel)
        : frame_(frame), target_(target), criterion_(criterion), parameters_(parameters), cancel_(cancel),
          known_(target.zero()), missing_(known_), left_(known_), right_(known_),
          categories_(target.n_classes) {}

    void open(const Lane<Stats> &lane, bool solo, const StopRules &rules) override {
        lane_ = &lane;
        solo_ = solo;
        rules_ = &rules;
        surest_ = -1.0;
    }
    bool consider(const Segment<E> &segment, std::span<const E> rows, const AvcSlot *slot,
                  const std::uint32_t *counts, Choice &best) override {
        if (segment.listed())
            consider_values(segment.attribute, ListedValues{*this, segment}, best);
        else if (slot != nullptr && !slot->nominal)
            consider_values(segment.attribute, CountedValues{*slot, counts, frame_.avc->width}, best);
        else
            consider_categories(segment.attribute, rows, slot, counts, best);
        return true;
    }
    // What is found for several lanes at once is gini's.
    bool consider_tried(const Choice &, Choice &) const override { return true; }
    bool consider_found(const Segment<E> &, const FoundCut &, Choice &) override { return true; }

  private:
    const Frame<E> &frame_;
    const ClassTarget &target_;
    Quest criterion_;
    const GrowParameters &parameters_;
    Cancel &cancel_;
    const Lane<Stats> *lane_ = nullptr;
    bool solo_ = false; // every entry counts once
    const StopRules *rules_ = nullptr;
    double surest_ = -1.0; // quality of an attribute so far
    Stats known_, missing_, left_, right_;
    CategoryCounts categories_;
    Contingency table_;
    std::vector<std::uint8_t> low_; // which categories go to the lower side

    std::int64_t times(std::uint32_t id) const { return solo_ ? 1 : frame_.sets.count(id, lane_->set); }
    void pause(std::size_t i) const {
        if (i % 32768 == 32767) cancel_.poll();
    }

    /// Values in ascending order, each with a class and how many rows have both.
    struct ListedValues {
        const QuestChooser &chooser;
        const Segment<E> &segment;
        template <class Visit> void each(Visit visit) const {
            for (std::uint32_t i = 0; i < segment.size; ++i) {
                chooser.pause(i);
                const E e = segment.begin[i];
                const std::uint32_t id = Packed<E>::id(e);
                if (const std::int64_t m = chooser.times(id); m != 0)
                    visit(Packed<E>::rank(e), chooser.target_.code[id], m);
            }
        }
        /// The first rank for which `left` is false; it is true for all below, and false from there on.
        template <class Left> std::uint32_t end_of(Left left) const {
            const E *end = segment.begin + segment.size;
            const E *at = std::partition_point<const E *>(segment.begin, end,
                                                          [&](E e) { return left(Packed<E>::rank(e)); });
            return at == end ? std::numeric_limits<std::uint32_t>::max() : Packed<E>::rank(*at);
        }
    };
    struct CountedValues {
        const AvcSlot &slot;
        const std::uint32_t *counts;
        std::size_t width;
        template <class Visit> void each(Visit visit) const {
            for (std::uint32_t v = 0; v < slot.n_values; ++v)
                for (std::size_t k = 0; k < width; ++k)
                    if (const std::uint32_t m = counts[v * width + k]; m != 0)
                        visit(v, k, static_cast<std::int64_t>(m));
        }
        template <class Left> std::uint32_t end_of(Left left) const {
            std::uint32_t low = 0, high = slot.n_values;
            while (low < high) {
                const std::uint32_t middle = low + (high - low) / 2;
                if (left(middle))
                    low = middle + 1;
                else
                    high = middle;
            }
            return low;
        }
    };

    template <class Values> void consider_values(std::int32_t attribute, const Values &values, Choice &best) {
        const int limbs = (*criterion_.scale)[static_cast<std::size_t>(attribute)].limbs;
        if (limbs <= 1)
            consider_sums<1>(attribute, values, best);
        else if (limbs <= 2)
            consider_sums<2>(attribute, values, best);
        else if (limbs <= 4)
            consider_sums<4>(attribute, values, best);
        else
            consider_sums<36>(attribute, values, best); // any doubles
    }

    template <int W, class Values>
    void consider_sums(std::int32_t attribute, const Values &values, Choice &best) {
        const auto a = static_cast<std::size_t>(attribute);
        const auto &column = std::get<NumericColumn>(criterion_.table->columns[a]);
        const int exponent = (*criterion_.scale)[a].exponent;
        auto value = [&](std::uint32_t rank) { return exact_value(column, frame_.column_rank(a, rank)); };
        std::vector<Moments<W>> sums(target_.n_classes);
        values.each([&](std::uint32_t rank, std::size_t k, std::int64_t m) {
            sums[k].add(value(rank), exponent, m);
        });
        ValueSplit<W> split;
        if (!split.open(sums, exponent) || !enter(attribute, -split.log_p() + 0.0, best)) return;
        for (std::size_t k = 0; k < sums.size(); ++k) known_.c[k] = sums[k].n;
        tell_missing();
        split.part();
        auto left = [&](std::uint32_t rank) { return split.goes_left(value(rank)); };
        if (!cut_at(values, values.end_of(left), best)) {
            split.take_halfway();
            if (!cut_at(values, values.end_of(left), best)) return;
        }
        const double least = rules_->cut_floor(as_double(known_.n), lane_->total.classes_present());
        if (finish(best, least)) best.kind = TestKind::numeric;
    }
    /// Sums up what lies below a rank into left_; false where a side has no rows.
    template <class Values> bool cut_at(const Values &values, std::uint32_t end, Choice &best) {
        left_.clear();
        bool right = false;
        values.each([&](std::uint32_t rank, std::size_t k, std::int64_t m) {
            if (rank < end) {
                left_.n += m;
                left_.c[k] += m;
                best.lo = rank;
            } else if (!right) {
                best.hi = rank;
                right = true;
            }
        });
        return left_.n != 0 && right;
    }

    /// Whether it may be selected.
    bool enter(std::int32_t attribute, double quality, Choice &best) {
        if (quality < surest_ && parameters_.competitors == 0) return false;
        surest_ = std::max(surest_, quality);
        best.quality = quality;
        best.attribute = attribute;
        best.kind = TestKind::leaf; // until its test is admitted
        return true;
    }
    void tell_missing() {
        known_.n = std::accumulate(known_.c.begin(), known_.c.end(), std::int64_t{0});
        missing_ = lane_->total;
        missing_ -= known_;
    }
    bool finish(Choice &best, double least_known) {
        return admit_sides(criterion_, lane_->total, *rules_, least_known, {known_, missing_, left_, right_},
                           best);
    }

    void consider_categories(std::int32_t attribute, std::span<const E> rows, const AvcSlot *slot,
                             const std::uint32_t *counts, Choice &best) {
        if (slot != nullptr)
            categories_.read(counts, slot->n_values, frame_.avc->width);
        else
            count_rows(frame_.nominal[static_cast<std::size_t>(attribute)], rows);
        if (!categories_.tell(known_.c, table_)) return;
        const double statistic = chi_square(table_);
        if (statistic == 0.0) return;
        if (!enter(attribute, -log_p_of_chi_square(statistic, table_.df()) + 0.0, best)) return;
        tell_missing();
        if (!part_categories()) return;
        left_.clear();
        best.branches.clear();
        for (std::size_t j = 0; j < table_.n_categories; ++j) {
            // The side of the first category is the left.
            const bool left = low_[j] == low_[0];
            best.branches.emplace_back(categories_.code[j], left ? 0 : 1);
            if (!left) continue;
            left_.n += table_.category[j];
            const auto row = categories_.of(j);
            for (std::size_t k = 0; k < row.size(); ++k) left_.c[k] += row[k];
        }
        if (finish(best, rules_->min_objs)) best.kind = TestKind::subset;
    }
    void count_rows(const FrameCodes &codes, std::span<const E> rows) {
        categories_.gather(codes.n_categories, [&](auto visit) {
            for (std::size_t i = 0; i < rows.size(); ++i) {
                pause(i);
                const std::uint32_t id = Packed<E>::id(rows[i]);
                if (codes.code[id] < 0) continue;
                if (const std::int64_t m = times(id); m != 0) visit(codes.code[id], target_.code[id], m);
            }
        });
    }
    /// Fills low_; false where no way tells the categories apart.
    bool part_categories() {
        const std::vector<std::int64_t> at = discriminant_coordinates(table_, cancel_);
        std::vector<Moments<2>> sums(table_.n_classes);
        for (std::size_t j = 0; j < table_.n_categories; ++j)
            for (std::size_t k = 0; k < table_.n_classes; ++k)
                if (const std::int64_t m = table_.cell[j * table_.n_classes + k]; m != 0)
                    sums[k].add({at[j], 0}, 0, m);
        ValueSplit<2> split;
        if (!split.open(sums, 0)) return false;
        split.part();
        for (int way = 0; way < 2; ++way) {
            low_.clear();
            for (std::int64_t coordinate : at) low_.push_back(split.goes_left({coordinate, 0}));
            const auto low = std::count(low_.begin(), low_.end(), 1);
            if (low != 0 && low != static_cast<std::ptrdiff_t>(low_.size())) return true;
            split.take_halfway();
        }
        return false;
    }
};

} // namespace hornbeam
