// Growing a forest over k training sets of one encoded table: the only grower there is.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "choice/parameters.hpp"
#include "criteria/statistics.hpp"
#include "running/cancel.hpp"
#include "table/column.hpp"
#include "table/training_sets.hpp"
#include "tree/forest.hpp"

namespace hornbeam {

/// What classes weigh and mistakes cost; empty where all are equal. `cost` is [true class][said class].
struct ClassCosts {
    bool balanced = false;
    std::vector<double> weight;
    std::vector<double> cost;
    bool equal() const { return !balanced && weight.empty() && cost.empty(); }
};

/// What is to be predicted: classes, or numeric targets (row-major where several). Weights, where given, are
/// above 0.
struct GrowTarget {
    std::span<const ClassCode> classes;
    std::size_t n_classes = 0; // 0: numeric
    std::span<const double> values;
    std::size_t n_targets = 0;
    std::span<const double> weights; // of rows; empty: 1 each
    ClassCosts costs;
};

/// How far a growth is: rows that rest in a leaf, over all training sets.
struct GrowProgress {
    std::atomic<std::int64_t> settled{0};
    std::atomic<std::int64_t> all{0};
};

/// What a training set is as a whole, where the rows of the table are only those of one of its nodes.
struct WholeSet {
    double mass = 0.0;   // as qualities see it
    double weight = 0.0; // of all its rows
    /// c45, by attribute: nominal ones with a category for every three rows, or more; may be empty.
    std::vector<std::uint8_t> many_valued;
    std::vector<double> factor = {}; // of each class, where classes or mistakes weigh differently
};

/// The table's presorted lists are used up where `consume` is set: growth then needs no copy of them.
struct GrowTask {
    EncodedTable &table;
    const GrowTarget &target;
    const TrainingSets &sets;
    const GrowParameters &parameters;
    bool consume = false;
    GrowProgress &progress;
    Cancel &cancel;
    std::span<const WholeSet> whole = {}; // by set; empty: the table has all rows of the sets
};

/// `criterion`: "gini", "entropy", "gain_ratio", "c45", "correlation", "quest" (classes; quest without
/// weights and costs, subset tests only) or "variance" (numeric targets).
Forest grow(const std::string &criterion, const GrowTask &task);

} // namespace hornbeam
