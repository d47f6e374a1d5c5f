// Growth of weighted classes with sums of one width.
#pragma once

#include "growth/grow_criteria.hpp"
#include "growth/growth.hpp"

namespace hornbeam {

template <int W> Forest grow_weighed(const GrowTask &task, const WeighedClasses &classes) {
    WeightedClassTarget<W> target{
        task.target.classes, task.target.n_classes, {task.target.weights, classes.exponent}};
    auto grown = [&](auto criterion) {
        WeightedClasses<W> &weighted = criterion;
        weighted.rule = classes.rule;
        weighted.splits_at_zero = classes.rule != ClassRule::gain_ratio;
        weighted.exponent = classes.exponent;
        weighted.factors = classes.factors.empty() ? nullptr : &classes.factors;
        return Growth<decltype(criterion)>(task, criterion, target).grow();
    };
    return classes.rule == ClassRule::c45 ? grown(C45<WeightedClasses<W>>{}) : grown(WeightedClasses<W>{});
}

} // namespace hornbeam
