// The statistics of a node's examples for each training set that stands there, and of those a test holds for.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "criteria/statistics.hpp"
#include "table/training_sets.hpp"

namespace hornbeam {

/// Calls `body(lane)` for each set of a mask.
template <class Body> void each_set(SetMask sets, Body body) {
    for (; sets != 0; sets &= sets - 1) body(static_cast<std::size_t>(std::countr_zero(sets)));
}

/// Calls `body(i)` for each bit that is set.
template <class Body> void each_bit(std::span<const std::uint64_t> bits, Body body) {
    for (std::size_t w = 0; w < bits.size(); ++w)
        for (std::uint64_t word = bits[w]; word != 0; word &= word - 1)
            body(w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
}

inline std::int64_t count_between(std::span<const std::uint64_t> bits, std::size_t begin, std::size_t end) {
    if (begin >= end) return 0;
    const std::size_t first = begin / 64, last = (end - 1) / 64;
    const std::uint64_t from = ~std::uint64_t{0} << (begin % 64),
                        to = ~std::uint64_t{0} >> (63 - (end - 1) % 64);
    if (first == last) return std::popcount(bits[first] & from & to);
    std::int64_t n = std::popcount(bits[first] & from) + std::popcount(bits[last] & to);
    for (std::size_t w = first + 1; w < last; ++w) n += std::popcount(bits[w]);
    return n;
}

/// `by_complement` counts examples once and takes off, for each set, those that it leaves out (CV); else they
/// are counted for each set they are in (OS). The numbers are the same: all sums are exact.
template <class Target> class NodeLanes {
  public:
    using Stats = typename Target::Stats;

    NodeLanes(const Target &target, const TrainingSets &sets)
        : target_(target), sets_(sets), node_(static_cast<std::size_t>(sets.n_sets), target.zero()),
          yes_(node_), total_(target.zero()) {}

    /// Takes examples in for some sets; they are put in order of the sets they are in, and of their classes.
    void prepare(std::vector<std::uint32_t> &examples, SetMask standing) {
        examples_ = &examples;
        standing_ = standing;
        complement_ = !sets_.repeats() && (sets_.by_complement || sets_.n_sets == 1);
        each_set(standing, [&](std::size_t s) { node_[s].clear(); });
        if (!complement_) {
            for (std::size_t p = 0; p < examples.size(); ++p) add_to_sets(node_, p, true);
            return;
        }
        arrange(examples);
        total_.clear();
        for (const Cell &cell : cells_) {
            if constexpr (of_classes) {
                add_cell(cell, static_cast<std::int64_t>(cell.end - cell.begin), node_);
            } else {
                Stats here = target_.zero();
                for (std::size_t p = cell.begin; p < cell.end; ++p) add(here, p, 1, true);
                total_ += here;
                each_set(standing & ~cell.in, [&](std::size_t s) { node_[s] += here; });
            }
        }
        take_off(node_);
    }
    std::size_t size() const { return examples_->size(); }
    const Stats &node(std::size_t set) const { return node_[set]; }
    const Stats &yes(std::size_t set) const { return yes_[set]; }
    SetMask members(std::size_t position) const { return sets_.of((*examples_)[position]) & standing_; }
    std::int64_t times(std::size_t position, std::size_t set) const {
        return sets_.count((*examples_)[position], static_cast<std::int32_t>(set));
    }
    void add(Stats &to, std::size_t position, std::int64_t times, bool squares) const {
        if (squares)
            target_.add(to, (*examples_)[position], times);
        else
            target_.add_for_quality(to, (*examples_)[position], times);
    }

    /// Counts the positions whose bits are set.
    void count(std::span<const std::uint64_t> bits) {
        clear();
        if (complement_) {
            for (std::size_t c = 0; c < cells_.size(); ++c) {
                const Cell &cell = cells_[c];
                if constexpr (of_classes)
                    add_cell(cell, count_between(bits, cell.begin, cell.end), yes_);
                else
                    add_numbers(cell, bits);
            }
            return take_off(yes_);
        }
        each_bit(bits, [&](std::size_t p) { add_to_sets(yes_, p, false); });
    }
    void count(std::span<const std::uint32_t> positions) {
        clear();
        for (std::uint32_t p : positions) {
            if (!complement_) {
                add_to_sets(yes_, p, false);
                continue;
            }
            add(total_, p, 1, false);
            each_set(standing_ & ~members(p), [&](std::size_t s) { add(yes_[s], p, 1, false); });
        }
        if (complement_) take_off(yes_);
    }

  private:
    static constexpr bool of_classes = requires(Stats s) { s.c; };
    struct Cell {
        std::size_t begin = 0, end = 0;
        SetMask in = 0;
        std::size_t k = 0; // the class
    };

    const Target &target_;
    const TrainingSets &sets_;
    const std::vector<std::uint32_t> *examples_ = nullptr;
    SetMask standing_ = 0;
    bool complement_ = false;
    std::vector<Cell> cells_;
    std::vector<Stats> node_, yes_; // by complement, yes_ holds those left out until they are taken off
    Stats total_;

    std::size_t class_of(std::uint32_t e) const {
        if constexpr (of_classes)
            return target_.code[e];
        else
            return 0;
    }
    void arrange(std::vector<std::uint32_t> &examples) {
        auto before = [&](std::uint32_t a, std::uint32_t b) {
            const SetMask x = sets_.of(a) & standing_, y = sets_.of(b) & standing_;
            if (x != y) return x < y;
            const std::size_t k = class_of(a), l = class_of(b);
            return k != l ? k < l : a < b;
        };
        if (!std::is_sorted(examples.begin(), examples.end(), before)) sort(examples);
        cells_.clear();
        for (std::size_t p = 0; p < examples.size(); ++p) {
            const SetMask in = sets_.of(examples[p]) & standing_;
            const std::size_t k = class_of(examples[p]);
            if (cells_.empty() || cells_.back().in != in || cells_.back().k != k)
                cells_.push_back({p, p, in, k});
            cells_.back().end = p + 1;
        }
    }
    /// By the sets an example is in, its class, and its number: mostly few cells, so they are counted.
    void sort(std::vector<std::uint32_t> &examples) const {
        std::sort(examples.begin(), examples.end());
        std::vector<SetMask> masks;
        for (std::uint32_t e : examples) {
            const SetMask in = sets_.of(e) & standing_;
            if (std::find(masks.rbegin(), masks.rend(), in) == masks.rend()) masks.push_back(in);
            if (masks.size() > 65) break;
        }
        auto cell_of = [&](std::uint32_t e) {
            const SetMask in = sets_.of(e) & standing_;
            const auto place = std::lower_bound(masks.begin(), masks.end(), in) - masks.begin();
            return static_cast<std::size_t>(place) * width_of(total_) + class_of(e);
        };
        if (masks.size() > 65) {
            std::stable_sort(examples.begin(), examples.end(), [&](std::uint32_t a, std::uint32_t b) {
                const SetMask x = sets_.of(a) & standing_, y = sets_.of(b) & standing_;
                return x != y ? x < y : class_of(a) < class_of(b);
            });
            return;
        }
        std::sort(masks.begin(), masks.end());
        std::vector<std::uint32_t> next(masks.size() * width_of(total_) + 1), sorted(examples.size());
        for (std::uint32_t e : examples) ++next[cell_of(e) + 1];
        for (std::size_t c = 1; c < next.size(); ++c) next[c] += next[c - 1];
        for (std::uint32_t e : examples) sorted[next[cell_of(e)]++] = e;
        examples.swap(sorted);
    }
    void clear() {
        total_.clear();
        each_set(standing_, [&](std::size_t s) { yes_[s].clear(); });
    }
    void add_cell(const Cell &cell, std::int64_t n, std::vector<Stats> &left_out) {
        if (n == 0) return;
        total_.n += n;
        total_.c[cell.k] += n;
        each_set(standing_ & ~cell.in, [&](std::size_t s) {
            left_out[s].n += n;
            left_out[s].c[cell.k] += n;
        });
    }
    void add_numbers(const Cell &cell, std::span<const std::uint64_t> bits) {
        Stats here = target_.zero();
        for (std::size_t p = cell.begin; p < cell.end; ++p)
            if ((bits[p / 64] >> (p % 64) & 1) != 0) add(here, p, 1, false);
        if (here.n == 0) return;
        total_ += here;
        each_set(standing_ & ~cell.in, [&](std::size_t s) { yes_[s] += here; });
    }
    void take_off(std::vector<Stats> &left_out) {
        each_set(standing_, [&](std::size_t s) {
            Stats here = total_;
            here -= left_out[s];
            std::swap(left_out[s], here);
        });
    }
    void add_to_sets(std::vector<Stats> &to, std::size_t p, bool squares) const {
        each_set(members(p), [&](std::size_t s) { add(to[s], p, times(p, s), squares); });
    }
};

} // namespace hornbeam
