// Error-based pruning where rows, classes or mistakes weigh differently, with sums of one width.
#pragma once

#include "pruning/prune.hpp"

namespace hornbeam {

template <int W> Pruned prune_weighed(const FlatTree &tree, const PruneRows &rows, const PruneCosts &costs,
                                      double confidence, std::string_view criterion, Cancel &cancel);

} // namespace hornbeam
