// Pruning (docs/law.md): from a grown tree to a smaller one; the grown one stays as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "criteria/statistics.hpp"
#include "running/cancel.hpp"
#include "tree/route.hpp"
#include "tree/tree.hpp"

namespace hornbeam {

/// Rows that take part in pruning. One entry of `columns` for each attribute.
struct PruneRows {
    std::span<const RouteColumn> columns;
    std::span<const std::uint8_t> attribute_kinds;
    std::size_t n_rows = 0;
    std::span<const ClassCode> classes;   // classification
    std::span<const double> values;       // regression: row by row, n_targets numbers each
    std::span<const double> weights;      // finite, from 0, where a row is absent; none: 1 each
    std::span<const std::uint32_t> order; // the rows leaf after leaf, as the grower left them, where known
};

/// What classes weigh and mistakes cost, as the tree was grown; each may be empty.
struct PruneCosts {
    std::span<const double> weight; // v
    std::span<const double> loss;   // v_k * cost[k][j], a row for each k
    std::span<const double> factor; // z
    bool equal() const { return weight.empty() && loss.empty() && factor.empty(); }
};

/// The rows are not those that the tree was grown from.
struct OtherRows : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// What is left of a tree. `origin` says of each node whose test it asks, by its number in the grown tree; -1
/// at a leaf.
struct Pruned {
    FlatTree tree;
    std::vector<std::int32_t> origin;
};

/// C4.5's last step of growth: a subtree that makes no fewer errors than a leaf becomes one. `said` is the
/// class that each node predicts.
Pruned collapse(const FlatTree &tree, std::span<const std::int32_t> said, Cancel &cancel);

/// C4.5's pruning by expected errors, with subtree raising. `rows` are those that the tree was grown from,
/// else OtherRows is thrown. `criterion` gives the impurity of nodes whose rows change. 0 < confidence <= 1.
Pruned prune_by_errors(const FlatTree &tree, const PruneRows &rows, const PruneCosts &costs,
                       double confidence, std::string_view criterion, Cancel &cancel);

/// What n rows with e errors are expected to get wrong: e and what C4.5 adds to it. n > 0.
double expected_errors(double n, double e, double confidence);

/// From alpha[i] on the tree of step i is the best one; impurity[i] is R summed over its leaves.
struct CostPath {
    std::vector<double> alpha;
    std::vector<double> impurity;
};

/// `mass` is d(u) of each node, the weight that impurities were computed from.
CostPath cost_complexity_path(const FlatTree &tree, std::span<const double> mass, Cancel &cancel);
/// The alpha from which on each node is a leaf; infinite where it never becomes one, or only goes with a node
/// above it.
std::vector<double> complexity_steps(const FlatTree &tree, std::span<const double> mass, Cancel &cancel);
Pruned prune_by_complexity(const FlatTree &tree, std::span<const double> mass, double alpha, Cancel &cancel);

/// d(u) of each node from the counts that the tree holds: the exact sum of factor times count.
std::vector<double> masses(std::span<const std::int64_t> count_start,
                           std::span<const std::int32_t> count_class, std::span<const double> count,
                           std::span<const double> factor, Cancel &cancel);

/// A node becomes a leaf where that loses no more on `rows`, which were kept out of growing. `said` is the
/// class that each node predicts.
Pruned prune_by_validation(const FlatTree &tree, const PruneRows &rows, const PruneCosts &costs,
                           std::span<const std::int32_t> said, int threads, Cancel &cancel);

} // namespace hornbeam
