// One tree as flat arrays: what the grower hands out, what routing reads, what a file stores.
#pragma once

#include <cstdint>
#include <vector>

namespace hornbeam {

enum class TestKind : std::uint8_t { leaf = 0, numeric = 1, subset = 2, value = 3, multiway = 4 };

/// The best tests of other attributes, best first, of each node; node i owns start[i] .. start[i + 1], a leaf
/// none. `start` is empty where they were not asked for. The fields of a test are those of FlatTree; a
/// multiway test has a child for each of its categories.
struct FlatCompetitors {
    std::vector<std::int64_t> start;
    std::vector<std::uint8_t> kind;
    std::vector<std::int32_t> attribute;
    std::vector<std::int32_t> default_child;
    std::vector<double> threshold;
    std::vector<std::int64_t> threshold_integer;
    std::vector<double> quality;
    std::vector<double> gain;
    std::vector<std::int64_t> branch_start; // competitor i owns branch_start[i] .. branch_start[i + 1]
    std::vector<std::int32_t> branch_code;
    std::vector<std::int32_t> branch_child;
};

/// Invariants (checked by verify): node 0 is the root; the children of a node are the consecutive nodes
/// first_child .. first_child + n_children - 1, all greater than the node; every node but the root has one
/// parent; a numeric, subset or value node has two children, child 0 is the one where the test holds.
struct FlatTree {
    std::int32_t n_classes = 0; // 0 for regression
    std::int32_t n_targets = 0; // 0 for classification
    // per node
    std::vector<std::uint8_t> kind;
    std::vector<std::int32_t> attribute;   // -1 at a leaf
    std::vector<std::int32_t> first_child; // -1 at a leaf
    std::vector<std::int32_t> n_children;  // 0 at a leaf
    std::vector<std::int32_t>
        default_child;             // which child (0-based) takes missing and never seen values; -1 at a leaf
    std::vector<double> threshold; // numeric test on a float attribute: value <= threshold goes to child 0
    std::vector<std::int64_t> threshold_integer; // the same for an integer attribute
    std::vector<std::int64_t> rows;              // rows of the training set, times multiplicity
    std::vector<double> weight;                  // sum of weights (= rows without weights)
    std::vector<double> impurity;
    std::vector<double> gain; // impurity decrease of the test; 0 at a leaf
    // nominal tests: categories present at the node, ascending, and the child each goes to; node i owns
    // branch_start[i] .. branch_start[i + 1]. A subset or value test (of the latter those with default child
    // 1) below another test of its attribute may be brief: it lists no category that goes to its default
    // child. Present are then those that the nearest test of the attribute above sends here, without the ones
    // listed with child -1
    std::vector<std::int64_t> branch_start;
    std::vector<std::int32_t> branch_code;
    std::vector<std::int32_t> branch_child;
    // classification: the classes present at the node, ascending, and their weight sums
    std::vector<std::int64_t> count_start;
    std::vector<std::int32_t> count_class;
    std::vector<double> count;
    // regression: mean of each target, node-major
    std::vector<double> mean;
    FlatCompetitors competitors;

    std::size_t n_nodes() const { return kind.size(); }
};

} // namespace hornbeam
