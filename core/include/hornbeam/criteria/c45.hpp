// C4.5, Release 8: each attribute enters its test of most information; the attributes are then compared by
// gain ratio, among those whose gain is not below the average.
#pragma once

#include "hornbeam/criteria/entropy.hpp"

namespace hornbeam {

/// The information of known rows, spread over all rows of the node: what an attribute's test is sought by.
/// The statistics that it is given are of known rows only.
struct KnownInformation {
    using Target = ClassTarget;
    static constexpr bool splits_at_zero = true;
    static constexpr bool of_known_rows = true;
    Entropy entropy;
    std::int64_t whole = 0; // rows of the node

    Score score(const ClassCounts &known, std::span<const ClassCounts *const> branches) const {
        double sum = 0.0;
        for (const ClassCounts *b : branches) sum += entropy.content(*b);
        double g = Entropy::gain(entropy.content(known), sum, whole);
        return {g, g};
    }
    double highest_quality(const ClassCounts &) const { return std::numeric_limits<double>::infinity(); }
    double impurity(const ClassCounts &node) const { return entropy.impurity(node); }
};

struct C45 {
    using Target = ClassTarget;
    static constexpr bool splits_at_zero = false;
    static constexpr bool compares_attributes = true;
    static constexpr double slack = 0.001; // of Release 8: below the average gain, and of split information
    Entropy entropy;

    KnownInformation sought_by(const ClassCounts &node) const { return {entropy, node.n}; }
    Score score(const ClassCounts &node, std::span<const ClassCounts *const> branches) const {
        return sought_by(node).score(node, branches);
    }
    double highest_quality(const ClassCounts &) const { return std::numeric_limits<double>::infinity(); }
    double impurity(const ClassCounts &node) const { return entropy.impurity(node); }

    /// What a cut pays for having been sought among `cuts`, at a node of n rows.
    double penalty(std::int64_t cuts, std::int64_t n) const {
        return (*entropy.xlog)(cuts) / as_double(cuts) / as_double(n);
    }
    /// The information of the split itself: branches of known rows, then the missing ones.
    double split(std::int64_t n, std::span<const std::int64_t> branches, std::int64_t missing) const {
        const XlogTable &xlog = *entropy.xlog;
        double sum = 0.0;
        for (std::int64_t b : branches) sum += xlog(b);
        if (missing != 0) sum += xlog(missing);
        return (xlog(n) - sum) / as_double(n);
    }
};

/// Whether a criterion scores tests by known rows alone, and whether it compares attributes once all have
/// entered their tests, rather than taking the best test as it comes.
template <class C> inline constexpr bool of_known_rows = requires { C::of_known_rows; };
template <class C> inline constexpr bool compares_attributes = requires { C::compares_attributes; };

} // namespace hornbeam
