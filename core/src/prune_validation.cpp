// Reduced-error pruning: losses on rows that were kept out of growing, all of them exact.
#include "hornbeam/prune.hpp"

#include <algorithm>
#include <limits>

#include "hornbeam/exact.hpp"
#include "prune_shape.hpp"

namespace hornbeam {

namespace {

/// Turns into leaves, from the bottom up, the nodes where `as_leaf(i)` is not above the losses below.
template <class Loss, class AsLeaf> Pruned cut_where_no_worse(const FlatTree &tree, AsLeaf as_leaf) {
    Shape shape(tree);
    std::vector<Loss> losses(tree.n_nodes());
    for (std::size_t i = tree.n_nodes(); i-- > 0;) {
        Loss own = as_leaf(i), below{};
        for (std::int32_t c = 0; c < tree.n_children[i]; ++c)
            below += losses[static_cast<std::size_t>(tree.first_child[i] + c)];
        bool cut = shape.leaf[i] || !(below - own).negative();
        shape.leaf[i] = cut;
        losses[i] = cut ? own : below;
    }
    return rebuild(tree, shape);
}

std::vector<std::int32_t> parents(const FlatTree &tree) {
    std::vector<std::int32_t> parent(tree.n_nodes(), -1);
    for (std::size_t i = 0; i < tree.n_nodes(); ++i)
        for (std::int32_t c = 0; c < tree.n_children[i]; ++c)
            parent[static_cast<std::size_t>(tree.first_child[i] + c)] = static_cast<std::int32_t>(i);
    return parent;
}

Pruned prune_classes(const FlatTree &tree, const PruneRows &rows, std::span<const std::int32_t> leaves,
                     Cancel &cancel) {
    std::vector<std::int32_t> parent = parents(tree), said(tree.n_nodes());
    for (std::size_t i = 0; i < said.size(); ++i) said[i] = tree.count_class[predicted(tree, i)];
    std::vector<Fixed<1>> errors(tree.n_nodes());
    for (std::size_t row = 0; row < rows.n_rows; ++row) {
        if (row % 4096 == 0) cancel.poll();
        for (std::int32_t at = leaves[row]; at >= 0; at = parent[static_cast<std::size_t>(at)])
            errors[static_cast<std::size_t>(at)].limb[0] +=
                said[static_cast<std::size_t>(at)] != static_cast<std::int32_t>(rows.classes[row]);
    }
    return cut_where_no_worse<Fixed<1>>(tree, [&](std::size_t i) { return errors[i]; });
}

/// a * 2^shift.
template <int W> Fixed<W> shifted(const Fixed<W> &a, unsigned shift) {
    Fixed<W> r;
    int limbs = static_cast<int>(shift / 64), bits = static_cast<int>(shift % 64);
    for (int i = W - 1; i >= limbs; --i) {
        r.limb[i] = a.limb[i - limbs] << bits;
        if (bits != 0 && i > limbs) r.limb[i] |= a.limb[i - limbs - 1] >> (64 - bits);
    }
    return r;
}

/// Powers of two that bound all numbers: multiples of 2^low, below 2^high.
struct Range {
    int low = std::numeric_limits<int>::max();
    int high = std::numeric_limits<int>::min();
    void include(double x) {
        Decomposed d = decompose(x);
        if (d.mantissa == 0) return;
        low = std::min(low, d.exponent);
        high = std::max(high, std::ilogb(x) + 1);
    }
};

/// The squared errors of the rows at a node, were it a leaf: sum of y^2 - 2 mean y + mean^2, all in units of
/// 2^(2 low).
template <int W> Pruned prune_numbers(const FlatTree &tree, const PruneRows &rows,
                                      std::span<const std::int32_t> leaves, int low, Cancel &cancel) {
    auto q = static_cast<std::size_t>(tree.n_targets);
    std::vector<Fixed<W>> sum(tree.n_nodes() * q), squares(tree.n_nodes());
    std::vector<std::int64_t> n(tree.n_nodes());
    auto unit = [low](const Decomposed &d) { return static_cast<unsigned>(d.exponent - low); };
    for (std::size_t row = 0; row < rows.n_rows; ++row) {
        if (row % 4096 == 0) cancel.poll();
        auto leaf = static_cast<std::size_t>(leaves[row]);
        ++n[leaf];
        for (std::size_t t = 0; t < q; ++t) {
            Decomposed y = decompose(rows.values[row * q + t]);
            if (y.mantissa == 0) continue;
            sum[leaf * q + t].add_shifted(y.mantissa, unit(y));
            squares[leaf].add_shifted(static_cast<__int128>(y.mantissa) * y.mantissa, 2 * unit(y));
        }
    }
    for (std::size_t i = tree.n_nodes(); i-- > 0;) {
        for (std::int32_t c = 0; c < tree.n_children[i]; ++c) {
            auto child = static_cast<std::size_t>(tree.first_child[i] + c);
            n[i] += n[child];
            squares[i] += squares[child];
            for (std::size_t t = 0; t < q; ++t) sum[i * q + t] += sum[child * q + t];
        }
        cancel.poll();
    }
    return cut_where_no_worse<Fixed<W>>(tree, [&](std::size_t i) {
        Fixed<W> loss = squares[i];
        for (std::size_t t = 0; t < q; ++t) {
            Decomposed mean = decompose(tree.mean[i * q + t]);
            if (mean.mantissa == 0) continue;
            bool negative = mean.mantissa < 0;
            auto size = static_cast<std::uint64_t>(negative ? -mean.mantissa : mean.mantissa);
            Fixed<W> twice = shifted(times(sum[i * q + t], 2 * size), unit(mean)), square;
            negative ? loss += twice : loss -= twice;
            square.add_shifted(static_cast<__int128>(size) * size, 2 * unit(mean));
            loss += times(square, static_cast<std::uint64_t>(n[i]));
        }
        return loss;
    });
}

Pruned prune_numbers(const FlatTree &tree, const PruneRows &rows, std::span<const std::int32_t> leaves,
                     Cancel &cancel) {
    Range range;
    for (double y : rows.values) range.include(y);
    for (double mean : tree.mean) range.include(mean);
    int low = std::min(range.low, range.high); // nothing but zeros: both are where they began
    // (|y| + |mean|)^2 of fewer than 2^31 rows and fewer than 2^20 targets, and a sign.
    long bits = 2L * (std::max(range.high, low) - low) + 2 + 31 + 20 + 1;
    if (range.low > range.high || bits <= 64 * 5) return prune_numbers<5>(tree, rows, leaves, low, cancel);
    if (bits <= 64 * 8) return prune_numbers<8>(tree, rows, leaves, low, cancel);
    if (bits <= 64 * 16) return prune_numbers<16>(tree, rows, leaves, low, cancel);
    return prune_numbers<66>(tree, rows, leaves, low, cancel); // all doubles there are
}

} // namespace

Pruned prune_by_validation(const FlatTree &tree, const PruneRows &rows, int threads, Cancel &cancel) {
    std::vector<std::int32_t> leaves(rows.n_rows);
    Router(tree, rows.attribute_kinds, cancel)
        .apply(rows.columns, rows.n_rows, threads, leaves.data(), cancel);
    return tree.n_classes > 0 ? prune_classes(tree, rows, leaves, cancel)
                              : prune_numbers(tree, rows, leaves, cancel);
}

} // namespace hornbeam
