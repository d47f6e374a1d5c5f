// Trees grown by looking ahead (LSID3): each test is judged by the sizes of trees sampled below it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "criteria/statistics.hpp"
#include "lookahead/node.hpp"
#include "numbers/xlog.hpp"
#include "running/cancel.hpp"
#include "table/column.hpp"
#include "tree/tree.hpp"

namespace hornbeam {

/// A tree in preorder, so that a subtree is a contiguous part of every array. The rows of node i are
/// order[start .. start + rows). Lists of branches, classes and cuts follow each other, as many as their
/// number says for each node.
struct Sketch {
    std::vector<std::uint8_t> kind;
    std::vector<std::int32_t> attribute, default_child, n_children;
    std::vector<double> threshold;
    std::vector<std::int64_t> threshold_integer;
    std::vector<std::int32_t> span, leaves; // nodes and leaves of the subtree
    std::vector<std::int32_t> start, rows;
    std::vector<double> gain, impurity;
    std::vector<std::int32_t> usable;       // attributes with a test; 0 at a leaf
    std::vector<std::int64_t> tests;        // how many tests there are
    std::vector<std::int32_t> least_domain; // the fewest values of a usable attribute; a numeric one has 2
    std::vector<std::int32_t> n_branches, branch_code, branch_child;
    std::vector<std::int32_t> n_counts, count_class;
    std::vector<double> count;
    std::vector<std::int32_t> n_cuts, cuts; // of the usable numeric attributes
    std::vector<std::int32_t> order;

    std::size_t n_nodes() const { return kind.size(); }
};

/// The same tree with the children of a node side by side. Throws std::invalid_argument where the arrays do
/// not fit each other.
FlatTree flat(const Sketch &sketch, std::int32_t n_classes);

/// How much is looked at before a node takes its test.
struct Effort {
    std::uint64_t repetitions = 0;         // trees sampled below each branch; 0: the best gain is taken
    std::optional<double> sample_fraction; // cuts drawn from each numeric attribute, per row
    std::optional<std::uint64_t> draws;    // cuts drawn from each numeric attribute that has more
};

/// A test of one node, as a lookahead sees it.
struct TestTotal {
    std::int32_t attribute = 0;
    TestKind kind = TestKind::leaf;
    std::int64_t number = 0; // its place among all tests of the node
    std::int32_t default_child = 0, branches = 2;
    std::uint32_t lo = 0, hi = 0;   // numeric: the ranks that the cut lies between
    std::vector<std::int32_t> left; // nominal, two branches: the codes on the left
    double gain = 0.0;
    std::uint32_t total = 0;
};

/// Thrown by a Cancel whose time is over.
struct TimeOver {};

struct ProofEffort {
    std::size_t most_nodes = 1u << 20; // sets of rows that are remembered
    std::uint32_t upper = 0xFFFFFFFFu; // the leaves of a tree that is known
};

/// `lower` and `upper` leaves; equal where the tree of `upper` is a smallest one. The tree is there if it is
/// smaller than the one that was known.
struct Proof {
    std::uint32_t lower = 1, upper = 0xFFFFFFFFu;
    std::optional<Sketch> sketch;
};

class Lookahead {
  public:
    /// The table and the classes must outlive it. Throws std::invalid_argument for more rows than
    /// XlogTable::largest_table.
    Lookahead(const EncodedTable &table, std::span<const ClassCode> classes, std::size_t n_classes,
              const LookaheadOptions &options, std::string kernels, Cancel &cancel);

    Sketch build(std::span<const std::int32_t> rows, std::uint64_t key, const Effort &effort,
                 Cancel &cancel) const;
    /// The size of one sampled tree.
    std::uint32_t size(std::span<const std::int32_t> rows, std::uint64_t key, Cancel &cancel) const;
    /// What is seen at the node of these rows, nothing cut short.
    std::vector<TestTotal> totals(std::span<const std::int32_t> rows, std::uint64_t key, const Effort &effort,
                                  Cancel &cancel) const;
    /// No tree that tells the rows apart has fewer leaves.
    std::uint32_t bound(std::span<const std::int32_t> rows, Cancel &cancel) const;

    /// Raises a lower bound of the leaves that the rows need, until a tree of so many leaves is found,
    /// `upper` is reached, or time (TimeOver) or room ends.
    Proof prove(std::span<const std::int32_t> rows, const ProofEffort &effort, Cancel &cancel) const;

    const LookaheadOptions &options() const { return options_; }
    OwnNode node_of(std::span<const std::int32_t> rows, Cancel &cancel) const;
    std::unique_ptr<Sampler> sampler(Cancel &cancel) const;

  private:
    friend class SketchBuilder;
    const EncodedTable &table_;
    std::span<const ClassCode> classes_;
    std::size_t n_classes_;
    LookaheadOptions options_;
    std::string kernels_;
    XlogTable xlog_;
    std::vector<std::vector<std::uint32_t>> rank_; // by numeric column and row; n_ranks() where missing

    void prove(std::span<const std::int32_t> rows, const ProofEffort &effort, Cancel &cancel,
               Proof &proof) const;
    bool one_test_will_do(const NodeView &node, Sampler &sampler, bool apart) const;
    bool told_apart(const NodeView &node, std::span<const std::int32_t> rows, Cancel &cancel) const;
};

} // namespace hornbeam
