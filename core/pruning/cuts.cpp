// Prefixes of a tree: a pass from the root down for each of them.
#include "pruning/cuts.hpp"

#include <algorithm>

#include "pruning/shape.hpp"

namespace hornbeam {

namespace {

/// Nodes are numbered level by level, so a node comes before its children.
std::vector<std::int32_t> depths_of(const FlatTree &tree) {
    std::vector<std::int32_t> depth(tree.n_nodes());
    for (std::size_t i = 0; i < depth.size(); ++i)
        for (std::int32_t c = 0; c < tree.n_children[i]; ++c)
            depth[static_cast<std::size_t>(tree.first_child[i] + c)] = depth[i] + 1;
    return depth;
}

/// `stops(prefix, node)` says whether an inner node is a leaf of a prefix that reaches it.
template <class Stops> Ends ends_where(const FlatTree &tree, std::size_t n_prefixes,
                                       const std::vector<std::int32_t> &depth, Cancel &cancel, Stops stops) {
    const std::size_t n = tree.n_nodes();
    Ends ends;
    ends.end.resize(n_prefixes * n, -1);
    for (std::size_t k = 0; k < n_prefixes; ++k) {
        cancel.poll();
        std::int32_t *end = ends.end.data() + k * n;
        std::int64_t leaves = 0, deepest = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (end[i] < 0 && (tree.n_children[i] == 0 || stops(k, i))) {
                end[i] = static_cast<std::int32_t>(i);
                ++leaves;
                deepest = std::max<std::int64_t>(deepest, depth[i]);
            }
            for (std::int32_t c = 0; c < tree.n_children[i]; ++c)
                end[static_cast<std::size_t>(tree.first_child[i] + c)] = end[i];
        }
        ends.leaves.push_back(leaves);
        ends.depth.push_back(deepest);
    }
    return ends;
}

} // namespace

Ends ends_of_cuts(const FlatTree &tree, std::span<const double> mass, std::span<const Cut> cuts,
                  Cancel &cancel) {
    const std::vector<std::int32_t> depth = depths_of(tree);
    return ends_where(tree, cuts.size(), depth, cancel, [&](std::size_t k, std::size_t i) {
        const Cut &cut = cuts[k];
        return (cut.max_depth >= 0 && depth[i] >= cut.max_depth) || tree.rows[i] < cut.min_split ||
               mass[i] / mass[0] * tree.gain[i] < cut.min_decrease;
    });
}

Ends ends_of_alphas(const FlatTree &tree, std::span<const double> mass, std::span<const double> alphas,
                    Cancel &cancel) {
    const std::vector<double> step = complexity_steps(tree, mass, cancel);
    return ends_where(tree, alphas.size(), depths_of(tree), cancel,
                      [&](std::size_t k, std::size_t i) { return alphas[k] > 0.0 && step[i] <= alphas[k]; });
}

std::vector<std::int32_t> leaf_places(const FlatTree &tree) {
    std::vector<std::int32_t> place(tree.n_nodes());
    std::vector<std::size_t> waiting{0};
    std::int32_t leaves = 0;
    while (!waiting.empty()) {
        const std::size_t i = waiting.back();
        waiting.pop_back();
        place[i] = leaves;
        leaves += tree.n_children[i] == 0;
        for (std::int32_t c = tree.n_children[i]; c-- > 0;)
            waiting.push_back(static_cast<std::size_t>(tree.first_child[i] + c));
    }
    return place;
}

Pruned cut_tree(const FlatTree &tree, std::span<const std::int32_t> end, Cancel &cancel) {
    Shape shape(tree);
    for (std::size_t i = 0; i < end.size(); ++i) shape.leaf[i] = end[i] == static_cast<std::int32_t>(i);
    return rebuild(tree, shape, cancel);
}

} // namespace hornbeam
