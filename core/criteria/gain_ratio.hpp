// Gain ratio: information gain over the information of the split itself.
#pragma once

#include "criteria/entropy.hpp"

namespace hornbeam {

struct GainRatio {
    using Target = ClassTarget;
    static constexpr bool splits_at_zero = false;
    Entropy entropy;

    Score score(const ClassCounts &node, std::span<const ClassCounts *const> branches) const {
        Score s = entropy.score(node, branches);
        if (s.gain == 0.0) return s;
        const XlogTable &xlog = *entropy.xlog;
        double sum = 0.0;
        for (const ClassCounts *b : branches) sum += xlog(b->n);
        double split = (xlog(node.n) - sum) / as_double(node.n);
        return {s.gain / split, s.gain};
    }
    double highest_quality(const ClassCounts &) const { return std::numeric_limits<double>::infinity(); }
    double impurity(const ClassCounts &node) const { return entropy.impurity(node); }
};

} // namespace hornbeam
