// Growth of trees of weighted classes, with narrow sums.
#include "criteria/widths.hpp"
#include "growth/growth.hpp"

namespace hornbeam {

template Forest grow_target(const GrowTask &, const SplitCriterion<WeightedClassTarget<narrow_weights>> &,
                            const WeightedClassTarget<narrow_weights> &);

} // namespace hornbeam
