// Rows at the nodes of a tree: where a test sends one, and all of them in the order of the leaves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "hornbeam/prune.hpp"

namespace hornbeam {

/// Sends rows down a tree that changes: `standing` says which node stands at a place by now.
class Sender {
  public:
    static constexpr std::size_t lanes = 8; // rows that walk side by side, so that their loads overlap

    /// The tree is verified, and the columns are of the kinds it asks for.
    Sender(const FlatTree &tree, const PruneRows &rows, std::span<const std::int32_t> standing);

    /// The node has become a leaf, or is one and has moved: rows stay at it.
    void close(std::size_t node, std::size_t place);

    /// The leaves below `node` that up to `lanes` rows reach.
    void walk(std::size_t node, std::span<const std::uint32_t> rows, std::uint32_t *leaves) const {
        std::uint32_t at[lanes], moved = 1;
        std::fill_n(at, lanes, static_cast<std::uint32_t>(node));
        while (moved) {
            moved = 0;
            for (std::size_t l = 0; l < rows.size(); ++l) {
                std::uint32_t to = step(at[l], rows[l]);
                moved |= to ^ at[l];
                at[l] = to;
            }
        }
        std::copy_n(at, rows.size(), leaves);
    }

  private:
    /// 32 bytes. A leaf is a float test that always holds and leads to itself: the walk needs no check for
    /// it.
    struct Test {
        const char *data = nullptr;
        std::ptrdiff_t stride = 0;
        union {
            double real = 0;
            std::int64_t integer;
        } bound;
        std::uint32_t first = 0; // place of the first child
        bool second = false;     // missing values go to the second child
        AttributeKind kind = AttributeKind::floating;
    };

    std::uint32_t step(std::uint32_t node, std::uint32_t row) const {
        const Test &test = tests_[node];
        const char *at = test.data + static_cast<std::ptrdiff_t>(row) * test.stride;
        if (test.kind != AttributeKind::floating) return step_other(node, at, row);
        double x = 0;
        std::memcpy(&x, at, sizeof x);
        std::uint32_t above = x > test.bound.real, missing = x != x;
        return static_cast<std::uint32_t>(standing_[test.first + (above | (missing & test.second))]);
    }
    std::uint32_t step_other(std::size_t node, const char *at, std::size_t row) const;

    const FlatTree &tree_;
    std::span<const RouteColumn> columns_;
    std::span<const std::int32_t> standing_;
    std::vector<Test> tests_;
};

/// The rows, leaf after leaf in preorder, so that those of any node lie side by side, at begin[node] to
/// end[node]. Throws OtherRows where a leaf does not get the rows of each class that the tree says it has.
std::vector<std::uint32_t> rows_by_leaf(const FlatTree &tree, const PruneRows &rows,
                                        std::vector<std::uint32_t> &begin, std::vector<std::uint32_t> &end,
                                        Cancel &cancel);

} // namespace hornbeam
