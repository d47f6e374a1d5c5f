// Trees that are prefixes of a grown one: what limits of depth, size and gain, and cost-complexity pruning,
// leave of it. Paper 004 asks for many of them; here all are read off one tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pruning/prune.hpp"
#include "running/cancel.hpp"
#include "tree/tree.hpp"

namespace hornbeam {

/// Where a tree stops growing, besides where it has no test.
struct Cut {
    std::int64_t max_depth = -1; // below 0: no limit
    std::int64_t min_split = 2;
    double min_decrease = 0.0;
};

/// Where examples end in prefixes of a tree.
struct Ends {
    /// [prefix][node]: the node at which examples that reach a node of the tree end; -1 where they go on.
    std::vector<std::int32_t> end;
    std::vector<std::int64_t> leaves, depth; // of each prefix
};

/// The prefixes that growing with each of the cuts would have given. `mass` is as in cost_complexity_path.
Ends ends_of_cuts(const FlatTree &tree, std::span<const double> mass, std::span<const Cut> cuts,
                  Cancel &cancel);

/// The prefixes that cost-complexity pruning with each of the alphas leaves.
Ends ends_of_alphas(const FlatTree &tree, std::span<const double> mass, std::span<const double> alphas,
                    Cancel &cancel);

/// How many leaves come before each node, from left to right.
std::vector<std::int32_t> leaf_places(const FlatTree &tree);

/// The tree of one prefix; `end` is its part of Ends::end.
Pruned cut_tree(const FlatTree &tree, std::span<const std::int32_t> end, Cancel &cancel);

} // namespace hornbeam
