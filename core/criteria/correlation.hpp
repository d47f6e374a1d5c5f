// Index of correlation: chi-squared of branches and classes, divided by the size of the node.
#pragma once

#include "criteria/gini.hpp"

namespace hornbeam {

struct Correlation {
    using Target = ClassTarget;
    static constexpr bool splits_at_zero = true;
    Gini gini;

    /// sum over the classes present of d(D_k)^2 / d(c_k), D_k = m * a_k - n * b_k.
    static double distance(const ClassCounts &node, std::int64_t m, const ClassCounts &a, std::int64_t n,
                           const ClassCounts &b) {
        double sum = 0.0;
        for (std::size_t k = 0; k < node.c.size(); ++k) {
            if (node.c[k] == 0) continue;
            double d = as_double(m * a.c[k] - n * b.c[k]);
            sum += (d * d) / as_double(node.c[k]);
        }
        return sum;
    }
    Score score(const ClassCounts &node, std::span<const ClassCounts *const> branches) const {
        double n = as_double(node.n), index = 0.0;
        if (branches.size() == 2) {
            const ClassCounts &l = *branches[0], &r = *branches[1];
            index = distance(node, r.n, l, l.n, r) / (n * (as_double(l.n) * as_double(r.n)));
        } else {
            for (const ClassCounts *b : branches)
                index += distance(node, node.n, *b, b->n, node) / (n * n) / as_double(b->n);
        }
        return {index >= negligible_gain ? index : 0.0, gini.score(node, branches).gain};
    }
    double highest_quality(const ClassCounts &) const { return std::numeric_limits<double>::infinity(); }
    double impurity(const ClassCounts &node) const { return gini.impurity(node); }
};

} // namespace hornbeam
