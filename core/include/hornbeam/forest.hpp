// Trees grown together: one structure for all training sets, shared while their tests agree (paper 000,
// figure 5).
#pragma once

#include <cstdint>
#include <vector>

#include "hornbeam/cancel.hpp"
#include "hornbeam/level_costs.hpp"
#include "hornbeam/tree.hpp"

namespace hornbeam {

/// What one training set knows at one node of the forest.
struct LaneRecord {
    std::int32_t set = 0;
    std::int32_t arm = -1; // the arm its test takes; -1: a leaf of its tree
    std::int64_t rows = 0;
    double weight = 0.0;
    double impurity = 0.0;
    double gain = 0.0;
    double threshold = 0.0;
    std::int64_t threshold_integer = 0;
    std::int32_t default_child = -1; // child of the arm
    std::uint64_t count_begin = 0, count_end = 0;
    std::uint64_t branch_begin = 0, branch_end = 0;
    std::uint64_t competitor_begin = 0, competitor_end = 0;
};

/// A test that a training set did not take at a node.
struct Competitor {
    std::int32_t attribute = -1;
    TestKind kind = TestKind::leaf;
    std::int32_t default_child = -1;
    double threshold = 0.0;
    std::int64_t threshold_integer = 0;
    double quality = 0.0;
    double gain = 0.0;
    std::uint64_t branch_begin = 0, branch_end = 0;
};

/// One of the tests chosen at a node. A node whose sets disagree has several arms: a bifurcation.
struct Arm {
    std::int32_t attribute = -1;
    TestKind kind = TestKind::leaf;
    std::int32_t first_child = -1; // children are consecutive nodes
    std::int32_t n_children = 0;
};

struct ForestNode {
    std::uint64_t lane_begin = 0, lane_end = 0;
};

/// Invariant: records of a node are consecutive in `lanes`; `mean` holds n_targets numbers per record.
struct Forest {
    std::int32_t n_sets = 1;
    std::int32_t n_classes = 0;
    std::int32_t n_targets = 0;
    std::vector<ForestNode> nodes;
    std::vector<LaneRecord> lanes;
    std::vector<Arm> arms;
    std::vector<std::int32_t> count_class;
    std::vector<double> count;
    std::vector<double> mean;
    std::vector<std::int32_t> branch_code, branch_child;
    std::vector<std::vector<double>> class_weight; // of each set, where classes weigh differently
    bool keeps_competitors = false;
    std::vector<Competitor> competitors;
    LevelCosts costs;
    std::vector<std::uint32_t> order; // of one set: its rows, leaf after leaf in preorder

    /// Puts a forest grown apart in the place of a node; its root becomes that node.
    void graft(std::size_t node, const Forest &part);
    /// The tree of one training set, breadth first.
    FlatTree extract(std::int32_t set, Cancel &cancel) const;
    std::size_t record_of(std::size_t node, std::int32_t set) const;
};

} // namespace hornbeam
