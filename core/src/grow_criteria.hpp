// One growth per criterion, each compiled in a file of its own.
#pragma once

#include "hornbeam/grow.hpp"

namespace hornbeam {

Forest grow_gini(const GrowTask &task);
Forest grow_entropy(const GrowTask &task);
Forest grow_gain_ratio(const GrowTask &task);
Forest grow_c45(const GrowTask &task);
Forest grow_variance(const GrowTask &task);

} // namespace hornbeam
