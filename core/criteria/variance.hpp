// Variance reduction for one or several numeric targets, from exact sums.
#pragma once

#include "criteria/quality.hpp"
#include "criteria/statistics.hpp"

namespace hornbeam {

template <int W> struct Variance {
    using Target = NumericTarget<W>;
    using Stats = TargetSums<W>;
    static constexpr bool splits_at_zero = true;
    int exponent = 0; // that of the target

    static std::uint64_t count(std::int64_t n) { return static_cast<std::uint64_t>(n); }

    /// sum over targets of d(D)^2 with D = m * a - k * b exactly: no cancellation, however large the common
    /// offset.
    double contrast(std::int64_t m, const Stats &a, std::int64_t k, const Stats &b) const {
        double sum = 0.0;
        for (std::size_t t = 0; t < a.y.size(); ++t) {
            double d = nearest_double(times(a.y[t], count(m)) - times(b.y[t], count(k)), exponent);
            sum += d * d;
        }
        return sum;
    }
    Score score(const Stats &node, std::span<const Stats *const> branches) const {
        double n = as_double(node.n), g = 0.0;
        if (branches.size() == 2) {
            const Stats &l = *branches[0], &r = *branches[1];
            g = contrast(r.n, l, l.n, r) / ((n * n) * (as_double(l.n) * as_double(r.n)));
        } else {
            for (const Stats *b : branches)
                g += contrast(node.n, *b, b->n, node) / (n * n) / (n * as_double(b->n));
        }
        // Relative: an absolute bound would depend on the unit of the target.
        if (g < negligible_gain * impurity(node)) g = 0.0;
        return {g, g};
    }
    double highest_quality(const Stats &) const { return std::numeric_limits<double>::infinity(); }
    /// sum over targets of d(n * YY - Y^2) / n^2
    double impurity(const Stats &node) const {
        double n = as_double(node.n), sum = 0.0;
        for (std::size_t t = 0; t < node.y.size(); ++t) sum += nearest_double(node.spread(t), 2 * exponent);
        return sum / (n * n);
    }
};

} // namespace hornbeam
