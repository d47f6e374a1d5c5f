// Growth of weighted classes, narrow sums.
#include "growth/grow_weighed.hpp"

namespace hornbeam {

template Forest grow_weighed<narrow_sums>(const GrowTask &task, const WeighedClasses &classes);

} // namespace hornbeam
