// One growth per criterion, each compiled in a file of its own.
#pragma once

#include "criteria/weighted_classes.hpp"
#include "growth/grow.hpp"

namespace hornbeam {

Forest grow_gini(const GrowTask &task);
Forest grow_entropy(const GrowTask &task);
Forest grow_gain_ratio(const GrowTask &task);
Forest grow_c45(const GrowTask &task);
Forest grow_correlation(const GrowTask &task);
Forest grow_quest(const GrowTask &task);
Forest grow_variance(const GrowTask &task);

/// Rows, classes or mistakes that weigh differently.
Forest grow_weighted(const std::string &criterion, const GrowTask &task);
Forest grow_weighted_classes(ClassRule rule, const GrowTask &task);
Forest grow_weighted_variance(const GrowTask &task);

/// Where the weights lie, and what the factors of a set's classes are.
struct WeighedClasses {
    ClassRule rule = ClassRule::gini;
    int exponent = 0;                  // of the weights
    std::vector<ClassFactors> factors; // of each set; empty: 1 each
};
/// Growth with sums of 64 W bits; each width is compiled in a file of its own.
template <int W> Forest grow_weighed(const GrowTask &task, const WeighedClasses &classes);
inline constexpr int narrow_sums = 2, middle_sums = 4, wide_sums = 72; // the last holds any weights

} // namespace hornbeam
