// Growth of weighted classes, wide sums.
#include "growth/grow_weighed.hpp"

namespace hornbeam {

template Forest grow_weighed<wide_sums>(const GrowTask &task, const WeighedClasses &classes);

} // namespace hornbeam
