// Growth of trees of numbers, with wide sums.
#include "criteria/widths.hpp"
#include "growth/growth.hpp"

namespace hornbeam {

template Forest grow_target(const GrowTask &, const SplitCriterion<NumericTarget<wide_numbers>> &,
                            const NumericTarget<wide_numbers> &);

} // namespace hornbeam
