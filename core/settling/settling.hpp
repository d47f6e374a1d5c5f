// Nodes that are settled from counts instead of rows: the test that the grower would choose, found where the
// AVC-sets are known well enough, and the forest that such nodes and the grower's subtrees make together.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "choice/open_categories.hpp"
#include "choice/test.hpp"
#include "growth/grow.hpp"
#include "scans/refined.hpp"
#include "scans/sums.hpp"
#include "tree/forest.hpp"

namespace hornbeam {

/// A bucket whose values have to be known before a node can be settled.
struct AliveBucket {
    std::int32_t attribute = 0;
    std::uint32_t bucket = 0;
};

/// The threshold of a test as a tree has it: one of the two, by the kind of its attribute.
struct KeptThreshold {
    double number = 0.0;
    std::int64_t integer = 0;
};

/// What is known of a node: a leaf, its test, or which buckets leave it open.
struct Settled {
    enum class State : std::uint8_t { leaf, test, open };
    State state = State::leaf;
    Choice choice; // `lo` and `hi` are entries of its attribute's set
    RowKey lo = 0, hi = 0;
    std::vector<ClassCounts> children; // rows
    std::vector<SumWords> child_sums;  // of each class, where rows are not only counted
    std::vector<AliveBucket> alive;
    std::vector<AliveBucket> ends;          // those of a cut whose values are not known
    double bound = -1.0;                    // the highest that a bucket may reach
    std::optional<KeptThreshold> threshold; // whatever values are next to it; else between `lo` and `hi`
};

/// Buckets whose values were known for a while, by attribute, and the best test until then.
struct LookedInto {
    const Settled *best = nullptr;
    std::vector<std::vector<std::uint8_t>> buckets; // empty: none

    bool has(const AliveBucket &b) const {
        if (buckets.empty()) return false;
        const auto &flags = buckets[static_cast<std::size_t>(b.attribute)];
        return !flags.empty() && flags[b.bucket] != 0;
    }
};

/// Where the sets of the attributes come from, one at a time: together they may be large.
class SetReader {
  public:
    virtual ~SetReader() = default;
    virtual std::size_t size() const = 0;
    virtual RefinedSet read(std::size_t i) const = 0; // in the order of attributes
    virtual bool exact(std::size_t i) const = 0;      // whether all of its entries are values
};

/// A node of one training set's tree that still grows.
struct OpenNode {
    std::int32_t set = 0;
    std::uint64_t record = 0;
    ClassCounts total;
    std::int64_t depth = 0;
    std::vector<OpenNote> notes;
    SumWords sums; // of each class of `total`, where rows are not only counted
};

/// What settling looks at besides counts. Fractions of rows are of each training set.
struct SettleTask {
    std::string criterion = "gini";
    GrowParameters parameters;
    std::shared_ptr<const RowLayout> layout;
    std::vector<ClassCounts> wholes;  // rows of each training set
    std::vector<SumWords> whole_sums; // the same, where rows are not only counted
    ClassCosts costs;
    std::vector<std::vector<std::uint8_t>> many_valued; // c45: by set and attribute

    SumWords sums_of_whole(std::size_t set) const {
        return whole_sums.empty() ? SumWords() : whole_sums[set];
    }
};

class TreeGraft;

class Settling {
  public:
    virtual ~Settling() = default;
    /// By the criterion's name. Throws std::invalid_argument for one that is not settled from counts.
    static std::unique_ptr<Settling> make(SettleTask task, Cancel &cancel);

    /// What a training set is as a whole.
    virtual WholeSet whole(std::int32_t set) const = 0;
    virtual void set_many_valued(std::int32_t set, std::vector<std::uint8_t> many_valued) = 0;
    /// The number of the root of a training set; -1 where it is a leaf.
    virtual std::int64_t open_root(std::int32_t set) = 0;
    /// A node that is only judged: it has no place in the forest.
    std::int64_t open_apart(std::int32_t set, ClassCounts total, SumWords sums = {}) {
        nodes_.push_back({set, 0, std::move(total), 0, {}, std::move(sums)});
        return static_cast<std::int64_t>(nodes_.size()) - 1;
    }
    /// The best test of one attribute at a node; its state is `leaf` where there is none.
    virtual Settled look(std::int64_t node, const RefinedSet &set, Cancel &cancel) = 0;
    /// The test of a node from those of its attributes, in their order, which are used up. All of their sets
    /// must have been exact.
    virtual Settled choose(std::int64_t node, std::vector<Settled> &found) = 0;
    /// Judges a node by the sets of all attributes, in their order. Buckets that come within `margin` of the
    /// best test leave it open, but not those that were looked into before.
    virtual Settled settle(std::int64_t node, const SetReader &sets, const LookedInto &before, double margin,
                           Cancel &cancel) = 0;
    /// The test that a node has already, with the rows that it sends to its branches now. The state is `leaf`
    /// where the rules of the training set do not admit it any more.
    virtual Settled keep(std::int64_t node, Choice test, KeptThreshold threshold,
                         std::vector<ClassCounts> children, std::vector<SumWords> child_sums) const = 0;
    /// Writes the test of a node down. The numbers of its children, -1 for leaves.
    virtual std::vector<std::int64_t> split(std::int64_t node, const Settled &settled) = 0;
    /// Puts the tree of a set that was grown from the rows of a node in the node's place.
    void graft(std::int64_t node, const Forest &part, std::int32_t set);
    /// Puts a subtree of another tree in the node's place: its rows, and what it depends on, are the same.
    void graft(std::int64_t node, const TreeGraft &from, std::int32_t number, Cancel &cancel);
    /// Throws std::out_of_range where there is no such node.
    const OpenNode &node(std::int64_t i) const { return nodes_.at(static_cast<std::size_t>(i)); }
    Forest &forest() { return forest_; }

  protected:
    Forest forest_;
    std::vector<OpenNode> nodes_;
};

} // namespace hornbeam
