// Growth of trees of numbers of weighted rows, with wide sums.
#include "criteria/widths.hpp"
#include "growth/growth.hpp"

namespace hornbeam {

template Forest grow_target(const GrowTask &, const SplitCriterion<WeightedTarget<wide_weighted_numbers>> &,
                            const WeightedTarget<wide_weighted_numbers> &);

} // namespace hornbeam
