// Settling of weighted classes, narrow sums.
#include "criteria/widths.hpp"
#include "settling/weighed.hpp"

namespace hornbeam {

template std::unique_ptr<Settling> settle_weighed<narrow_weights>(SettleTask task,
                                                                  std::shared_ptr<const WeighedSets> sets);

} // namespace hornbeam
