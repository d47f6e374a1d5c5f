// One growth for each kind of target, whichever criterion is behind it.
#pragma once

#include "choice/split_criterion.hpp"
#include "growth/grow.hpp"

namespace hornbeam {

/// `target`: that of the table's rows. Each kind is compiled in a file of its own, as are its choosers.
template <class Target>
Forest grow_target(const GrowTask &task, const SplitCriterion<Target> &criterion, const Target &target);

} // namespace hornbeam
