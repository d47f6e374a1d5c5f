// First-order trees of several training sets, grown together: tests are queries, evaluated once for all sets.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "first_order/coverage.hpp"
#include "growth/grow.hpp"
#include "table/training_sets.hpp"

namespace hornbeam {

enum class FirstOrderCriterion : std::uint8_t { entropy, gain_ratio, variance };

struct FirstOrderParameters {
    FirstOrderCriterion criterion = FirstOrderCriterion::gain_ratio;
    std::int64_t min_samples_leaf = 2;
    std::int64_t max_depth = -1; // none
    double ftest = 0.05;   // the level at which a test must be significant; not above 0: none is asked for
    double accuracy = 1.0; // a node whose majority has this share is a leaf
};

struct FirstOrderTask {
    const RelationalDatabase &database;
    const LanguageBias &bias;
    FirstOrderParameters parameters;
    GrowTarget target;               // classes or numbers; examples of no set have any value
    std::vector<TrainingSets> parts; // so many at a time as grow together
    EngineSwitches switches;
    std::uint64_t budget = 100'000;
    unsigned threads = 1;
    Cancel &cancel;
    GrowProgress *progress = nullptr;
};

/// Between which codes of a domain a threshold lies.
struct Threshold {
    std::int32_t domain = 0;
    Code lo = 0, hi = 0;

    bool operator==(const Threshold &) const = default;
};

/// What became of some sets at a node: the same test.
struct Outcome {
    SetMask sets = 0;
    std::int32_t test = -1; // among the forest's
    std::int32_t yes = -1, no = -1;
};

/// Sets of a node that are in no outcome have a leaf there. `counts` has those of each set, one after the
/// other in order: the examples of each class; or how many, their mean, the squared deviations from it.
struct FirstOrderNode {
    SetMask sets = 0;
    std::int32_t depth = 0;
    std::vector<Outcome> outcomes;
    std::vector<double> counts;
};

/// The trees of sets that were grown together. Node 0 is the root of all of them.
struct FirstOrderPart {
    std::int32_t n_sets = 0;
    std::vector<FirstOrderNode> nodes;
    /// By set: the examples it leaves out, and the node where each rests.
    std::vector<std::vector<std::pair<std::uint32_t, std::int32_t>>> held_out;
};

enum class FirstOrderWork : std::uint8_t { evaluating, statistics, partition, other };

struct FirstOrderLevel {
    std::array<double, 4> seconds{};
    std::int64_t nodes = 0;       // of the forest
    std::int64_t entries = 0;     // examples of the nodes at which tests were evaluated
    std::int64_t own_entries = 0; // the same, had each set been grown alone
    std::int64_t splits = 0;      // nodes with a test
    std::int64_t tests = 0;       // different tests at them
};

/// A test that cost more than the budget: for how many examples, and how many sets did without it.
struct DroppedTest {
    Query test;
    std::int64_t examples = 0, sets = 0;
};

struct FirstOrderForest {
    std::size_t n_counts = 0; // numbers for each node of a set
    std::vector<FirstOrderPart> parts;
    std::vector<Query> tests;
    std::vector<Threshold> thresholds; // what literals' `named` means beyond the given constants
    std::int32_t first_threshold = 0;  // its number
    std::vector<FirstOrderLevel> levels;
    EngineCounters counters;
    std::int64_t bifurcations = 0;
    std::vector<DroppedTest> dropped;
};

/// One set's tree, in preorder, yes before no.
struct SetTree {
    std::vector<std::int32_t> test, yes, no; // -1: a leaf
    std::vector<double> counts;              // [node][n_counts]
    std::vector<std::uint32_t> held_out;     // examples outside the set, ascending
    std::vector<std::int32_t> leaf;          // where each of them rests
};

/// `n_named` constants are named by the bias.
FirstOrderForest grow_first_order(const FirstOrderTask &task, std::int32_t n_named);
SetTree tree_of(const FirstOrderForest &forest, std::size_t set);

/// Tests of a finished tree, in preorder; those of leaves are empty.
struct RoutedTree {
    std::vector<Query> tests;
    std::vector<std::int32_t> yes, no;
};

/// The leaf of each of the examples.
std::vector<std::int32_t> route_first_order(const RelationalDatabase &database, const RoutedTree &tree,
                                            std::span<const std::uint32_t> examples, Cancel &cancel);

} // namespace hornbeam
