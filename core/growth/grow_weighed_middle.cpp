// Growth of weighted classes, middle sums.
#include "growth/grow_weighed.hpp"

namespace hornbeam {

template Forest grow_weighed<middle_sums>(const GrowTask &task, const WeighedClasses &classes);

} // namespace hornbeam
