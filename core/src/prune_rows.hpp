// Rows at the nodes of a tree: where a test sends one, and all of them in the order of the leaves.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "hornbeam/prune.hpp"

namespace hornbeam {

/// Says where the test of a node sends a row.
class Sender {
  public:
    /// The tree is verified, and the columns are of the kinds it asks for.
    Sender(const FlatTree &tree, std::span<const RouteColumn> columns,
           std::span<const std::uint8_t> attribute_kinds);

    /// The place of the child that the row goes to.
    std::size_t place(std::size_t node, std::size_t row) const {
        const Test &test = tests_[node];
        auto i = static_cast<std::ptrdiff_t>(row);
        const char *at = test.data + i * test.stride;
        if (test.kind == AttributeKind::floating) {
            double x = 0;
            std::memcpy(&x, at, sizeof x);
            std::uint32_t above = x > test.real, missing = x != x;
            return test.first + (above | (missing & test.otherwise));
        }
        return test.kind == AttributeKind::integer ? of_integer(test, at, i) : of_category(test, at);
    }

  private:
    struct Test {
        const char *data = nullptr;
        std::ptrdiff_t stride = 0;
        double real = 0;
        std::int64_t integer = 0;
        const std::uint8_t *missing = nullptr;
        std::ptrdiff_t missing_stride = 0;
        std::uint32_t branch_begin = 0, branch_end = 0;
        std::uint32_t first = 0;     // place of the first child
        std::uint32_t otherwise = 0; // the child of missing values
        AttributeKind kind = AttributeKind::floating;
    };
    std::size_t of_integer(const Test &test, const char *at, std::ptrdiff_t row) const;
    std::size_t of_category(const Test &test, const char *at) const;

    const FlatTree &tree_;
    std::vector<Test> tests_;
};

/// The rows, leaf after leaf in preorder, so that those of any node lie side by side, at begin[node] to
/// end[node]. Throws OtherRows where a leaf does not get the rows of each class that the tree says it has.
std::vector<std::uint32_t> rows_by_leaf(const FlatTree &tree, const PruneRows &rows,
                                        std::vector<std::uint32_t> &begin, std::vector<std::uint32_t> &end,
                                        Cancel &cancel);

} // namespace hornbeam
