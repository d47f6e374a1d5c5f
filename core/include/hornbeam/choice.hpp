// The best test of a node for one training set: every attribute in order, strictly better wins.
#pragma once

#include <bit>
#include <limits>

#include "hornbeam/avc_scan.hpp"
#include "hornbeam/frame.hpp"
#include "hornbeam/nominal.hpp"
#include "hornbeam/open_categories.hpp"
#include "hornbeam/scan.hpp"
#include "hornbeam/seen.hpp"
#include "hornbeam/weighted_scan.hpp"

namespace hornbeam {

/// One training set at a node, while it is still growing there.
template <class Stats> struct Lane {
    std::int32_t set = 0;
    std::uint64_t record = 0; // in the forest
    Stats total;
    std::vector<OpenNote> open = {};
};

/// Looks at one attribute after the other for one lane. `solo`: the lane is alone and every row counts once,
/// which opens the fast scans.
template <class E, Criterion C> class Chooser {
  public:
    using Target = typename C::Target;
    using Stats = typename Target::Stats;

    Chooser(const Frame<E> &frame, const Target &target, const C &criterion, const GrowParameters &parameters,
            Cancel &cancel)
        : frame_(frame), target_(target), criterion_(criterion), parameters_(parameters), cancel_(cancel),
          zero_(target.zero()), missing_(zero_), known_(zero_) {}

    /// True where the attribute takes a single known value among these rows: it never splits below either.
    static bool constant(const Segment<E> &segment) {
        return segment.listed() && (segment.size < 2 || Packed<E>::rank(segment.begin[0]) ==
                                                            Packed<E>::rank(segment.begin[segment.size - 1]));
    }

    /// Turns to another lane; `consider` then looks at its node's attributes in order.
    void open(const Lane<Stats> &lane, bool solo, std::int64_t min_leaf) {
        lane_ = &lane;
        solo_ = solo;
        min_leaf_ = min_leaf;
        open_node(criterion_, lane.set, lane.total);
        highest_ = parameters_.accelerate ? criterion_.highest_quality(lane.total)
                                          : std::numeric_limits<double>::infinity();
        if (solo) prepare(facts_, criterion_, lane.total);
    }

    /// Replaces `best` where the attribute has a better test. False: no attribute can be better than what is
    /// found.
    bool consider(const Segment<E> &segment, std::span<const E> rows, const AvcGroup &avc, Choice &best) {
        const AvcSlot *slot = avc.empty() ? nullptr : frame_.avc->find(segment.attribute);
        if (segment.listed())
            consider_list(segment, best);
        else if (slot != nullptr && !slot->nominal)
            consider_counts(*slot, avc, best);
        else
            consider_nominal(segment.attribute, rows, slot, avc, best);
        return best.quality < highest_;
    }

  private:
    const Frame<E> &frame_;
    const Target &target_;
    C criterion_; // its own: a weighted one remembers the node it is turned to
    const GrowParameters &parameters_;
    Cancel &cancel_;
    Stats zero_, missing_, known_;
    NodeFacts facts_;
    ScanScratch scratch_;
    const Lane<Stats> *lane_ = nullptr;
    bool solo_ = false;
    std::int64_t min_leaf_ = 1;
    double highest_ = 0.0;
    CategoryTable<Stats> table_;
    std::vector<std::int32_t> slot_;
    std::vector<std::uint32_t> tally_;

    std::int64_t times(std::uint32_t id) const { return solo_ ? 1 : frame_.sets.count(id, lane_->set); }

    void consider_list(const Segment<E> &segment, Choice &best) {
        if (segment.size < 2) return;
        const Stats &total = lane_->total;
        missing_.clear();
        if (!solo_ || segment.size != total.n) {
            known_.clear();
            for (std::uint32_t i = 0; i < segment.size; ++i) {
                pause(i);
                std::uint32_t id = Packed<E>::id(segment.begin[i]);
                if (std::int64_t m = times(id); m != 0) target_.add_for_quality(known_, id, m);
            }
            missing_ = total;
            missing_ -= known_;
        }
        auto cut_from = [&](const Stats &start) {
            Scan<E, Target> scan{segment.begin, segment.size, target_, total,     start,
                                 facts_,        scratch_,     cancel_, min_leaf_, best.quality};
            return solo_ && parameters_.accelerate
                       ? fast_scan(scan, criterion_, *parameters_.kernels)
                       : plain_scan(scan, criterion_, [this](std::uint32_t id) { return times(id); });
        };
        bool taken = consider_cut(segment.attribute, best, cut_from,
                                  [&](std::uint32_t at) { return Packed<E>::rank(segment.begin[at]); });
        if constexpr (requires { zero_.weight; })
            if (taken && missing_.n == 0) best.default_child = heavier_side(segment, best.lo);
    }
    /// Of a cut whose left side ends with rank `lo`.
    std::int32_t heavier_side(const Segment<E> &segment, std::uint32_t lo) {
        Stats left = zero_, right = lane_->total;
        for (std::uint32_t i = 0; i < segment.size && Packed<E>::rank(segment.begin[i]) <= lo; ++i) {
            std::uint32_t id = Packed<E>::id(segment.begin[i]);
            if (std::int64_t m = times(id); m != 0) target_.add_for_quality(left, id, m);
        }
        right -= left;
        return as_heavy(left, right) ? 0 : 1;
    }

    void consider_counts(const AvcSlot &slot, const AvcGroup &avc, Choice &best) {
        if constexpr (counts_rows<Stats>) {
            const std::uint32_t *counts = avc.data() + slot.begin;
            const std::uint32_t width = frame_.avc->width;
            read_counts(counts + slot.n_values * width, missing_);
            auto cut_from = [&](const Stats &start) {
                CountedScan scan{
                    counts, slot.n_values, width,     lane_->total, start, lane_->total.n - missing_.n,
                    facts_, scratch_,      min_leaf_, best.quality};
                return counted_scan(scan, criterion_, *parameters_.kernels);
            };
            consider_cut(slot.attribute, best, cut_from, [](std::uint32_t at) { return at; });
        }
    }

    /// The best cut of a numeric attribute, with missing_ on either side; `rank` tells what a cut's ends
    /// mean. True where it is the best test so far.
    template <class CutFrom, class Rank>
    bool consider_cut(std::int32_t attribute, Choice &best, CutFrom cut_from, Rank rank) {
        Cut cut;
        std::int32_t default_child = 0;
        if (missing_.n == 0) {
            cut = cut_from(zero_);
            default_child = cut.left >= lane_->total.n - cut.left ? 0 : 1;
        } else {
            cut = cut_from(missing_);
            Cut right = cut_from(zero_);
            bool right_wins =
                right.quality > cut.quality || (right.quality == cut.quality && right.at < cut.at);
            if (right_wins) cut = right, default_child = 1;
        }
        if (!(cut.quality > best.quality)) return false;
        best.quality = cut.quality;
        best.gain = cut.gain;
        best.attribute = attribute;
        best.kind = TestKind::numeric;
        best.default_child = default_child;
        best.n_children = 2;
        best.lo = rank(cut.at);
        best.hi = rank(cut.next);
        best.branches.clear();
        return true;
    }

    void consider_nominal(std::int32_t attribute, std::span<const E> rows, const AvcSlot *slot,
                          const AvcGroup &avc, Choice &best) {
        const FrameCodes &codes = frame_.nominal[static_cast<std::size_t>(attribute)];
        if (slot != nullptr)
            read_table(avc.data() + slot->begin, slot->n_values, frame_.avc->width);
        else if (!tally(codes, rows))
            count_rows(codes, rows);
        NominalChooser<C>(criterion_, lane_->total, table_, min_leaf_, cancel_)
            .consider(attribute, parameters_.nominal, best);
    }

    /// Called for every row of a long loop: looks for a stop now and then.
    void pause(std::size_t i) const {
        if (i % 32768 == 32767) cancel_.poll();
    }

    void reserve(std::size_t present) {
        while (table_.stats.size() < present) {
            pause(table_.stats.size());
            table_.stats.push_back(zero_);
        }
        table_.missing = zero_;
    }

    /// Classes and few categories: one pass of plain counting. False where it does not apply.
    bool tally(const FrameCodes &codes, std::span<const E> rows) {
        if constexpr (counts_rows<Stats>) {
            const std::size_t k = zero_.c.size(), c = static_cast<std::size_t>(codes.n_categories);
            constexpr std::size_t small = 1 << 14;
            if (!solo_ || (c + 1) * k > small || rows.size() * 4 < c) return false;
            tally_.assign((c + 1) * k, 0);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                pause(i);
                std::uint32_t id = Packed<E>::id(rows[i]);
                std::size_t row = codes.code[id] < 0 ? c : static_cast<std::size_t>(codes.code[id]);
                ++tally_[row * k + target_.code[id]];
            }
            read_table(tally_.data(), static_cast<std::uint32_t>(c), k);
            return true;
        } else {
            return false;
        }
    }
    /// Fills table_ from a row of class counts for each category and one for missing.
    void read_table(const std::uint32_t *counts, std::uint32_t n_categories, std::size_t width) {
        if constexpr (counts_rows<Stats>) {
            table_.code.clear();
            reserve(0);
            for (std::uint32_t j = 0; j < n_categories; ++j) {
                if (table_.stats.size() == table_.code.size()) table_.stats.push_back(zero_);
                Stats &s = table_.stats[table_.code.size()];
                read_counts(counts + j * width, s);
                if (s.n != 0) table_.code.push_back(static_cast<std::int32_t>(j));
            }
            read_counts(counts + n_categories * width, table_.missing);
        }
    }
    void read_counts(const std::uint32_t *counts, ClassCounts &s) const {
        s.n = 0;
        for (std::size_t i = 0; i < s.c.size(); ++i) {
            s.c[i] = counts[i];
            s.n += s.c[i];
        }
    }

    /// Puts the codes found in order: by going through all categories where that is shorter than sorting.
    void order_codes(std::int32_t n_categories) {
        if (static_cast<std::size_t>(n_categories) / 16 > table_.code.size())
            return std::sort(table_.code.begin(), table_.code.end());
        table_.code.clear();
        for (std::int32_t code = 0; code < n_categories; ++code)
            if (slot_[static_cast<std::size_t>(code)] >= 0) table_.code.push_back(code);
    }

    /// Any target, any number of categories: time and room follow the rows of the node, not the categories of
    /// the column.
    void count_rows(const FrameCodes &codes, std::span<const E> rows) {
        if (slot_.size() < static_cast<std::size_t>(codes.n_categories))
            slot_.resize(static_cast<std::size_t>(codes.n_categories), -1);
        table_.code.clear();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            pause(i);
            const std::uint32_t id = Packed<E>::id(rows[i]);
            std::int32_t code = codes.code[id];
            if (code < 0 || slot_[static_cast<std::size_t>(code)] >= 0 || times(id) == 0) continue;
            slot_[static_cast<std::size_t>(code)] = 0;
            table_.code.push_back(code);
        }
        order_codes(codes.n_categories);
        reserve(table_.code.size());
        for (std::size_t i = 0; i < table_.code.size(); ++i) {
            slot_[static_cast<std::size_t>(table_.code[i])] = static_cast<std::int32_t>(i);
            table_.stats[i].clear();
        }
        for (std::size_t i = 0; i < rows.size(); ++i) {
            pause(i);
            std::uint32_t id = Packed<E>::id(rows[i]);
            std::int64_t m = times(id);
            if (m == 0) continue;
            std::int32_t code = codes.code[id];
            Stats &s = code < 0
                           ? table_.missing
                           : table_.stats[static_cast<std::size_t>(slot_[static_cast<std::size_t>(code)])];
            target_.add_for_quality(s, id, m);
        }
        for (std::int32_t code : table_.code) slot_[static_cast<std::size_t>(code)] = -1;
    }
};

} // namespace hornbeam
