// Reading the pruned tree out of the grown one, and what its counts alone say: C4.5's collapse, masses.
#include "prune_shape.hpp"

#include <span>

#include "hornbeam/exact.hpp"
#include "hornbeam/prune.hpp"

namespace hornbeam {

namespace {

void append_numbers(FlatTree &out, const FlatTree &tree, const Shape &shape, std::size_t node) {
    if (shape.recounted[node] >= 0) {
        const Recount &r = shape.recounts[static_cast<std::size_t>(shape.recounted[node])];
        out.rows.push_back(r.rows);
        out.weight.push_back(r.weight);
        out.impurity.push_back(r.impurity);
        for (const ClassCount &c : r.counts) {
            out.count_class.push_back(c.code);
            out.count.push_back(c.count);
        }
    } else {
        out.rows.push_back(tree.rows[node]);
        out.weight.push_back(tree.weight[node]);
        out.impurity.push_back(tree.impurity[node]);
        if (tree.n_classes > 0)
            for (std::int64_t i = tree.count_start[node]; i < tree.count_start[node + 1]; ++i) {
                out.count_class.push_back(tree.count_class[static_cast<std::size_t>(i)]);
                out.count.push_back(tree.count[static_cast<std::size_t>(i)]);
            }
    }
    if (!tree.count_start.empty()) out.count_start.push_back(static_cast<std::int64_t>(out.count.size()));
    auto q = static_cast<std::size_t>(tree.n_targets);
    for (std::size_t t = 0; t < q; ++t) out.mean.push_back(tree.mean[node * q + t]);
}

void reserve(FlatTree &out, std::size_t n_nodes) {
    out.kind.reserve(n_nodes);
    for (auto *numbers : {&out.attribute, &out.first_child, &out.n_children, &out.default_child})
        numbers->reserve(n_nodes);
    for (auto *numbers : {&out.threshold, &out.weight, &out.impurity, &out.gain}) numbers->reserve(n_nodes);
    for (auto *numbers : {&out.threshold_integer, &out.rows}) numbers->reserve(n_nodes);
    out.branch_start.reserve(n_nodes + 1);
    out.count_start.reserve(n_nodes + 1);
}

void append_test(FlatTree &out, const FlatTree &tree, std::size_t node, bool leaf, std::size_t first) {
    out.kind.push_back(leaf ? static_cast<std::uint8_t>(TestKind::leaf) : tree.kind[node]);
    out.attribute.push_back(leaf ? -1 : tree.attribute[node]);
    out.first_child.push_back(leaf ? -1 : static_cast<std::int32_t>(first));
    out.n_children.push_back(leaf ? 0 : tree.n_children[node]);
    out.default_child.push_back(leaf ? -1 : tree.default_child[node]);
    out.threshold.push_back(leaf ? 0.0 : tree.threshold[node]);
    out.threshold_integer.push_back(leaf ? 0 : tree.threshold_integer[node]);
    out.gain.push_back(leaf ? 0.0 : tree.gain[node]);
    for (std::int64_t b = tree.branch_start[node]; !leaf && b < tree.branch_start[node + 1]; ++b) {
        out.branch_code.push_back(tree.branch_code[static_cast<std::size_t>(b)]);
        out.branch_child.push_back(tree.branch_child[static_cast<std::size_t>(b)]);
    }
    out.branch_start.push_back(static_cast<std::int64_t>(out.branch_code.size()));
}

} // namespace

Pruned rebuild(const FlatTree &tree, const Shape &shape, Cancel &cancel) {
    Pruned pruned;
    FlatTree &out = pruned.tree;
    out.n_classes = tree.n_classes;
    out.n_targets = tree.n_targets;
    out.branch_start.push_back(0);
    if (!tree.count_start.empty()) out.count_start.push_back(0);
    std::vector<std::int32_t> queue;
    queue.reserve(tree.n_nodes());
    queue.push_back(shape.standing[0]);
    Pace pace(cancel, 100);
    for (std::size_t at = 0; at < queue.size(); ++at) {
        pace.step();
        auto node = static_cast<std::size_t>(queue[at]);
        for (std::int32_t c = 0; !shape.leaf[node] && c < tree.n_children[node]; ++c)
            queue.push_back(shape.standing[static_cast<std::size_t>(tree.first_child[node] + c)]);
    }
    reserve(out, queue.size());
    pruned.origin.reserve(queue.size());
    std::size_t first = 1; // child of the next inner node
    for (std::int32_t next : queue) {
        pace.step();
        auto node = static_cast<std::size_t>(next);
        const bool leaf = shape.leaf[node] != 0;
        append_numbers(out, tree, shape, node);
        append_test(out, tree, node, leaf, first);
        pruned.origin.push_back(leaf ? -1 : next);
        if (!leaf) first += static_cast<std::size_t>(tree.n_children[node]);
    }
    return pruned;
}

namespace {

/// Errors as a leaf and below are sums of counts, in units of 2^low.
template <int W>
Shape collapsed(const FlatTree &tree, std::span<const std::int32_t> said, int low, Cancel &cancel) {
    constexpr double epsilon = 0.001;
    Shape shape(tree);
    std::vector<Fixed<W>> errors(tree.n_nodes()); // of the leaves at and below the node
    Pace pace(cancel, 20 * W);
    for (std::size_t i = tree.n_nodes(); i-- > 0;) {
        Fixed<W> own, below;
        for (auto j = static_cast<std::size_t>(tree.count_start[i]);
             j < static_cast<std::size_t>(tree.count_start[i + 1]); ++j) {
            pace.step();
            Decomposed count = decompose(tree.count[j]);
            if (tree.count_class[j] != said[i] && count.mantissa != 0)
                own.add_shifted(count.mantissa, static_cast<unsigned>(count.exponent - low));
        }
        for (std::int32_t c = 0; c < tree.n_children[i]; ++c)
            below += errors[static_cast<std::size_t>(tree.first_child[i] + c)];
        if (!shape.leaf[i] && nearest_double(below, low) >= nearest_double(own, low) - epsilon)
            shape.leaf[i] = 1;
        errors[i] = shape.leaf[i] ? own : below;
    }
    return shape;
}

} // namespace

Pruned collapse(const FlatTree &tree, std::span<const std::int32_t> said, Cancel &cancel) {
    const ExponentSpan span = span_of(tree.count, cancel);
    const int bits = span.bits() + 32 + 16 + 1; // fewer than 2^32 nodes and 2^16 classes, and a sign
    auto shape = bits <= 128 ? collapsed<2> : bits <= 512 ? collapsed<8> : collapsed<34>; // all doubles
    return rebuild(tree, shape(tree, said, span.lowest, cancel), cancel);
}

namespace {

template <int W>
std::vector<double> exact_masses(std::span<const std::int64_t> start, std::span<const std::int32_t> classes,
                                 std::span<const double> count, std::span<const double> factor, int low_count,
                                 int low_factor, Cancel &cancel) {
    std::vector<double> mass;
    mass.reserve(start.size());
    Pace pace(cancel, 10 * W);
    for (std::size_t node = 0; node + 1 < start.size(); ++node) {
        pace.step();
        Fixed<W> sum;
        for (auto i = static_cast<std::size_t>(start[node]); i < static_cast<std::size_t>(start[node + 1]);
             ++i) {
            pace.step();
            Decomposed c = decompose(count[i]), z = decompose(factor[static_cast<std::size_t>(classes[i])]);
            if (c.mantissa != 0 && z.mantissa != 0)
                sum.add_shifted(static_cast<__int128>(c.mantissa) * z.mantissa,
                                static_cast<unsigned>(c.exponent - low_count + z.exponent - low_factor));
        }
        mass.push_back(nearest_double(sum, low_count + low_factor));
    }
    return mass;
}

} // namespace

std::vector<double> masses(std::span<const std::int64_t> count_start,
                           std::span<const std::int32_t> count_class, std::span<const double> count,
                           std::span<const double> factor, Cancel &cancel) {
    const ExponentSpan counts = span_of(count, cancel), factors = span_of(factor, cancel);
    const int bits = counts.bits() + factors.bits() + 16 + 1; // fewer than 2^16 classes, and a sign
    auto exact = bits <= 256 ? exact_masses<4> : exact_masses<68>;
    return exact(count_start, count_class, count, factor, counts.lowest, factors.lowest, cancel);
}

} // namespace hornbeam
