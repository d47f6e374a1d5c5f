// The tree under the shears: which nodes are leaves by now, who stands where, and the tree that results.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "numbers/exact.hpp"
#include "pruning/prune.hpp"

namespace hornbeam {

/// A class of a node and the weight of its rows.
struct ClassCount {
    std::int32_t code = 0;
    double count = 0;
};

/// The numbers of a node whose rows have changed.
struct Recount {
    std::int64_t rows = 0;
    double weight = 0;
    double impurity = 0;
    std::vector<ClassCount> counts; // ascending codes, none 0
};

/// Nodes keep their numbers in the grown tree. Invariant: a node that stands at a place comes from that place
/// or from below it, so descendants always have higher numbers than their ancestors.
struct Shape {
    std::vector<std::uint8_t> leaf;      // by node
    std::vector<std::int32_t> standing;  // by place: the node that stands there now
    std::vector<std::int32_t> recounted; // by node: position in `recounts`, -1 where nothing has changed
    std::vector<Recount> recounts;

    explicit Shape(const FlatTree &tree)
        : leaf(tree.n_nodes()), standing(tree.n_nodes()), recounted(tree.n_nodes(), -1) {
        for (std::size_t i = 0; i < leaf.size(); ++i)
            leaf[i] = tree.kind[i] == static_cast<std::uint8_t>(TestKind::leaf);
        std::iota(standing.begin(), standing.end(), 0);
    }
};

/// The exponents of many numbers, and of those that `span` has seen before.
inline ExponentSpan span_of(std::span<const double> numbers, Cancel &cancel, ExponentSpan span = {}) {
    in_stretches(numbers.size(), cancel, [&](std::size_t begin, std::size_t end) {
        for (double x : numbers.subspan(begin, end - begin)) span.add(x);
    });
    return span;
}

/// The tree that is left, breadth first.
Pruned rebuild(const FlatTree &tree, const Shape &shape, Cancel &cancel);

/// Whether a test lists no category of its default child: those follow from the tests above it.
bool is_brief(const FlatTree &tree, std::size_t node);

/// Has the tests of the pruned tree list all their categories, wherever they have moved to.
void spell_out(const FlatTree &tree, Pruned &pruned, Cancel &cancel);

} // namespace hornbeam
