// Error-based pruning where rows, classes or mistakes weigh differently.
#include "pruning/errors_weighed.hpp"

#include "criteria/widths.hpp"
#include "pruning/errors.hpp"

namespace hornbeam {

template <int W> Pruned prune_weighed(const FlatTree &tree, const PruneRows &rows, const PruneCosts &costs,
                                      double confidence, std::string_view criterion, Cancel &cancel) {
    return ErrorPruner<WeighedRows<W>>(tree, rows, costs, confidence, criterion, cancel).prune();
}

template Pruned prune_weighed<narrow_weights>(const FlatTree &, const PruneRows &, const PruneCosts &, double,
                                              std::string_view, Cancel &);
template Pruned prune_weighed<wide_weights>(const FlatTree &, const PruneRows &, const PruneCosts &, double,
                                            std::string_view, Cancel &);

} // namespace hornbeam
