// Gini index (CART).
#pragma once

#include "criteria/quality.hpp"
#include "criteria/statistics.hpp"

namespace hornbeam {

struct Gini {
    using Target = ClassTarget;
    static constexpr bool splits_at_zero = true;

    static std::int64_t sum_of_squares(const ClassCounts &s) {
        std::int64_t sum = 0;
        for (std::int64_t c : s.c) sum += c * c;
        return sum;
    }
    /// gain = ((S_1/n_1 + S_2/n_2 + ...) - S/n) / n
    static double gain(double branches, std::int64_t squares, std::int64_t n) {
        double g = (branches - as_double(squares) / as_double(n)) / as_double(n);
        return g < negligible_gain ? 0.0 : g;
    }
    Score score(const ClassCounts &node, std::span<const ClassCounts *const> branches) const {
        double sum = 0.0;
        for (const ClassCounts *b : branches) sum += as_double(sum_of_squares(*b)) / as_double(b->n);
        double g = gain(sum, sum_of_squares(node), node.n);
        return {g, g};
    }
    /// S_b <= n_b^2, so the sum over branches never exceeds n, also as rounded.
    double highest_quality(const ClassCounts &node) const {
        return gain(as_double(node.n), sum_of_squares(node), node.n);
    }
    /// impurity = 1 - S/n/n
    double impurity(const ClassCounts &node) const {
        return 1.0 - as_double(sum_of_squares(node)) / as_double(node.n) / as_double(node.n);
    }
};

} // namespace hornbeam
