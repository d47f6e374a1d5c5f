// Growth by criterion, and by what rows and classes weigh.
#pragma once

#include "criteria/c45.hpp"
#include "criteria/weighted_classes.hpp"
#include "growth/grow.hpp"

namespace hornbeam {

Forest grow_counted_classes(const std::string &criterion, const GrowTask &task);
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

/// Calls `use` with the criterion of weighted classes. `Classes`: WeightedClasses of some width.
template <class Classes, class Use> auto by_rule(const WeighedClasses &classes, Use use) {
    auto made = [&](auto criterion) {
        Classes &weighted = criterion;
        weighted.rule = classes.rule;
        weighted.splits_at_zero = classes.rule != ClassRule::gain_ratio;
        weighted.exponent = classes.exponent;
        weighted.factors = classes.factors.empty() ? nullptr : &classes.factors;
        return use(criterion);
    };
    return classes.rule == ClassRule::c45 ? made(C45<Classes>{}) : made(Classes{});
}

} // namespace hornbeam
