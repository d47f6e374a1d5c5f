// A sketch that grows node by node, whatever chooses its tests.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lookahead/lookahead.hpp"

namespace hornbeam {

/// A test, and the sets of values that it may refer to.
struct ChosenTest {
    NodeTest test;
    std::vector<std::uint64_t> sides;
};

/// The test of a node that is no leaf, from its key and its rows.
using Choose =
    std::function<ChosenTest(const NodeView &node, std::uint64_t key, std::span<const std::int32_t> rows)>;

/// One tree under construction. A node that waits owns its columns; the rows of those that wait do not
/// overlap, so that all of them together are no larger than the root.
class SketchBuilder {
  public:
    SketchBuilder(const Lookahead &lookahead, Sampler &sampler, Cancel &cancel)
        : from_(lookahead), sampler_(sampler), cancel_(cancel), counts_(lookahead.n_classes_, 0) {}

    Sketch grow(std::span<const std::int32_t> rows, std::uint64_t key, const Choose &choose);
    /// A test of the node of some rows in the table's terms.
    TestTotal describe(const NodeView &node, const ChosenTest &chosen, std::span<const std::int32_t> rows);

  private:
    struct Waiting {
        OwnNode node;
        std::uint64_t key = 0;
        std::size_t start = 0;
    };

    const Lookahead &from_;
    Sampler &sampler_;
    Cancel &cancel_;
    Sketch s_;
    std::vector<Waiting> waiting_;
    std::vector<std::int64_t> counts_; // by class
    std::vector<std::int32_t> moved_;  // rows on their way
    std::vector<std::uint32_t> child_; // of each row of the node
    std::vector<std::int32_t> child_of_code_;
    std::vector<std::uint64_t> mask_;

    std::span<const std::int32_t> rows_of(const Waiting &at) const;
    const Column &column(std::int32_t attribute) const;
    void settle(Waiting &at, const Choose &choose);
    void read_mask(const NodeView &node, const ChosenTest &chosen, std::uint32_t branch);
    void record(const Waiting &at);
    void record_counts(const Waiting &at);
    void record_attributes(const NodeView &node);
    void record_test(const TestTotal &test);
    void part_rows(const NodeView &node, std::uint32_t branches, std::size_t start);
    void sum_up();
};

} // namespace hornbeam
