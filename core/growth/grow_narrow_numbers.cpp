// Growth of trees of numbers, with narrow sums.
#include "criteria/widths.hpp"
#include "growth/growth.hpp"

namespace hornbeam {

template Forest grow_target(const GrowTask &, const SplitCriterion<NumericTarget<narrow_numbers>> &,
                            const NumericTarget<narrow_numbers> &);

} // namespace hornbeam
