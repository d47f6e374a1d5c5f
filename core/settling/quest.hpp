// Nodes that are settled from sums, as QUEST decides: the choice is computed again, and needs no bound.
#pragma once

#include <memory>

#include "settling/settling.hpp"

namespace hornbeam {

/// A numeric attribute of which not every value is known is judged by the sums that come with its set; only
/// the buckets around the cut of the attribute that is selected leave a node open.
std::unique_ptr<Settling> settle_by_quest(SettleTask task);

} // namespace hornbeam
