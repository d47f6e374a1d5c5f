// Rows at the nodes of a tree: where a test sends one, and all of them in the order of the leaves.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "pruning/prune.hpp"

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

    /// Brings the values of a row closer: it will walk soon.
    void fetch(std::uint32_t row) const {
        if (row_size_ > most_fetched) return;
        for (std::ptrdiff_t at = 0; at < row_size_; at += 64)
            __builtin_prefetch(first_row_ + static_cast<std::ptrdiff_t>(row) * row_size_ + at);
    }

    /// The leaf below `node` that each of the rows reaches. Many walk side by side, so that their loads
    /// overlap. (To let the next row in for whoever has arrived was slower, a jump that nobody can foresee;
    /// to leave those out every few steps was not faster.)
    void walk(std::size_t node, std::span<const std::uint32_t> rows, std::uint32_t *leaves) const {
        const auto from = static_cast<std::uint32_t>(node);
        for (std::size_t i = 0; i < std::min(lanes, rows.size()); ++i) fetch(rows[i]);
        for (std::size_t begin = 0; begin < rows.size(); begin += lanes) {
            for (std::size_t i = begin + lanes; i < std::min(begin + 2 * lanes, rows.size()); ++i)
                fetch(rows[i]);
            const std::size_t many = std::min(lanes, rows.size() - begin);
            const std::uint32_t *row = rows.data() + begin;
            const char *values[lanes];
            for (std::size_t l = 0; l < many; ++l)
                values[l] = first_row_ + static_cast<std::ptrdiff_t>(row[l]) * row_size_;
            if (floats_.empty())
                walk_side_by_side(from, many, leaves + begin, [&](std::size_t l, std::uint32_t at) {
                    return step(at, values[l], row[l]);
                });
            else
                walk_side_by_side(from, many, leaves + begin,
                                  [&](std::size_t l, std::uint32_t at) { return step_float(at, values[l]); });
        }
    }

  private:
    /// What a test asks of a packed row. A number x goes to the second child where x - base is above the
    /// bound, as unsigned integers; a label, of code base + i, where bit i is set, the last bit being that of
    /// all others. A leaf leads to itself: the walk needs no check for it. Tests that fit neither are slow.
    struct Test {
        std::uint64_t base = 0, bound = 0;
        std::uint32_t child[2] = {}; // the nodes that stand there; of a slow test the places instead
        std::uint32_t place = 0;     // of the value in its row, in bytes
        std::uint8_t label = 0;
        bool slow = false;
    };
    static constexpr std::uint32_t last_bit = 63;
    static constexpr std::uint32_t last_label = 65535; // of all codes from there on, and of missing ones
    static constexpr std::uint64_t no_map = ~std::uint64_t{0}; // the categories are too thinly spread for one

    void find_rows();

    static constexpr std::ptrdiff_t most_fetched =
        256; // a longer row has too many values that nobody asks for
    static constexpr std::size_t lanes = 16;
    /// `step(i, node)` is where the i-th row goes from a node; all of them start at the same.
    template <class Step>
    static void walk_side_by_side(std::uint32_t node, std::size_t many, std::uint32_t *leaves, Step step) {
        std::uint32_t at[lanes], moved = 1;
        std::fill_n(at, lanes, node);
        while (moved) {
            moved = 0;
            for (std::size_t l = 0; l < many; ++l) {
                std::uint32_t to = step(l, at[l]);
                moved |= to ^ at[l];
                at[l] = to;
            }
        }
        std::copy_n(at, many, leaves);
    }

    /// Where all tests are of floats and the values of a row lie side by side: x goes to the second child
    /// where it is above the bound, missing values to the first. Where they should go to the second, sign and
    /// children change places.
    struct FloatTest {
        double bound = 0;
        std::uint64_t sign = 0;
        std::uint32_t child[2] = {};
        std::uint32_t place = 0; // of the value in its row, in bytes
    };
    std::uint32_t step_float(std::uint32_t node, const char *values) const {
        const FloatTest &test = floats_[node];
        std::uint64_t x = 0;
        std::memcpy(&x, values + test.place, sizeof x);
        return test.child[std::bit_cast<double>(x ^ test.sign) > test.bound];
    }
    void add_float(std::size_t node, std::size_t attribute);

    std::uint32_t step(std::uint32_t node, const char *values, std::uint32_t row) const {
        const Test &test = tests_[node];
        if (test.slow) [[unlikely]]
            return step_slowly(node, row);
        // Both answers are worked out: which of them is asked for nobody can foresee.
        std::uint64_t x = 0;
        std::memcpy(&x, values + test.place, sizeof x);
        const std::uint32_t above = x - test.base > test.bound;
        // In unsigned arithmetic codes below the base lie beyond all others, as the last label does.
        const std::uint32_t i = std::min(
            std::uint32_t{static_cast<std::uint16_t>(x)} - static_cast<std::uint32_t>(test.base), last_bit);
        const std::uint32_t bit = test.bound >> i & 1;
        return test.child[above ^ ((above ^ bit) & test.label)];
    }
    std::uint32_t step_slowly(std::size_t node, std::size_t row) const;
    std::size_t place_of(std::size_t node, std::int32_t code) const;
    void pack(std::size_t n_rows, Cancel &cancel);
    void add_test(std::size_t node, Pace &pace);
    bool add_label(std::size_t node);
    void add_map(std::size_t node, Pace &pace);

    const FlatTree &tree_;
    std::span<const RouteColumn> columns_;
    std::span<const std::int32_t> standing_;
    const char *first_row_ = nullptr;
    std::ptrdiff_t row_size_ = 0;   // 0 where the values of a row do not lie side by side
    std::vector<FloatTest> floats_; // by node; where it is empty, rows are packed and `tests_` has the tests
    std::unique_ptr<char[]> packed_;
    std::vector<std::uint32_t> packed_at_; // by attribute: the place of its value in a packed row
    std::vector<Test> tests_;
    /// For each slow nominal test, from its `bound` on: its first category, how many codes follow, and the
    /// place of each; before them the place of all others.
    std::vector<std::uint32_t> maps_;
};

/// The rows, leaf after leaf in preorder, so that those of any node lie side by side, at begin[node] to
/// end[node]; rows of weight 0 are left out. Throws OtherRows where a given order cannot be that of the tree.
std::vector<std::uint32_t> rows_by_leaf(const FlatTree &tree, const PruneRows &rows,
                                        std::vector<std::uint32_t> &begin, std::vector<std::uint32_t> &end,
                                        Cancel &cancel);

} // namespace hornbeam
