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
                std::span<const ClassCode> classes, std::vector<double> &tally) {
    for (std::uint32_t row : at) tally[classes[row]] += 1.0;
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

Sender::Sender(const FlatTree &tree, const PruneRows &rows, std::span<const std::int32_t> standing)
    : tree_(tree), columns_(rows.columns), standing_(standing), tests_(tree.n_nodes()) {
    for (std::size_t i = 0; i < tests_.size(); ++i) {
        if (tree.n_children[i] == 0) {
            close(i, i);
            continue;
        }
        auto a = static_cast<std::size_t>(tree.attribute[i]);
        Test &t = tests_[i];
        t.data = columns_[a].data;
        t.stride = columns_[a].stride;
        t.kind = static_cast<AttributeKind>(rows.attribute_kinds[a]);
        t.first = static_cast<std::uint32_t>(tree.first_child[i]);
        t.second = tree.default_child[i] == 1;
        if (t.kind == AttributeKind::integer)
            t.bound.integer = tree.threshold_integer[i];
        else if (t.kind == AttributeKind::floating)
            t.bound.real = tree.threshold[i];
        else
            add_map(i);
    }
}

void Sender::add_map(std::size_t node) {
    auto begin = static_cast<std::size_t>(tree_.branch_start[node]),
         end = static_cast<std::size_t>(tree_.branch_start[node + 1]);
    auto base = static_cast<std::size_t>(tree_.branch_code[begin]),
         span = static_cast<std::size_t>(tree_.branch_code[end - 1]) - base + 1;
    Test &test = tests_[node];
    test.bound.map = -1;
    if (span > 8 * (end - begin) + 64) return;
    test.bound.map = static_cast<std::int64_t>(maps_.size());
    auto otherwise = test.first + static_cast<std::uint32_t>(tree_.default_child[node]);
    maps_.push_back(static_cast<std::uint32_t>(base));
    maps_.push_back(static_cast<std::uint32_t>(span));
    maps_.resize(maps_.size() + 1 + span, otherwise);
    std::uint32_t *places = maps_.data() + (maps_.size() - span);
    for (std::size_t b = begin; b < end; ++b)
        places[static_cast<std::size_t>(tree_.branch_code[b]) - base] =
            test.first + static_cast<std::uint32_t>(tree_.branch_child[b]);
}

void Sender::close(std::size_t node, std::size_t place) {
    static constexpr double zero = 0.0;
    Test &t = tests_[node];
    t.data = reinterpret_cast<const char *>(&zero);
    t.stride = 0;
    t.bound.real = 0.0;
    t.first = static_cast<std::uint32_t>(place);
    t.kind = AttributeKind::floating;
}

std::uint32_t Sender::step_other(std::size_t node, const char *at, std::size_t row) const {
    const Test &test = tests_[node];
    std::size_t place = test.first;
    if (test.kind == AttributeKind::integer) {
        const RouteColumn &column = columns_[static_cast<std::size_t>(tree_.attribute[node])];
        std::int64_t x = 0;
        std::memcpy(&x, at, sizeof x);
        bool missing = column.missing != nullptr &&
                       column.missing[static_cast<std::ptrdiff_t>(row) * column.missing_stride] != 0;
        place += missing ? test.second : x > test.bound.integer;
    } else {
        std::int32_t code = 0;
        std::memcpy(&code, at, sizeof code);
        place = place_of(node, code);
    }
    return static_cast<std::uint32_t>(standing_[place]);
}

std::size_t Sender::place_of(std::size_t node, std::int32_t code) const {
    const Test &test = tests_[node];
    if (test.bound.map >= 0) {
        // Missing and never seen codes are negative: in unsigned arithmetic they lie beyond every span.
        const std::uint32_t *map = maps_.data() + test.bound.map;
        std::uint32_t i = static_cast<std::uint32_t>(code) - map[0];
        return i < map[1] ? map[3 + i] : map[2];
    }
    auto begin = tree_.branch_code.begin() + tree_.branch_start[node],
         end = tree_.branch_code.begin() + tree_.branch_start[node + 1];
    auto found = std::lower_bound(begin, end, code);
    bool known = found != end && *found == code;
    auto which = static_cast<std::size_t>(found - tree_.branch_code.begin());
    return test.first +
           static_cast<std::size_t>(known ? tree_.branch_child[which] : tree_.default_child[node]);
}

std::vector<std::uint32_t> rows_by_leaf(const FlatTree &tree, const PruneRows &rows,
                                        std::vector<std::uint32_t> &begin, std::vector<std::uint32_t> &end,
                                        Cancel &cancel) {
    std::vector<std::int32_t> leaf(rows.n_rows);
    Router(tree, rows.attribute_kinds, cancel).apply(rows.columns, rows.n_rows, 1, leaf.data(), cancel);
    std::vector<std::uint32_t> order(rows.n_rows);
    begin.assign(tree.n_nodes(), 0);
    end.assign(tree.n_nodes(), 0);
    for (std::int32_t l : leaf) ++end[static_cast<std::size_t>(l)];
    std::uint32_t at = 0;
    std::vector<std::size_t> leaves = leaves_in_order(tree);
    for (std::size_t l : leaves) {
        begin[l] = at;
        at += end[l];
        end[l] = begin[l];
    }
    for (std::size_t row = 0; row < rows.n_rows; ++row)
        order[end[static_cast<std::size_t>(leaf[row])]++] = static_cast<std::uint32_t>(row);
    std::vector<double> tally(static_cast<std::size_t>(tree.n_classes), 0.0);
    for (std::size_t l : leaves)
        check_leaf(tree, l, std::span(order).subspan(begin[l], end[l] - begin[l]), rows.classes, tally);
    for (std::size_t i = tree.n_nodes(); i-- > 0;) {
        if (tree.n_children[i] == 0) continue;
        auto first = static_cast<std::size_t>(tree.first_child[i]);
        begin[i] = begin[first];
        end[i] = end[first + static_cast<std::size_t>(tree.n_children[i]) - 1];
    }
    return order;
}

} // namespace hornbeam
