// What a criterion is: a number computed only from statistics, by a literal expression in a fixed order.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>

namespace hornbeam {

/// Gains below this are noise of rounding and count as 0 (relative to the node's variance for numeric
/// targets).
inline constexpr double negligible_gain = 1e-12;

/// quality decides between tests; gain is the impurity decrease the test is reported with.
struct Score {
    double quality = 0.0;
    double gain = 0.0;
};

/// A criterion names its target, scores a test from the statistics of node and branches (never from rows),
/// says whether an impure node splits even when no test has a positive gain, and which gain no test of a node
/// can exceed (infinite where it cannot tell): having found that, a node need not look at further attributes.
template <class C>
concept Criterion = requires(const C &c, const typename C::Target::Stats &node,
                             std::span<const typename C::Target::Stats *const> branches) {
    typename C::Target;
    { c.score(node, branches) } -> std::same_as<Score>;
    { c.impurity(node) } -> std::same_as<double>;
    { c.highest_quality(node) } -> std::same_as<double>;
    { c.splits_at_zero } -> std::convertible_to<bool>;
};

inline double as_double(std::int64_t n) { return static_cast<double>(n); }

} // namespace hornbeam
