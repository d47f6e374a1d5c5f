// Growth of weighted classes with sums of one width.
#pragma once

#include "grow_criteria.hpp"
#include "hornbeam/growth.hpp"

namespace hornbeam {

template <int W> Forest grow_weighed(const GrowTask &task, const WeighedClasses &classes) {
    WeightedClasses<W> criterion;
    criterion.rule = classes.rule;
    criterion.splits_at_zero = classes.rule != ClassRule::gain_ratio;
    criterion.exponent = classes.exponent;
    criterion.factors = classes.factors.empty() ? nullptr : &classes.factors;
    WeightedClassTarget<W> target{
        task.target.classes, task.target.n_classes, {task.target.weights, classes.exponent}};
    return Growth<WeightedClasses<W>>(task, criterion, target).grow();
}

} // namespace hornbeam
