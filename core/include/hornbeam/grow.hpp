// Growing a forest over k training sets of one encoded table: the only grower there is.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hornbeam/avc.hpp"
#include "hornbeam/cancel.hpp"
#include "hornbeam/column.hpp"
#include "hornbeam/forest.hpp"
#include "hornbeam/kernels.hpp"
#include "hornbeam/statistics.hpp"
#include "hornbeam/training_sets.hpp"

namespace hornbeam {

enum class NominalMode : std::uint8_t { subset, value, multiway };

/// A number of rows, or a fraction of the training set's rows rounded up.
struct SizeRule {
    bool fraction = false;
    double value = 1.0;
    std::int64_t rows_of(std::int64_t n) const;
};

/// What admits a test, where a growth is asked for several settings of it.
struct SizeSetting {
    SizeRule min_samples_leaf{false, 1.0};
    double min_objs = -1.0; // C4.5's size; below 0: not asked for
};

struct GrowParameters {
    NominalMode nominal = NominalMode::subset;
    std::int64_t max_depth = -1; // -1: no limit
    SizeRule min_samples_split{false, 2.0};
    std::vector<SizeSetting> settings{{}}; // ascending: each asks for no less than the one before it
    double min_impurity_decrease = 0.0;
    std::size_t competitors = 0; // tests kept beside that of each node
    bool accelerate = true;      // off: the plain path everywhere; same trees
    bool twigs = true;           // off: no subtree is grown over lists of bytes
    CountValues counting = CountValues::where_it_pays;
    Sharing sharing = Sharing::automatic;
    int threads = 1;
    const Kernels *kernels = nullptr;
};

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
