// Information gain (ID3).
#pragma once

#include "criteria/quality.hpp"
#include "criteria/statistics.hpp"
#include "numbers/fixed_xlog.hpp"

namespace hornbeam {

struct Entropy {
    using Target = ClassTarget;
    static constexpr bool splits_at_zero = true;
    const XlogTable *xlog = nullptr;
    const FixedXlog *fixed = nullptr; // of the rows of any set; fast scans ask for it

    /// n times the entropy: xlog(n) - (xlog(c_1) + xlog(c_2) + ...), classes in order.
    double content(const ClassCounts &s) const {
        double sum = 0.0;
        for (std::int64_t c : s.c) sum += (*xlog)(c);
        return (*xlog)(s.n) - sum;
    }
    static double gain_over(double node, double branches, double whole) {
        double g = (node - branches) / whole;
        return g < negligible_gain ? 0.0 : g;
    }
    static double gain(double node, double branches, std::int64_t n) {
        return gain_over(node, branches, as_double(n));
    }
    Score score(const ClassCounts &node, std::span<const ClassCounts *const> branches) const {
        double sum = 0.0;
        for (const ClassCounts *b : branches) sum += content(*b);
        double g = gain(content(node), sum, node.n);
        return {g, g};
    }
    /// No branch has less than no content.
    double highest_quality(const ClassCounts &node) const { return gain(content(node), 0.0, node.n); }
    double impurity(const ClassCounts &node) const { return content(node) / as_double(node.n); }
};

} // namespace hornbeam
