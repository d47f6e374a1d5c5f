// The judge of a tree that came from outside: every invariant of FlatTree, in linear time.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>

#include "running/cancel.hpp"
#include "tree/tree.hpp"

namespace hornbeam {

/// What is wrong with a tree, in one line that names the node.
struct InvalidTree : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// How an attribute's values arrive; the same numbers as the kind of a native column.
enum class AttributeKind : std::uint8_t { floating = 0, integer = 1, nominal = 2 };

/// Throws InvalidTree where an invariant of FlatTree does not hold. `n_categories`, one for each attribute,
/// bounds the category codes; an empty span leaves their upper bound unchecked. After it returns, any reader
/// may index by what the tree says. Depth needs no limit of its own: it is below the number of nodes, and
/// nothing that reads a tree recurses.
void verify_tree(const FlatTree &tree, std::span<const std::uint8_t> attribute_kinds,
                 std::span<const std::int32_t> n_categories, Cancel &cancel);

} // namespace hornbeam
