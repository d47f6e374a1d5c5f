// Growth of trees of numbers of weighted rows, with narrow sums.
#include "criteria/widths.hpp"
#include "growth/growth.hpp"

namespace hornbeam {

template Forest grow_target(const GrowTask &, const SplitCriterion<WeightedTarget<narrow_weighted_numbers>> &,
                            const WeightedTarget<narrow_weighted_numbers> &);

} // namespace hornbeam
