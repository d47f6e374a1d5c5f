// Additive summaries of examples: what a quality is computed from, and nothing else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "numbers/exact.hpp"

namespace hornbeam {

using ClassCode = std::uint16_t;

/// Class counts, exact.
struct ClassCounts {
    std::int64_t n = 0;
    std::vector<std::int64_t> c;

    ClassCounts() = default;
    explicit ClassCounts(std::size_t n_classes) : c(n_classes) {}
    void clear() {
        n = 0;
        std::fill(c.begin(), c.end(), 0);
    }
    ClassCounts &operator+=(const ClassCounts &b) {
        n += b.n;
        for (std::size_t k = 0; k < c.size(); ++k) c[k] += b.c[k];
        return *this;
    }
    ClassCounts &operator-=(const ClassCounts &b) {
        n -= b.n;
        for (std::size_t k = 0; k < c.size(); ++k) c[k] -= b.c[k];
        return *this;
    }
    bool pure() const {
        return std::any_of(c.begin(), c.end(), [this](std::int64_t x) { return x == n; });
    }
    int classes_present() const {
        return static_cast<int>(std::count_if(c.begin(), c.end(), [](std::int64_t x) { return x != 0; }));
    }
};

/// The class of each example, by the grower's own ids.
struct ClassTarget {
    using Stats = ClassCounts;
    std::span<const ClassCode> code;
    std::size_t n_classes = 0;

    Stats zero() const { return Stats(n_classes); }
    void add(Stats &s, std::size_t id, std::int64_t times) const {
        s.n += times;
        s.c[code[id]] += times;
    }
    void add_for_quality(Stats &s, std::size_t id, std::int64_t times) const { add(s, id, times); }
};

/// Sums of numeric targets and of their squares, exact: integers in units of 2^exponent and 2^(2 exponent).
template <int W> struct TargetSums {
    std::int64_t n = 0;
    std::vector<Fixed<W>> y;
    std::vector<Fixed<2 * W>> yy;

    TargetSums() = default;
    explicit TargetSums(std::size_t n_targets) : y(n_targets), yy(n_targets) {}
    void clear() {
        n = 0;
        std::fill(y.begin(), y.end(), Fixed<W>{});
        std::fill(yy.begin(), yy.end(), Fixed<2 * W>{});
    }
    TargetSums &operator+=(const TargetSums &b) {
        n += b.n;
        for (std::size_t t = 0; t < y.size(); ++t) {
            y[t] += b.y[t];
            yy[t] += b.yy[t];
        }
        return *this;
    }
    TargetSums &operator-=(const TargetSums &b) {
        n -= b.n;
        for (std::size_t t = 0; t < y.size(); ++t) {
            y[t] -= b.y[t];
            yy[t] -= b.yy[t];
        }
        return *this;
    }
    /// n * sum of squares - square of sum, exactly; 0 where all values are equal.
    Fixed<2 * W> spread(std::size_t t) const {
        return times(yy[t], static_cast<std::uint64_t>(n)) - squared(y[t]);
    }
    bool pure() const {
        for (std::size_t t = 0; t < y.size(); ++t)
            if (!spread(t).zero()) return false;
        return true;
    }
};

/// The numeric targets of each example, by the grower's own ids; row-major where there are several.
template <int W> struct NumericTarget {
    using Stats = TargetSums<W>;
    std::span<const double> y;
    std::size_t n_targets = 1;
    int exponent = 0; // every value is a whole multiple of 2^exponent

    Stats zero() const { return Stats(n_targets); }
    void add(Stats &s, std::size_t id, std::int64_t times) const { add_parts<true>(s, id, times); }
    /// Leaves the squares out: qualities need only the sums.
    void add_for_quality(Stats &s, std::size_t id, std::int64_t times) const {
        add_parts<false>(s, id, times);
    }

  private:
    template <bool Squares> void add_parts(Stats &s, std::size_t id, std::int64_t times) const {
        s.n += times;
        for (std::size_t t = 0; t < n_targets; ++t) {
            Decomposed v = decompose(y[id * n_targets + t]);
            if (v.mantissa == 0) continue;
            auto shift = static_cast<unsigned>(v.exponent - exponent);
            s.y[t].add_shifted(static_cast<__int128>(v.mantissa) * times, shift);
            if constexpr (Squares) {
                // One multiplicity at a time: mantissa^2 has 106 bits, and 128 must hold the term.
                __int128 square = static_cast<__int128>(v.mantissa) * v.mantissa;
                Fixed<2 * W> term;
                term.add_shifted(square, 2 * shift);
                s.yy[t] += hornbeam::times(term, static_cast<std::uint64_t>(times));
            }
        }
    }
};

/// How many numbers there are to add for one example's worth of statistics.
template <class Stats> std::size_t width_of(const Stats &s) {
    if constexpr (requires { s.c; })
        return s.c.size();
    else
        return s.y.size();
}

} // namespace hornbeam
