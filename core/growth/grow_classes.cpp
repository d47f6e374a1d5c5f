// Growth of trees of classes, where rows are counted.
#include "growth/growth.hpp"

namespace hornbeam {

template Forest grow_target(const GrowTask &, const SplitCriterion<ClassTarget> &, const ClassTarget &);

} // namespace hornbeam
