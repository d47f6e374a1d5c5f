// Reduced-error pruning: losses on rows that were kept out of growing, all of them exact.
#include "pruning/prune.hpp"

#include "criteria/weighted.hpp"
#include "pruning/shape.hpp"

namespace hornbeam {

namespace {

/// Turns into leaves, from the bottom up, the nodes where `as_leaf(i)` is not above the losses below.
template <class Loss, class AsLeaf>
Pruned cut_where_no_worse(const FlatTree &tree, AsLeaf as_leaf, Cancel &cancel) {
    Shape shape(tree);
    std::vector<Loss> losses(tree.n_nodes());
    Pace pace(cancel, 5 * sizeof(Loss));
    for (std::size_t i = tree.n_nodes(); i-- > 0;) {
        pace.step();
        Loss own = as_leaf(i), below{};
        for (std::int32_t c = 0; c < tree.n_children[i]; ++c)
            below += losses[static_cast<std::size_t>(tree.first_child[i] + c)];
        bool cut = shape.leaf[i] || !(below - own).negative();
        shape.leaf[i] = cut;
        losses[i] = cut ? own : below;
    }
    return rebuild(tree, shape, cancel);
}

std::vector<std::int32_t> parents(const FlatTree &tree) {
    std::vector<std::int32_t> parent(tree.n_nodes(), -1);
    for (std::size_t i = 0; i < tree.n_nodes(); ++i)
        for (std::int32_t c = 0; c < tree.n_children[i]; ++c)
            parent[static_cast<std::size_t>(tree.first_child[i] + c)] = static_cast<std::int32_t>(i);
    return parent;
}

/// Adds what each row loses at each node on its way, were that a leaf.
template <class Loss, class Lost> Pruned sum_on_the_way(const FlatTree &tree, const PruneRows &rows,
                                                        std::span<const std::int32_t> leaves, Lost lost,
                                                        Cancel &cancel) {
    std::vector<std::int32_t> parent = parents(tree);
    std::vector<Loss> losses(tree.n_nodes());
    Pace pace(cancel, 5 * sizeof(Loss));
    for (std::size_t row = 0; row < rows.n_rows; ++row)
        for (std::int32_t at = leaves[row]; at >= 0; at = parent[static_cast<std::size_t>(at)]) {
            pace.step();
            lost(losses[static_cast<std::size_t>(at)], row, static_cast<std::size_t>(at));
        }
    return cut_where_no_worse<Loss>(tree, [&](std::size_t i) { return losses[i]; }, cancel);
}

Pruned count_errors(const FlatTree &tree, const PruneRows &rows, std::span<const std::int32_t> leaves,
                    std::span<const std::int32_t> said, Cancel &cancel) {
    auto lost = [&](Fixed<1> &errors, std::size_t row, std::size_t at) {
        errors.limb[0] += said[at] != static_cast<std::int32_t>(rows.classes[row]);
    };
    return sum_on_the_way<Fixed<1>>(tree, rows, leaves, lost, cancel);
}

/// Losses are weight * loss[k][j], in units of the product of both units.
template <int W> Pruned sum_losses(const FlatTree &tree, const PruneRows &rows,
                                   std::span<const std::int32_t> leaves, std::span<const std::int32_t> said,
                                   std::span<const double> loss, int low_weight, int low_loss,
                                   Cancel &cancel) {
    const RowWeights weights{rows.weights, low_weight};
    const auto n_classes = static_cast<std::size_t>(tree.n_classes);
    auto lost = [&](Fixed<W> &sum, std::size_t row, std::size_t at) {
        Decomposed d = decompose(loss[rows.classes[row] * n_classes + static_cast<std::size_t>(said[at])]);
        RowWeights::Units w = weights[row];
        if (d.mantissa == 0 || w.mantissa == 0) return;
        sum.add_shifted(static_cast<__int128>(d.mantissa) * w.mantissa,
                        static_cast<unsigned>(d.exponent - low_loss) + w.shift);
    };
    return sum_on_the_way<Fixed<W>>(tree, rows, leaves, lost, cancel);
}

Pruned prune_classes(const FlatTree &tree, const PruneRows &rows, const PruneCosts &costs,
                     std::span<const std::int32_t> leaves, std::span<const std::int32_t> said,
                     Cancel &cancel) {
    if (rows.weights.empty() && costs.equal()) return count_errors(tree, rows, leaves, said, cancel);
    const auto n_classes = static_cast<std::size_t>(tree.n_classes);
    std::vector<double> loss(costs.loss.begin(), costs.loss.end());
    for (std::size_t i = 0; loss.size() < n_classes * n_classes; ++i) {
        bool right = i / n_classes == i % n_classes;
        loss.push_back(right ? 0.0 : costs.weight.empty() ? 1.0 : costs.weight[i / n_classes]);
    }
    const ExponentSpan weight_span = span_of(rows.weights, cancel), loss_span = span_of(loss, cancel);
    int bits = weight_span.bits() + loss_span.bits() + 32 + 1; // fewer than 2^32 rows, and a sign
    auto prune = bits <= 64 * 3 ? sum_losses<3> : bits <= 64 * 8 ? sum_losses<8> : sum_losses<68>;
    return prune(tree, rows, leaves, said, loss, weight_span.lowest, loss_span.lowest, cancel);
}

/// The squared errors of the rows at a node, were it a leaf: sum of w y^2 - 2 mean w y + mean^2 w, all in
/// units of 2^(2 low) times that of the weights.
template <int W> Pruned prune_numbers(const FlatTree &tree, const PruneRows &rows,
                                      std::span<const std::int32_t> leaves, int low, int low_weight,
                                      Cancel &cancel) {
    auto q = static_cast<std::size_t>(tree.n_targets);
    WeightedTarget<W> target{rows.values, q, low, {rows.weights, low_weight}};
    std::vector<WeightedSums<W>> sums(tree.n_nodes(), target.zero());
    for (std::size_t row = 0; row < rows.n_rows; ++row) {
        if (row % 4096 == 0) cancel.poll();
        if (rows.weights.empty() || rows.weights[row] != 0.0)
            target.add(sums[static_cast<std::size_t>(leaves[row])], row, 1);
    }
    for (std::size_t i = tree.n_nodes(); i-- > 0;) {
        for (std::int32_t c = 0; c < tree.n_children[i]; ++c)
            sums[i] += sums[static_cast<std::size_t>(tree.first_child[i] + c)];
        cancel.poll();
    }
    return cut_where_no_worse<Fixed<W>>(
        tree,
        [&](std::size_t i) {
            Fixed<W> loss;
            for (std::size_t t = 0; t < q; ++t) {
                loss += sums[i].yy[t];
                Decomposed mean = decompose(tree.mean[i * q + t]);
                if (mean.mantissa == 0) continue;
                bool negative = mean.mantissa < 0;
                auto size = static_cast<std::uint64_t>(negative ? -mean.mantissa : mean.mantissa);
                auto shift = static_cast<unsigned>(mean.exponent - low);
                Fixed<W> twice = shifted<W>(times(sums[i].y[t], 2 * size), shift);
                negative ? loss += twice : loss -= twice;
                loss += shifted<W>(times(times(sums[i].weight, size), size), 2 * shift);
            }
            return loss;
        },
        cancel);
}

Pruned prune_numbers(const FlatTree &tree, const PruneRows &rows, std::span<const std::int32_t> leaves,
                     Cancel &cancel) {
    const ExponentSpan span = span_of(tree.mean, cancel, span_of(rows.values, cancel)),
                       weights = span_of(rows.weights, cancel);
    // w (|y| + |mean|)^2 of fewer than 2^31 rows and fewer than 2^20 targets, and a sign.
    int bits = weights.bits() + 2 * span.bits() + 2 + 31 + 20 + 1;
    auto prune = bits <= 64 * 5    ? prune_numbers<5>
                 : bits <= 64 * 8  ? prune_numbers<8>
                 : bits <= 64 * 16 ? prune_numbers<16>
                                   : prune_numbers<100>; // all doubles there are
    return prune(tree, rows, leaves, span.lowest, weights.lowest, cancel);
}

} // namespace

Pruned prune_by_validation(const FlatTree &tree, const PruneRows &rows, const PruneCosts &costs,
                           std::span<const std::int32_t> said, int threads, Cancel &cancel) {
    std::vector<std::int32_t> leaves(rows.n_rows);
    Router(tree, rows.attribute_kinds, cancel)
        .apply(rows.columns, rows.n_rows, threads, leaves.data(), cancel);
    return tree.n_classes > 0 ? prune_classes(tree, rows, costs, leaves, said, cancel)
                              : prune_numbers(tree, rows, leaves, cancel);
}

} // namespace hornbeam
