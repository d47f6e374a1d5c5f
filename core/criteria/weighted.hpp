// Additive summaries of weighted examples: exact sums of weights, and rows counted apart from them.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "criteria/statistics.hpp"
#include "numbers/exact.hpp"

namespace hornbeam {

/// The weight of each example, by the grower's own ids; none given: 1 each.
struct RowWeights {
    std::span<const double> of;
    int exponent = 0; // every weight is a whole multiple of 2^exponent

    /// The weight as a number of units.
    struct Units {
        std::int64_t mantissa = 1;
        unsigned shift = 0;
    };
    Units operator[](std::size_t id) const {
        if (of.empty()) return {};
        Decomposed w = decompose(of[id]);
        return {w.mantissa, static_cast<unsigned>(w.exponent - exponent)};
    }
};

/// Sums of weights, whole and by class, in units of 2^exponent of the weights; n counts rows.
template <int W> struct ClassSums {
    std::int64_t n = 0;
    Fixed<W> weight;
    std::vector<Fixed<W>> c;

    ClassSums() = default;
    explicit ClassSums(std::size_t n_classes) : c(n_classes) {}
    void clear() {
        n = 0;
        weight = {};
        std::fill(c.begin(), c.end(), Fixed<W>{});
    }
    ClassSums &operator+=(const ClassSums &b) {
        n += b.n;
        weight += b.weight;
        for (std::size_t k = 0; k < c.size(); ++k) c[k] += b.c[k];
        return *this;
    }
    ClassSums &operator-=(const ClassSums &b) {
        n -= b.n;
        weight -= b.weight;
        for (std::size_t k = 0; k < c.size(); ++k) c[k] -= b.c[k];
        return *this;
    }
    bool pure() const { return classes_present() <= 1; }
    int classes_present() const {
        return static_cast<int>(
            std::count_if(c.begin(), c.end(), [](const Fixed<W> &x) { return !x.zero(); }));
    }
};

/// The class and the weight of each example.
template <int W> struct WeightedClassTarget {
    using Stats = ClassSums<W>;
    std::span<const ClassCode> code;
    std::size_t n_classes = 0;
    RowWeights weight;

    Stats zero() const { return Stats(n_classes); }
    void add(Stats &s, std::size_t id, std::int64_t times) const {
        RowWeights::Units w = weight[id];
        Fixed<W> term;
        term.add_shifted(static_cast<__int128>(w.mantissa) * times, w.shift);
        s.n += times;
        s.weight += term;
        s.c[code[id]] += term;
    }
    void add_for_quality(Stats &s, std::size_t id, std::int64_t times) const { add(s, id, times); }
};

/// Sums of w, w y and w y^2, in units of 2^a, 2^(a + e) and 2^(a + 2 e), a the exponent of the weights and e
/// that of the targets; n counts rows.
template <int W> struct WeightedSums {
    std::int64_t n = 0;
    Fixed<W> weight;
    std::vector<Fixed<W>> y, yy;

    WeightedSums() = default;
    explicit WeightedSums(std::size_t n_targets) : y(n_targets), yy(n_targets) {}
    void clear() {
        n = 0;
        weight = {};
        std::fill(y.begin(), y.end(), Fixed<W>{});
        std::fill(yy.begin(), yy.end(), Fixed<W>{});
    }
    WeightedSums &operator+=(const WeightedSums &b) {
        n += b.n;
        weight += b.weight;
        for (std::size_t t = 0; t < y.size(); ++t) y[t] += b.y[t], yy[t] += b.yy[t];
        return *this;
    }
    WeightedSums &operator-=(const WeightedSums &b) {
        n -= b.n;
        weight -= b.weight;
        for (std::size_t t = 0; t < y.size(); ++t) y[t] -= b.y[t], yy[t] -= b.yy[t];
        return *this;
    }
    /// n * sum of squares - square of sum, exactly; 0 where all values are equal.
    Fixed<2 * W> spread(std::size_t t) const { return product(weight, yy[t]) - squared(y[t]); }
    bool pure() const {
        for (std::size_t t = 0; t < y.size(); ++t)
            if (!spread(t).zero()) return false;
        return true;
    }
};

/// The numeric targets and the weight of each example; row-major where there are several.
template <int W> struct WeightedTarget {
    using Stats = WeightedSums<W>;
    std::span<const double> y;
    std::size_t n_targets = 1;
    int exponent = 0; // every value is a whole multiple of 2^exponent
    RowWeights weight;

    Stats zero() const { return Stats(n_targets); }
    void add(Stats &s, std::size_t id, std::int64_t times) const { add_parts<true>(s, id, times); }
    /// Leaves the squares out: qualities need only the sums.
    void add_for_quality(Stats &s, std::size_t id, std::int64_t times) const {
        add_parts<false>(s, id, times);
    }

  private:
    template <bool Squares> void add_parts(Stats &s, std::size_t id, std::int64_t times) const {
        RowWeights::Units w = weight[id];
        Fixed<W> units;
        units.add_shifted(static_cast<__int128>(w.mantissa) * times, w.shift);
        s.n += times;
        s.weight += units;
        for (std::size_t t = 0; t < n_targets; ++t) {
            Decomposed v = decompose(y[id * n_targets + t]);
            if (v.mantissa == 0) continue;
            auto shift = static_cast<unsigned>(v.exponent - exponent);
            auto size = static_cast<std::uint64_t>(v.mantissa < 0 ? -v.mantissa : v.mantissa);
            Fixed<W> once = shifted<W>(hornbeam::times(units, size), shift);
            s.y[t] += v.mantissa < 0 ? -once : once;
            if constexpr (Squares) s.yy[t] += shifted<W>(hornbeam::times(once, size), shift);
        }
    }
};

} // namespace hornbeam
