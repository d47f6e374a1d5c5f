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
    /// The tree is verified, and the columns are of the kinds it asks for.
    Sender(const FlatTree &tree, const PruneRows &rows, std::span<const std::int32_t> standing,
           Cancel &cancel);

    /// The node has become a leaf: rows stay at it.
    void close(std::size_t node);
    /// Another node stands at this place now, below `parent`.
    void stand(std::size_t parent, std::size_t place);

    /// The leaf below `node` that each of the rows reaches. Many walk side by side, so that their loads
    /// overlap. (To let the next row in for whoever has arrived was slower: a jump that nobody can foresee.)
    void walk(std::size_t node, std::span<const std::uint32_t> rows, std::uint32_t *leaves) const {
        constexpr std::size_t lanes = 16;
        for (std::size_t i = 0; i < std::min(lanes, rows.size()); ++i) fetch(rows[i]);
        for (std::size_t begin = 0; begin < rows.size(); begin += lanes) {
            for (std::size_t i = begin + lanes; i < std::min(begin + 2 * lanes, rows.size()); ++i)
                fetch(rows[i]);
            std::size_t many = std::min(lanes, rows.size() - begin);
            const std::uint32_t *row = rows.data() + begin;
            std::uint32_t at[lanes], moved = 1;
            std::fill_n(at, lanes, static_cast<std::uint32_t>(node));
            while (moved) {
                moved = 0;
                for (std::size_t l = 0; l < many; ++l) {
                    std::uint32_t to = step(at[l], row[l]);
                    moved |= to ^ at[l];
                    at[l] = to;
                }
            }
            std::copy_n(at, many, leaves + begin);
        }
    }

  private:
    /// A leaf is a float test that leads to itself: the walk needs no check for it.
    struct Test {
        const char *data = nullptr;
        std::ptrdiff_t stride = 0;
        union {
            double real = 0;
            std::int64_t integer;
            std::int64_t map; // position in `maps_`; -1: the categories are too thinly spread for one
        } bound;
        std::uint32_t child[2] = {}; // the nodes that stand there; of a nominal test the first place instead
    };

    /// Brings the values of a row closer, where they lie side by side.
    void fetch(std::uint32_t row) const {
        for (std::ptrdiff_t at = 0; at < row_size_; at += 64)
            __builtin_prefetch(first_row_ + static_cast<std::ptrdiff_t>(row) * row_size_ + at);
    }
    void find_rows();

    std::uint32_t step(std::uint32_t node, std::uint32_t row) const {
        const Test &test = tests_[node];
        const char *at = test.data + static_cast<std::ptrdiff_t>(row) * test.stride;
        const std::uint8_t how = how_[node];
        if (how >= other) return step_other(node, at, row);
        double x = 0;
        std::memcpy(&x, at, sizeof x);
        std::uint32_t above = x > test.bound.real, missing = x != x;
        return test.child[above | (missing & how)];
    }
    std::uint32_t step_other(std::size_t node, const char *at, std::size_t row) const;
    std::size_t place_of(std::size_t node, std::int32_t code) const;
    void add_map(std::size_t node, Pace &pace);

    const FlatTree &tree_;
    std::span<const RouteColumn> columns_;
    std::span<const std::int32_t> standing_;
    static constexpr std::uint8_t other = 2, nominal = 4;
    const char *first_row_ = nullptr;
    std::ptrdiff_t row_size_ = 0; // 0 where the values of a row do not lie side by side
    std::vector<Test> tests_;
    std::vector<std::uint8_t> how_; // the child of missing values; `other` more of integers, else `nominal`
    /// For each nominal test: its first category, how many codes follow, and the place of each; before them
    /// the place of all others.
    std::vector<std::uint32_t> maps_;
};

/// The rows, leaf after leaf in preorder, so that those of any node lie side by side, at begin[node] to
/// end[node]; rows of weight 0 are left out. Throws OtherRows where a given order cannot be that of the tree.
std::vector<std::uint32_t> rows_by_leaf(const FlatTree &tree, const PruneRows &rows,
                                        std::vector<std::uint32_t> &begin, std::vector<std::uint32_t> &end,
                                        Cancel &cancel);

} // namespace hornbeam
