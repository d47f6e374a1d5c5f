// Rows at the nodes of a tree: where a test sends one, and all of them in the order of the leaves.
#pragma once

#include <algorithm>
#include <bit>
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

    /// Brings the values of a row closer, where they lie side by side: it will walk soon.
    void fetch(std::uint32_t row) const {
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
            if (floats_.empty()) {
                walk_side_by_side(from, many, leaves + begin,
                                  [&](std::size_t l, std::uint32_t at) { return step(at, row[l]); });
                continue;
            }
            const char *values[lanes];
            for (std::size_t l = 0; l < many; ++l)
                values[l] = first_row_ + static_cast<std::ptrdiff_t>(row[l]) * row_size_;
            walk_side_by_side(from, many, leaves + begin,
                              [&](std::size_t l, std::uint32_t at) { return step_float(at, values[l]); });
        }
    }

  private:
    enum class How : std::uint8_t { floats, integers, labels, slow };
    /// A leaf is a float test that leads to itself: the walk needs no check for it.
    struct Test {
        const char *data = nullptr;
        union {
            double real = 0;
            std::int64_t integer;
            std::uint64_t right; // labels: bit i is set where code base + i goes to the second child, the
                                 // last one where all others do
            std::int64_t map; // slow: position in `maps_`; -1: the categories are too thinly spread for one
        } bound;
        std::uint32_t child[2] = {}; // the nodes that stand there; of a slow nominal test the first place
        std::int32_t stride = 0;
        std::uint16_t base = 0;
        How how = How::floats;
        std::uint8_t missing = 0; // floats: the child of missing values
    };
    static constexpr std::size_t most_bits = 63; // codes that `right` has room for

    void find_rows();

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

    std::uint32_t step(std::uint32_t node, std::uint32_t row) const {
        const Test &test = tests_[node];
        const char *at = test.data + static_cast<std::ptrdiff_t>(row) * test.stride;
        if (test.how == How::slow) [[unlikely]]
            return step_slowly(node, row);
        // All three answers are worked out: which of them is asked for nobody can foresee.
        const bool number = test.how != How::labels;
        std::uint32_t low = 0, high = 0;
        std::memcpy(&low, at, sizeof low);
        std::memcpy(&high, at + (number ? sizeof low : 0), sizeof high); // a code has no more than the one
        const std::uint64_t raw = std::uint64_t{high} << 32 | low;
        const double x = std::bit_cast<double>(raw);
        const std::uint32_t real = (x > test.bound.real) | ((x != x) & test.missing);
        const std::uint32_t integer = static_cast<std::int64_t>(raw) > test.bound.integer;
        // Missing and never seen codes are negative: in unsigned arithmetic they lie beyond all others.
        const std::uint32_t bit = std::min<std::uint32_t>(low - test.base, most_bits);
        const std::uint32_t label = test.bound.right >> bit & 1;
        const std::uint32_t numeric = test.how == How::floats ? real : integer;
        return test.child[number ? numeric : label];
    }
    std::uint32_t step_slowly(std::size_t node, std::size_t row) const;
    std::size_t place_of(std::size_t node, std::int32_t code) const;
    bool add_bits(std::size_t node);
    void add_map(std::size_t node, Pace &pace);

    const FlatTree &tree_;
    std::span<const RouteColumn> columns_;
    std::span<const std::int32_t> standing_;
    const char *first_row_ = nullptr;
    std::ptrdiff_t row_size_ = 0;   // 0 where the values of a row do not lie side by side
    std::vector<FloatTest> floats_; // by node, else empty
    std::vector<Test> tests_;
    /// For each slow nominal test: its first category, how many codes follow, and the place of each; before
    /// them the place of all others.
    std::vector<std::uint32_t> maps_;
};

/// The rows, leaf after leaf in preorder, so that those of any node lie side by side, at begin[node] to
/// end[node]; rows of weight 0 are left out. Throws OtherRows where a given order cannot be that of the tree.
std::vector<std::uint32_t> rows_by_leaf(const FlatTree &tree, const PruneRows &rows,
                                        std::vector<std::uint32_t> &begin, std::vector<std::uint32_t> &end,
                                        Cancel &cancel);

} // namespace hornbeam
