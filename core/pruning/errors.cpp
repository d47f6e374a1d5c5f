// Error-based pruning of rows that count once each, and the choice of how wide other sums have to be.
#include "pruning/errors.hpp"

#include <bit>

#include "criteria/widths.hpp"
#include "pruning/errors_weighed.hpp"

namespace hornbeam {

Pruned prune_by_errors(const FlatTree &tree, const PruneRows &rows, const PruneCosts &costs,
                       double confidence, std::string_view criterion, Cancel &cancel) {
    if (tree.n_nodes() == 1) return rebuild(tree, Shape(tree), cancel);
    if (rows.weights.empty() && costs.equal())
        return ErrorPruner<CountedRows>(tree, rows, costs, confidence, criterion, cancel).prune();
    const ExponentSpan span = span_of(rows.weights, cancel);
    int bits = 0;
    factors_of(costs.factor, bits);
    bits += span.bits() + static_cast<int>(std::bit_width(rows.n_rows)) + 2;
    auto prune = holds(narrow_weights, bits) ? prune_weighed<narrow_weights> : prune_weighed<wide_weights>;
    return prune(tree, rows, costs, confidence, criterion, cancel);
}

} // namespace hornbeam
