// Variance reduction of weighted rows, from exact sums.
#pragma once

#include "criteria/quality.hpp"
#include "criteria/weighted.hpp"

namespace hornbeam {

/// W holds every sum; twice W a product of two.
template <int W> struct WeightedVariance {
    using Target = WeightedTarget<W>;
    using Stats = WeightedSums<W>;
    static constexpr bool splits_at_zero = true;
    int exponent = 0;        // of the targets
    int weight_exponent = 0; // of the weights

    /// Turns to a node, whatever the set.
    void open(std::int32_t, const Stats &node) {
        whole_ = weight(node);
        impurity_ = 0.0;
        for (std::size_t t = 0; t < node.y.size(); ++t)
            impurity_ += nearest_double(node.spread(t), 2 * (exponent + weight_exponent));
        impurity_ = impurity_ / (whole_ * whole_);
    }
    double weight(const Stats &s) const { return nearest_double(s.weight, weight_exponent); }
    double mass(const Stats &s) const { return weight(s); }
    double share(const Stats &s, std::size_t t) const {
        return nearest_double(s.y[t], exponent + weight_exponent) / weight(s);
    }
    double mean(const Stats &s, std::size_t t) const { return nearest_quotient(s.y[t], s.weight, exponent); }

    /// sum over targets of d(D)^2 with D = m * a - k * b exactly.
    double contrast(const Fixed<W> &m, const Stats &a, const Fixed<W> &k, const Stats &b) const {
        double sum = 0.0;
        for (std::size_t t = 0; t < a.y.size(); ++t) {
            double d =
                nearest_double(product(m, a.y[t]) - product(k, b.y[t]), exponent + 2 * weight_exponent);
            sum += d * d;
        }
        return sum;
    }
    Score score(const Stats &node, std::span<const Stats *const> branches) const {
        double n = whole_, g = 0.0;
        if (branches.size() == 2) {
            const Stats &l = *branches[0], &r = *branches[1];
            g = contrast(r.weight, l, l.weight, r) / ((n * n) * (weight(l) * weight(r)));
        } else {
            for (const Stats *b : branches)
                g += contrast(node.weight, *b, b->weight, node) / (n * n) / (n * weight(*b));
        }
        if (!(g >= negligible_gain * impurity_)) g = 0.0;
        return {g, g};
    }
    double highest_quality(const Stats &) const { return std::numeric_limits<double>::infinity(); }
    double impurity(const Stats &) const { return impurity_; }

  private:
    double whole_ = 1.0, impurity_ = 0.0;
};

} // namespace hornbeam
