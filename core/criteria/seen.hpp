// What the grower asks of statistics, weighted or not: counted rows answer for themselves, weighted ones
// through their criterion, which knows units and factors.
#pragma once

#include "criteria/quality.hpp"
#include "criteria/variance.hpp"
#include "criteria/weighted.hpp"

namespace hornbeam {

/// Counts of classes of rows that all weigh 1: these alone are tallied by value.
template <class Stats> inline constexpr bool counts_rows = std::same_as<Stats, ClassCounts>;

inline bool present(std::int64_t count) { return count != 0; }
template <int W> bool present(const Fixed<W> &sum) { return !sum.zero(); }

/// Whether a weighs at least as much as b.
template <class Stats> bool as_heavy(const Stats &a, const Stats &b) {
    if constexpr (requires { a.weight; })
        return !below(a.weight, b.weight);
    else
        return a.n >= b.n;
}

/// Turns a criterion to a node of a set; it may keep what every test there asks for.
template <class C, class Stats> void open_node(C &criterion, std::int32_t set, const Stats &node) {
    if constexpr (requires { criterion.open(set, node); }) criterion.open(set, node);
}

/// The weight that qualities see, as a double.
template <class C, class Stats> double mass_of(const C &criterion, const Stats &s) {
    if constexpr (requires { criterion.mass(s); })
        return criterion.mass(s);
    else
        return as_double(s.n);
}

/// The share of a class, or the mean of a target from the rounded sum: what categories are ordered by.
template <class C, class Stats> double share_of(const C &criterion, const Stats &s, std::size_t k) {
    if constexpr (requires { criterion.share(s, k); })
        return criterion.share(s, k);
    else if constexpr (requires { s.c; })
        return as_double(s.c[k]) / as_double(s.n);
    else
        return nearest_double(s.y[k], criterion.exponent) / as_double(s.n);
}

/// What the tree keeps of a node: the sum of weights, that of a class, the mean of a target.
template <class C, class Stats> double weight_of(const C &criterion, const Stats &s) {
    if constexpr (requires { criterion.weight(s); })
        return criterion.weight(s);
    else
        return as_double(s.n);
}
template <class C, class Stats> double count_of(const C &criterion, const Stats &s, std::size_t k) {
    if constexpr (requires { criterion.count(s, k); })
        return criterion.count(s, k);
    else
        return as_double(s.c[k]);
}
template <class C, class Stats> double mean_of(const C &criterion, const Stats &s, std::size_t t) {
    if constexpr (requires { criterion.mean(s, t); })
        return criterion.mean(s, t);
    else
        return nearest_quotient(s.y[t], static_cast<std::uint64_t>(s.n), criterion.exponent);
}

/// Ascending by the share of a class: does category a come before b? Exact; factors of classes do not matter.
inline bool lower_share(const ClassCounts &a, const ClassCounts &b, std::size_t klass, bool &equal) {
    std::int64_t x = a.c[klass] * b.n, y = b.c[klass] * a.n;
    equal = x == y;
    return x < y;
}
template <int W>
bool lower_share(const ClassSums<W> &a, const ClassSums<W> &b, std::size_t klass, bool &equal) {
    auto d = product(a.c[klass], b.weight) - product(b.c[klass], a.weight);
    equal = d.zero();
    return d.negative();
}
/// Ascending by mean, exact.
template <int W> bool lower_mean(const TargetSums<W> &a, const TargetSums<W> &b, bool &equal) {
    Fixed<W> d = times(a.y[0], Variance<W>::count(b.n)) - times(b.y[0], Variance<W>::count(a.n));
    equal = d.zero();
    return d.negative();
}
template <int W> bool lower_mean(const WeightedSums<W> &a, const WeightedSums<W> &b, bool &equal) {
    auto d = product(a.y[0], b.weight) - product(b.y[0], a.weight);
    equal = d.zero();
    return d.negative();
}

} // namespace hornbeam
