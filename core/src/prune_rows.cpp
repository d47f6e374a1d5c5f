// Rows at the nodes of a tree: sorted once by leaf, checked against what the tree says of itself.
#include "prune_rows.hpp"

#include <algorithm>
#include <string>

namespace hornbeam {

namespace {

/// The leaves of the tree, in preorder.
std::vector<std::size_t> leaves_in_order(const FlatTree &tree) {
    std::vector<std::size_t> leaves, waiting{0};
    while (!waiting.empty()) {
        std::size_t node = waiting.back();
        waiting.pop_back();
        if (tree.n_children[node] == 0) leaves.push_back(node);
        for (std::int32_t c = tree.n_children[node]; c-- > 0;)
            waiting.push_back(static_cast<std::size_t>(tree.first_child[node] + c));
    }
    return leaves;
}

void check_leaf(const FlatTree &tree, std::size_t leaf, std::span<const std::uint32_t> at,
                std::span<const ClassCode> classes, std::vector<double> &tally, Pace &pace) {
    pace.step();
    for (std::uint32_t row : at) {
        pace.step();
        tally[classes[row]] += 1.0;
    }
    double known = 0.0;
    bool same = true;
    for (auto i = static_cast<std::size_t>(tree.count_start[leaf]);
         i < static_cast<std::size_t>(tree.count_start[leaf + 1]); ++i) {
        same &= tally[static_cast<std::size_t>(tree.count_class[i])] == tree.count[i];
        known += tree.count[i];
    }
    for (std::uint32_t row : at) tally[classes[row]] = 0.0;
    if (!same || known != static_cast<double>(at.size()))
        throw OtherRows("the rows are not those that the tree was grown from: leaf " + std::to_string(leaf) +
                        " has others");
}

} // namespace

Sender::Sender(const FlatTree &tree, std::span<const RouteColumn> columns,
               std::span<const std::uint8_t> attribute_kinds)
    : tree_(tree), tests_(tree.n_nodes()) {
    for (std::size_t i = 0; i < tests_.size(); ++i) {
        if (tree.n_children[i] == 0) continue;
        auto a = static_cast<std::size_t>(tree.attribute[i]);
        Test &t = tests_[i];
        t.data = columns[a].data;
        t.stride = columns[a].stride;
        t.real = tree.threshold[i];
        t.integer = tree.threshold_integer[i];
        t.missing = columns[a].missing;
        t.missing_stride = columns[a].missing_stride;
        t.branch_begin = static_cast<std::uint32_t>(tree.branch_start[i]);
        t.branch_end = static_cast<std::uint32_t>(tree.branch_start[i + 1]);
        t.first = static_cast<std::uint32_t>(tree.first_child[i]);
        t.otherwise = static_cast<std::uint32_t>(tree.default_child[i]);
        t.kind = static_cast<AttributeKind>(attribute_kinds[a]);
    }
}

std::size_t Sender::of_integer(const Test &test, const char *at, std::ptrdiff_t row) const {
    if (test.missing != nullptr && test.missing[row * test.missing_stride] != 0)
        return test.first + test.otherwise;
    std::int64_t x = 0;
    std::memcpy(&x, at, sizeof x);
    return test.first + (x > test.integer);
}

std::size_t Sender::of_category(const Test &test, const char *at) const {
    std::int32_t code = 0;
    std::memcpy(&code, at, sizeof code);
    auto begin = tree_.branch_code.begin() + test.branch_begin,
         end = tree_.branch_code.begin() + test.branch_end;
    auto found = std::lower_bound(begin, end, code);
    if (found == end || *found != code) return test.first + test.otherwise;
    return test.first + static_cast<std::size_t>(
                            tree_.branch_child[static_cast<std::size_t>(found - tree_.branch_code.begin())]);
}

std::vector<std::uint32_t> rows_by_leaf(const FlatTree &tree, const PruneRows &rows,
                                        std::vector<std::uint32_t> &begin, std::vector<std::uint32_t> &end,
                                        Cancel &cancel) {
    std::vector<std::int32_t> leaf(rows.n_rows);
    Router(tree, rows.attribute_kinds, cancel).apply(rows.columns, rows.n_rows, 1, leaf.data(), cancel);
    begin.assign(tree.n_nodes(), 0);
    end.assign(tree.n_nodes(), 0);
    in_stretches(leaf.size(), cancel, [&](std::size_t lo, std::size_t hi) {
        for (std::size_t row = lo; row < hi; ++row) ++end[static_cast<std::size_t>(leaf[row])];
    });
    std::uint32_t at = 0;
    std::vector<std::size_t> leaves = leaves_in_order(tree);
    for (std::size_t l : leaves) {
        begin[l] = at;
        at += end[l];
        end[l] = begin[l];
    }
    std::vector<std::uint32_t> order(rows.n_rows);
    in_stretches(leaf.size(), cancel, [&](std::size_t lo, std::size_t hi) {
        for (std::size_t row = lo; row < hi; ++row)
            order[end[static_cast<std::size_t>(leaf[row])]++] = static_cast<std::uint32_t>(row);
    });
    std::vector<double> tally(static_cast<std::size_t>(tree.n_classes), 0.0);
    Pace pace(cancel, 20);
    for (std::size_t l : leaves)
        check_leaf(tree, l, std::span(order).subspan(begin[l], end[l] - begin[l]), rows.classes, tally, pace);
    for (std::size_t i = tree.n_nodes(); i-- > 0;) {
        if (tree.n_children[i] == 0) continue;
        auto first = static_cast<std::size_t>(tree.first_child[i]);
        begin[i] = begin[first];
        end[i] = end[first + static_cast<std::size_t>(tree.n_children[i]) - 1];
    }
    return order;
}

} // namespace hornbeam
