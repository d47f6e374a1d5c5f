// Sorting rows by unsigned keys: a radix sort by a short code of the key, then a walk over the full keys that
// puts right the few rows that share a code. Keys that are few are numbered instead, and only they sorted.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "numbers/keys.hpp"
#include "running/cancel.hpp"
#include "table/column.hpp"

namespace hornbeam {

inline constexpr std::size_t block = std::size_t{1} << 18; // rows between two polls
inline constexpr std::size_t few_rows = 4096;              // below, short digits cost less than they save
inline constexpr std::size_t many_rows = 16384;            // above, buckets pay
inline constexpr std::size_t distant = 24; // a key that must move further gets its whole run sorted

/// Calls body(i) for lo <= i < hi, polling now and then where that takes long.
template <class Body> void for_range(std::size_t lo, std::size_t hi, Cancel &cancel, Body body) {
    while (lo < hi) {
        if (hi - lo > few_rows) cancel.poll();
        const std::size_t end = std::min(hi, lo + block);
        for (; lo < end; ++lo) body(lo);
    }
}

/// A code is a short number that never reverses the order of keys; different keys may share one.
/// This one: the leading bits of the distance from the least key.
struct Leading {
    Key least;
    unsigned shift;
    std::uint32_t operator()(Key key) const { return static_cast<std::uint32_t>((key - least) >> shift); }
};

/// This one spreads floats evenly, where their own leading bits, the exponent, bunch them. Rounded
/// subtraction and multiplication keep the order.
struct Linear {
    double least, scale;
    std::uint32_t operator()(Key key) const {
        return static_cast<std::uint32_t>(static_cast<std::int32_t>((float_of(key) - least) * scale));
    }
};

/// Sorts entries by the keys of their rows. Stable, so that equal keys stay in ascending order of row.
class Presort {
  public:
    Presort(const Key *keys, Entry *entries, Key *spare, Cancel &cancel)
        : keys_(keys), entries_(entries), spare_(spare), cancel_(cancel) {}

    /// Orders entries [lo, hi) by the leading bits of (key - least); their upper halves then hold these.
    /// Returns whether these were all bits.
    bool by_leading_bits(std::size_t lo, std::size_t hi, Key least, Key greatest) {
        const unsigned span = std::bit_width(greatest - least);
        if (hi - lo < few_rows) return radix<8>(lo, hi, least, span, std::min(span, 24u));
        return radix<11>(lo, hi, least, span, std::min(span, 32u));
    }

    /// Lists m rows, row_at(0) first, ordered by a code of 8 + 14 bits (buckets, then each bucket while it is
    /// in the cache), then by all bits. Calls `sorted(lo, hi)` behind each bucket, whose keys are not looked
    /// at again. Does nothing and returns false where a bucket would hold more than an eighth of the rows.
    template <class Code, class RowAt, class Sorted>
    bool by_buckets(std::size_t m, Code code, RowAt row_at, Sorted sorted) {
        std::uint32_t ends[1u << 8] = {};
        for_range(0, m, cancel_, [=, this, &ends](std::size_t i) { ++ends[code(keys_[row_at(i)]) >> 14]; });
        if (*std::max_element(ends, ends + 256) > m / 8) return false;
        std::uint32_t before = 0;
        for (std::uint32_t &end : ends) before += std::exchange(end, before);
        for_range(0, m, cancel_, [=, this, &ends](std::size_t i) {
            const auto row = static_cast<std::uint32_t>(row_at(i));
            const std::uint32_t c = code(keys_[row]);
            entries_[ends[c >> 14]++] = make_entry(c, row);
        });
        for (std::size_t b = 0, lo = 0; b < 256; lo = ends[b++]) {
            sort_bucket(lo, ends[b]);
            sorted(lo, ends[b]);
        }
        return true;
    }

    /// Fills spare [lo, hi) with the keys of the entries and completes the order by leading bits.
    void by_all_bits(std::size_t lo, std::size_t hi) {
        for_range(lo, hi, cancel_, [this](std::size_t i) { spare_[i] = keys_[row_of(entries_[i])]; });
        for (std::size_t i = lo + 1; i < hi; ++i) {
            if (spare_[i] >= spare_[i - 1]) continue;
            if (i - lo >= distant && spare_[i - distant] > spare_[i]) {
                i = sort_run(lo, i, hi);
                lo = i + 1;
            } else {
                insert(lo, i);
            }
        }
    }

  private:
    template <unsigned width>
    bool radix(std::size_t lo, std::size_t hi, Key least, unsigned span, unsigned bits) {
        const unsigned passes = std::max(1u, (bits + width - 1) / width);
        const Leading code{least, span - bits};
        std::uint32_t counts[3][1u << width];
        std::memset(counts, 0, passes * sizeof counts[0]);
        Entry *from = entries_, *to = spare_;
        if (passes % 2 == 1) std::swap(from, to); // the last pass writes entries_
        if (passes == 1) write_codes<width, 1>(lo, hi, from, 0, code, counts);
        if (passes == 2) write_codes<width, 2>(lo, hi, from, 0, code, counts);
        if (passes == 3) write_codes<width, 3>(lo, hi, from, 0, code, counts);
        for (unsigned p = 0; p < passes; ++p, std::swap(from, to)) {
            scatter<width>(lo, hi, from, to, p * width, counts[p]);
        }
        return span == bits;
    }

    /// Writes (code, row) of entries [lo, hi) and counts the digits of the codes from bit `low` on.
    template <unsigned width, unsigned digits, class Code>
    void write_codes(std::size_t lo, std::size_t hi, Entry *to, unsigned low, Code code,
                     std::uint32_t (*counts)[1u << width]) {
        for_range(lo, hi, cancel_, [=, this](std::size_t i) {
            const std::uint32_t row = row_of(entries_[i]), c = code(keys_[row]);
            for (unsigned d = 0; d < digits; ++d) ++counts[d][c >> (low + d * width) & ((1u << width) - 1)];
            to[i] = make_entry(c, row);
        });
    }

    /// One stable pass over the digit at bit `low`; `counts` becomes the end of each digit's entries.
    template <unsigned width> void scatter(std::size_t lo, std::size_t hi, const Entry *from, Entry *to,
                                           unsigned low, std::uint32_t *counts) {
        auto before = static_cast<std::uint32_t>(lo);
        for (std::uint32_t d = 0; d < 1u << width; ++d) before += std::exchange(counts[d], before);
        for_range(lo, hi, cancel_, [=](std::size_t i) {
            const Entry e = from[i];
            to[counts[e >> (32 + low) & ((1u << width) - 1)]++] = e;
        });
    }

    /// Orders entries that agree but in the low 14 bits of their code.
    void sort_bucket(std::size_t lo, std::size_t hi) {
        std::uint32_t counts[2][1u << 7] = {};
        for (std::size_t i = lo; i < hi; ++i) {
            ++counts[0][rank_of(entries_[i]) & 127];
            ++counts[1][rank_of(entries_[i]) >> 7 & 127];
        }
        scatter<7>(lo, hi, entries_, spare_, 0, counts[0]);
        scatter<7>(lo, hi, spare_, entries_, 7, counts[1]);
        by_all_bits(lo, hi);
    }

    void insert(std::size_t lo, std::size_t i) {
        const Key key = spare_[i];
        const Entry entry = entries_[i];
        for (; i > lo && spare_[i - 1] > key; --i) {
            spare_[i] = spare_[i - 1];
            entries_[i] = entries_[i - 1];
        }
        spare_[i] = key;
        entries_[i] = entry;
    }

    /// Sorts the entries around i that share its leading bits; returns the last of them.
    std::size_t sort_run(std::size_t lo, std::size_t i, std::size_t hi) {
        std::size_t first = i, last = i;
        while (first > lo && rank_of(entries_[first - 1]) == rank_of(entries_[i])) --first;
        while (last + 1 < hi && rank_of(entries_[last + 1]) == rank_of(entries_[i])) ++last;
        if (last - first >= few_rows) { // again by leading bits, of which at least 32 are gone
            const auto [least, greatest] = std::minmax_element(spare_ + first, spare_ + last + 1);
            by_leading_bits(first, last + 1, *least, *greatest);
            by_all_bits(first, last + 1);
            return last;
        }
        std::sort(entries_ + first, entries_ + last + 1, [keys = keys_](Entry x, Entry y) {
            const Key a = keys[row_of(x)], b = keys[row_of(y)];
            return a != b ? a < b : x < y;
        });
        for (std::size_t k = first; k <= last; ++k) spare_[k] = keys_[row_of(entries_[k])];
        return last;
    }

    const Key *keys_;
    Entry *entries_;
    Key *spare_;
    Cancel &cancel_;
};

/// Numbers different keys from 1 on, in order of appearance, and counts each. The missing key has number 0.
class Numbering {
  public:
    struct Value {
        Key key;
        std::uint32_t count; // of its rows, then where the next of them goes
        std::uint32_t rank;
    };
    static constexpr std::size_t most = 8192;

    void clear() {
        size_ = 0;
        values_[0] = {missing_key, 0, 0};
        make_slots(11);
    }
    std::size_t size() const { return size_; }
    Value &operator[](std::size_t number) { return values_[number]; }

    /// Counts a key and returns its number; 0 instead of a new number above `limit()`.
    template <class Limit> std::uint16_t count(Key key, Limit limit) {
        std::uint16_t number = slots_[slot(key)];
        if (values_[number].key != key) [[unlikely]]
            number = search(key, limit);
        ++values_[number].count;
        return number;
    }

  private:
    std::size_t slot(Key key) const { return (key * 0x9E3779B97F4A7C15u) >> (64 - bits_); }
    std::size_t next(std::size_t at) const { return (at + 1) & ((std::size_t{1} << bits_) - 1); }
    void make_slots(unsigned bits) { // few at first, to stay in the L1 cache; sparse, to hit at once
        bits_ = bits;
        std::memset(slots_, 0, sizeof slots_[0] << bits);
        for (std::size_t i = 1; i <= size_; ++i) {
            std::size_t at = slot(values_[i].key);
            while (slots_[at] != 0) at = next(at);
            slots_[at] = static_cast<std::uint16_t>(i);
        }
    }
    template <class Limit> std::uint16_t search(Key key, Limit limit) {
        std::size_t at = slot(key);
        while (slots_[at] != 0 && values_[slots_[at]].key != key) at = next(at);
        if (slots_[at] != 0) return slots_[at];
        if (key == missing_key || size_ >= std::min(most, limit())) return 0;
        slots_[at] = static_cast<std::uint16_t>(++size_);
        values_[size_] = {key, 0, 0};
        const auto number = static_cast<std::uint16_t>(size_);
        if (8 * size_ > std::size_t{1} << bits_) make_slots(bits_ + 1);
        return number;
    }

    std::size_t size_;
    unsigned bits_;
    std::uint16_t slots_[8 * most];
    Value values_[most + 1];
};

} // namespace hornbeam
