// Reading the pruned tree out of the grown one, and what its counts alone say: C4.5's collapse, masses.
#include "pruning/shape.hpp"

#include <span>

#include "numbers/exact.hpp"
#include "pruning/prune.hpp"

namespace hornbeam {

namespace {

/// How many counts and categories the nodes of the new tree have, and how many are in place by now.
struct Lengths {
    std::size_t counts = 0, branches = 0;
};

std::size_t counts_at(const FlatTree &tree, const Shape &shape, std::size_t node) {
    if (tree.count_start.empty()) return 0;
    if (shape.recounted[node] >= 0)
        return shape.recounts[static_cast<std::size_t>(shape.recounted[node])].counts.size();
    return static_cast<std::size_t>(tree.count_start[node + 1] - tree.count_start[node]);
}
std::size_t branches_at(const FlatTree &tree, std::size_t node) {
    return static_cast<std::size_t>(tree.branch_start[node + 1] - tree.branch_start[node]);
}

/// Room for so many nodes, all of them leaves.
void resize(FlatTree &out, const FlatTree &tree, std::size_t n_nodes, const Lengths &all) {
    out.kind.resize(n_nodes, static_cast<std::uint8_t>(TestKind::leaf));
    for (auto *numbers : {&out.attribute, &out.first_child, &out.default_child}) numbers->resize(n_nodes, -1);
    out.n_children.resize(n_nodes);
    for (auto *numbers : {&out.threshold, &out.weight, &out.impurity, &out.gain}) numbers->resize(n_nodes);
    for (auto *numbers : {&out.threshold_integer, &out.rows}) numbers->resize(n_nodes);
    out.branch_start.resize(n_nodes + 1);
    out.branch_code.resize(all.branches);
    out.branch_child.resize(all.branches);
    if (!tree.count_start.empty()) out.count_start.resize(n_nodes + 1);
    out.count_class.resize(all.counts);
    out.count.resize(all.counts);
    out.mean.resize(n_nodes * static_cast<std::size_t>(tree.n_targets));
}

void set_numbers(FlatTree &out, std::size_t at, const FlatTree &tree, const Shape &shape, std::size_t node,
                 Lengths &set) {
    if (shape.recounted[node] >= 0) {
        const Recount &r = shape.recounts[static_cast<std::size_t>(shape.recounted[node])];
        out.rows[at] = r.rows;
        out.weight[at] = r.weight;
        out.impurity[at] = r.impurity;
        for (const ClassCount &c : r.counts) {
            out.count_class[set.counts] = c.code;
            out.count[set.counts++] = c.count;
        }
    } else {
        out.rows[at] = tree.rows[node];
        out.weight[at] = tree.weight[node];
        out.impurity[at] = tree.impurity[node];
        const std::size_t many = counts_at(tree, shape, node);
        for (std::size_t i = 0; i < many; ++i) {
            const std::size_t from = static_cast<std::size_t>(tree.count_start[node]) + i;
            out.count_class[set.counts] = tree.count_class[from];
            out.count[set.counts++] = tree.count[from];
        }
    }
    if (!tree.count_start.empty()) out.count_start[at + 1] = static_cast<std::int64_t>(set.counts);
    auto q = static_cast<std::size_t>(tree.n_targets);
    for (std::size_t t = 0; t < q; ++t) out.mean[at * q + t] = tree.mean[node * q + t];
}

void set_test(FlatTree &out, std::size_t at, const FlatTree &tree, std::size_t node, std::size_t first,
              Lengths &set) {
    out.kind[at] = tree.kind[node];
    out.attribute[at] = tree.attribute[node];
    out.first_child[at] = static_cast<std::int32_t>(first);
    out.n_children[at] = tree.n_children[node];
    out.default_child[at] = tree.default_child[node];
    out.threshold[at] = tree.threshold[node];
    out.threshold_integer[at] = tree.threshold_integer[node];
    out.gain[at] = tree.gain[node];
    for (auto b = static_cast<std::size_t>(tree.branch_start[node]);
         b < static_cast<std::size_t>(tree.branch_start[node + 1]); ++b) {
        out.branch_code[set.branches] = tree.branch_code[b];
        out.branch_child[set.branches++] = tree.branch_child[b];
    }
}

} // namespace

Pruned rebuild(const FlatTree &tree, const Shape &shape, Cancel &cancel) {
    Pruned pruned;
    FlatTree &out = pruned.tree;
    out.n_classes = tree.n_classes;
    out.n_targets = tree.n_targets;
    std::vector<std::int32_t> queue;
    queue.reserve(tree.n_nodes());
    queue.push_back(shape.standing[0]);
    Lengths all, set;
    Pace pace(cancel, 100);
    for (std::size_t at = 0; at < queue.size(); ++at) {
        pace.step();
        auto node = static_cast<std::size_t>(queue[at]);
        all.counts += counts_at(tree, shape, node);
        if (shape.leaf[node]) continue;
        all.branches += branches_at(tree, node);
        for (std::int32_t c = 0; c < tree.n_children[node]; ++c)
            queue.push_back(shape.standing[static_cast<std::size_t>(tree.first_child[node] + c)]);
    }
    resize(out, tree, queue.size(), all);
    pruned.origin.resize(queue.size(), -1);
    std::size_t first = 1; // child of the next inner node
    for (std::size_t at = 0; at < queue.size(); ++at) {
        pace.step();
        auto node = static_cast<std::size_t>(queue[at]);
        set_numbers(out, at, tree, shape, node, set);
        if (!shape.leaf[node]) {
            set_test(out, at, tree, node, first, set);
            pruned.origin[at] = queue[at];
            first += static_cast<std::size_t>(tree.n_children[node]);
        }
        out.branch_start[at + 1] = static_cast<std::int64_t>(set.branches);
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
