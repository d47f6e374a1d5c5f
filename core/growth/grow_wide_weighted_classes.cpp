// Growth of trees of weighted classes, with wide sums.
#include "criteria/widths.hpp"
#include "growth/growth.hpp"

namespace hornbeam {

template Forest grow_target(const GrowTask &, const SplitCriterion<WeightedClassTarget<wide_weights>> &,
                            const WeightedClassTarget<wide_weights> &);

} // namespace hornbeam
