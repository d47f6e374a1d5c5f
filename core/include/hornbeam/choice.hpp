// The best test of a node for one training set: every attribute in order, strictly better wins.
#pragma once

#include <bit>
#include <limits>

#include "hornbeam/frame.hpp"
#include "hornbeam/nominal.hpp"
#include "hornbeam/scan.hpp"

namespace hornbeam {

/// One training set at a node, while it is still growing there.
template <class Stats> struct Lane {
    std::int32_t set = 0;
    std::uint64_t record = 0; // in the forest
    Stats total;
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
        if (segment.nominal()) return false;
        return segment.size < 2 ||
               Packed<E>::rank(segment.begin[0]) == Packed<E>::rank(segment.begin[segment.size - 1]);
    }

    /// Turns to another lane; `consider` then looks at its node's attributes in order.
    void open(const Lane<Stats> &lane, bool solo, std::int64_t min_leaf) {
        lane_ = &lane;
        solo_ = solo;
        min_leaf_ = min_leaf;
        highest_ = parameters_.accelerate ? criterion_.highest_quality(lane.total)
                                          : std::numeric_limits<double>::infinity();
        if (solo) prepare(facts_, criterion_, lane.total);
    }

    /// Replaces `best` where the attribute has a better test. False: no attribute can be better than what is
    /// found.
    bool consider(const Segment<E> &segment, std::span<const E> rows, Choice &best) {
        if (segment.nominal())
            consider_nominal(segment.attribute, rows, best);
        else
            consider_numeric(segment, best);
        return best.quality < highest_;
    }

  private:
    const Frame<E> &frame_;
    const Target &target_;
    const C &criterion_;
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

    void consider_numeric(const Segment<E> &segment, Choice &best) {
        if (segment.size < 2) return;
        const Stats &total = lane_->total;
        bool some_missing = !solo_ || segment.size != total.n;
        if (some_missing) {
            known_.clear();
            for (std::uint32_t i = 0; i < segment.size; ++i) {
                pause(i);
                std::uint32_t id = Packed<E>::id(segment.begin[i]);
                if (std::int64_t m = times(id); m != 0) target_.add_for_quality(known_, id, m);
            }
            missing_ = total;
            missing_ -= known_;
            some_missing = missing_.n != 0;
        }
        auto cut_from = [&](const Stats &start) {
            Scan<E, Target> scan{segment.begin, segment.size, target_, total,     start,
                                 facts_,        scratch_,     cancel_, min_leaf_, best.quality};
            return solo_ && parameters_.accelerate
                       ? fast_scan(scan, criterion_, *parameters_.kernels)
                       : plain_scan(scan, criterion_, [this](std::uint32_t id) { return times(id); });
        };
        Cut cut;
        std::int32_t default_child = 0;
        if (!some_missing) {
            cut = cut_from(zero_);
            default_child = cut.left >= total.n - cut.left ? 0 : 1;
        } else {
            cut = cut_from(missing_);
            Cut right = cut_from(zero_);
            bool right_wins =
                right.quality > cut.quality || (right.quality == cut.quality && right.at < cut.at);
            if (right_wins) cut = right, default_child = 1;
        }
        if (!(cut.quality > best.quality)) return;
        best.quality = cut.quality;
        best.gain = cut.gain;
        best.attribute = segment.attribute;
        best.kind = TestKind::numeric;
        best.default_child = default_child;
        best.n_children = 2;
        best.lo = Packed<E>::rank(segment.begin[cut.at]);
        best.hi = Packed<E>::rank(segment.begin[cut.next]);
        best.branches.clear();
    }

    void consider_nominal(std::int32_t attribute, std::span<const E> rows, Choice &best) {
        const FrameCodes &codes = frame_.nominal[static_cast<std::size_t>(attribute)];
        if (!tally(codes, rows)) count_rows(codes, rows);
        NominalChooser<C>(criterion_, lane_->total, table_, min_leaf_, cancel_)
            .consider(attribute, parameters_.nominal, best);
    }

    /// Called for every row of a long loop: looks for a stop now and then.
    void pause(std::size_t i) const {
        if (i % 32768 == 32767) cancel_.poll();
    }

    void reserve(std::size_t present) {
        while (table_.stats.size() < present) table_.stats.push_back(zero_);
        table_.missing = zero_;
    }

    /// Classes and few categories: one pass of plain counting. False where it does not apply.
    bool tally(const FrameCodes &codes, std::span<const E> rows) {
        if constexpr (requires { zero_.c; }) {
            const std::size_t k = zero_.c.size(), c = static_cast<std::size_t>(codes.n_categories) + 1;
            constexpr std::size_t small = 1 << 14;
            if (!solo_ || c * k > small || rows.size() * 4 < c) return false;
            tally_.assign(c * k, 0);
            for (E e : rows) {
                std::uint32_t id = Packed<E>::id(e);
                ++tally_[static_cast<std::size_t>(codes.code[id] + 1) * k + target_.code[id]];
            }
            table_.code.clear();
            reserve(0);
            read_tally(0, table_.missing);
            for (std::size_t j = 1; j < c; ++j) {
                if (table_.stats.size() == table_.code.size()) table_.stats.push_back(zero_);
                Stats &s = table_.stats[table_.code.size()];
                read_tally(j, s);
                if (s.n != 0) table_.code.push_back(static_cast<std::int32_t>(j) - 1);
            }
            return true;
        } else {
            return false;
        }
    }
    void read_tally(std::size_t row, Stats &s) const {
        const std::size_t k = zero_.c.size();
        s.n = 0;
        for (std::size_t i = 0; i < k; ++i) {
            s.c[i] = tally_[row * k + i];
            s.n += s.c[i];
        }
    }

    /// Any target, any number of categories: time and room follow the rows of the node, not the categories of
    /// the column.
    void count_rows(const FrameCodes &codes, std::span<const E> rows) {
        if (slot_.size() < static_cast<std::size_t>(codes.n_categories))
            slot_.resize(static_cast<std::size_t>(codes.n_categories), -1);
        table_.code.clear();
        for (E e : rows) {
            std::int32_t code = codes.code[Packed<E>::id(e)];
            if (code < 0 || slot_[static_cast<std::size_t>(code)] >= 0 || times(Packed<E>::id(e)) == 0)
                continue;
            slot_[static_cast<std::size_t>(code)] = 0;
            table_.code.push_back(code);
        }
        std::sort(table_.code.begin(), table_.code.end());
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
