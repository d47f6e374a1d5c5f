// Rows at the nodes of a tree: sorted once by leaf, and sent on by its tests.
#include "prune_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hornbeam {

namespace {

/// The leaves of the tree, in preorder.
std::vector<std::size_t> leaves_in_order(const FlatTree &tree, Cancel &cancel) {
    std::vector<std::size_t> leaves, waiting{0};
    Pace pace(cancel, 10);
    while (!waiting.empty()) {
        pace.step();
        std::size_t node = waiting.back();
        waiting.pop_back();
        if (tree.n_children[node] == 0) leaves.push_back(node);
        for (std::int32_t c = tree.n_children[node]; c-- > 0;)
            waiting.push_back(static_cast<std::size_t>(tree.first_child[node] + c));
    }
    return leaves;
}

} // namespace

Sender::Sender(const FlatTree &tree, const PruneRows &rows, std::span<const std::int32_t> standing,
               Cancel &cancel)
    : tree_(tree), columns_(rows.columns), standing_(standing) {
    find_rows();
    auto is_float = [](std::uint8_t kind) {
        return static_cast<AttributeKind>(kind) == AttributeKind::floating;
    };
    if (row_size_ > 0 && std::all_of(rows.attribute_kinds.begin(), rows.attribute_kinds.end(), is_float))
        floats_.resize(tree.n_nodes());
    else
        tests_.resize(tree.n_nodes());
    Pace pace(cancel, 20);
    for (std::size_t i = 0; i < tree.n_nodes(); ++i) {
        pace.step();
        if (tree.n_children[i] == 0) {
            close(i);
            continue;
        }
        auto a = static_cast<std::size_t>(tree.attribute[i]);
        auto kind = static_cast<AttributeKind>(rows.attribute_kinds[a]);
        auto first = static_cast<std::uint32_t>(tree.first_child[i]);
        if (!floats_.empty()) {
            add_float(i, a);
            continue;
        }
        Test &t = tests_[i];
        t.data = columns_[a].data;
        t.stride = static_cast<std::int32_t>(columns_[a].stride);
        const bool near = t.stride == columns_[a].stride;
        t.child[0] = first, t.child[1] = first + 1;
        if (kind == AttributeKind::floating) {
            t.bound.real = tree.threshold[i];
            t.missing = tree.default_child[i] == 1;
            t.how = near ? How::floats : How::slow;
        } else if (kind == AttributeKind::integer) {
            t.bound.integer = tree.threshold_integer[i];
            t.how = near && columns_[a].missing == nullptr ? How::integers : How::slow;
        } else {
            t.how = near && add_bits(i) ? How::labels : How::slow;
            if (t.how == How::slow) add_map(i, pace);
        }
    }
}

void Sender::find_rows() {
    constexpr std::ptrdiff_t most = 256; // beyond, a row has too many values that no test asks for
    if (columns_.size() < 2 || columns_[0].stride <= 0 || columns_[0].stride > most) return;
    for (const RouteColumn &column : columns_) {
        std::ptrdiff_t place = column.data - columns_[0].data;
        if (column.stride != columns_[0].stride || place < 0 || place >= column.stride) return;
    }
    first_row_ = columns_[0].data;
    row_size_ = columns_[0].stride;
}

/// Two children, and codes that lie close enough together.
bool Sender::add_bits(std::size_t node) {
    auto begin = static_cast<std::size_t>(tree_.branch_start[node]),
         end = static_cast<std::size_t>(tree_.branch_start[node + 1]);
    const std::int32_t base = tree_.branch_code[begin], last = tree_.branch_code[end - 1];
    if (tree_.n_children[node] != 2 || last - base >= static_cast<std::int32_t>(most_bits) ||
        last > std::numeric_limits<std::uint16_t>::max())
        return false;
    Test &test = tests_[node];
    test.base = static_cast<std::uint16_t>(base);
    test.bound.right = tree_.default_child[node] == 1 ? ~std::uint64_t{0} : 0;
    for (std::size_t b = begin; b < end; ++b) {
        const std::uint64_t bit = std::uint64_t{1} << (tree_.branch_code[b] - base);
        // In brief a test lists categories that are no longer present: they go where all others go.
        if (tree_.branch_child[b] == 0) test.bound.right &= ~bit;
        if (tree_.branch_child[b] == 1) test.bound.right |= bit;
    }
    return true;
}

void Sender::add_map(std::size_t node, Pace &pace) {
    auto begin = static_cast<std::size_t>(tree_.branch_start[node]),
         end = static_cast<std::size_t>(tree_.branch_start[node + 1]);
    auto base = static_cast<std::size_t>(tree_.branch_code[begin]),
         span = static_cast<std::size_t>(tree_.branch_code[end - 1]) - base + 1;
    Test &test = tests_[node];
    test.bound.map = -1;
    if (span > 8 * (end - begin) + 64) return;
    test.bound.map = static_cast<std::int64_t>(maps_.size());
    auto otherwise = test.child[0] + static_cast<std::uint32_t>(tree_.default_child[node]);
    maps_.push_back(static_cast<std::uint32_t>(base));
    maps_.push_back(static_cast<std::uint32_t>(span));
    maps_.resize(maps_.size() + 1 + span, otherwise);
    std::uint32_t *places = maps_.data() + (maps_.size() - span);
    for (std::size_t b = begin; b < end; ++b) {
        pace.step();
        if (tree_.branch_child[b] >= 0)
            places[static_cast<std::size_t>(tree_.branch_code[b]) - base] =
                test.child[0] + static_cast<std::uint32_t>(tree_.branch_child[b]);
    }
}

void Sender::add_float(std::size_t node, std::size_t attribute) {
    FloatTest &t = floats_[node];
    auto first = static_cast<std::uint32_t>(tree_.first_child[node]);
    const bool turned = tree_.default_child[node] == 1;
    t.place = static_cast<std::uint32_t>(columns_[attribute].data - first_row_);
    t.child[turned] = first, t.child[!turned] = first + 1;
    t.bound = tree_.threshold[node];
    if (!turned) return;
    // x <= bound is -x >= -bound, and that is -x above the next double below -bound.
    t.sign = std::uint64_t{1} << 63;
    t.bound = std::nextafter(-t.bound, -std::numeric_limits<double>::infinity());
}

void Sender::close(std::size_t node) {
    static constexpr double zero = 0.0;
    if (!floats_.empty()) {
        floats_[node].child[0] = floats_[node].child[1] = static_cast<std::uint32_t>(node);
        return;
    }
    Test &t = tests_[node];
    t.data = reinterpret_cast<const char *>(&zero);
    t.stride = 0;
    t.bound.real = 0.0;
    t.child[0] = t.child[1] = static_cast<std::uint32_t>(node);
    t.how = How::floats;
}

void Sender::stand(std::size_t parent, std::size_t place) {
    const std::size_t which = place - static_cast<std::size_t>(tree_.first_child[parent]);
    const auto child = static_cast<std::uint32_t>(standing_[place]);
    if (!floats_.empty()) {
        FloatTest &t = floats_[parent];
        t.child[t.sign == 0 ? which : 1 - which] = child;
    } else if (tests_[parent].how != How::slow) { // that looks the place up
        tests_[parent].child[which] = child;
    }
}

std::uint32_t Sender::step_slowly(std::size_t node, std::size_t row) const {
    const RouteColumn &column = columns_[static_cast<std::size_t>(tree_.attribute[node])];
    const char *at = column.data + static_cast<std::ptrdiff_t>(row) * column.stride;
    auto first = static_cast<std::size_t>(tree_.first_child[node]),
         otherwise = first + static_cast<std::size_t>(tree_.default_child[node]);
    if (column.kind == AttributeKind::nominal) {
        std::int32_t code = 0;
        std::memcpy(&code, at, sizeof code);
        return static_cast<std::uint32_t>(standing_[place_of(node, code)]);
    }
    bool missing = column.missing != nullptr &&
                   column.missing[static_cast<std::ptrdiff_t>(row) * column.missing_stride] != 0;
    bool above = false;
    if (column.kind == AttributeKind::floating) {
        double x = 0;
        std::memcpy(&x, at, sizeof x);
        missing = x != x;
        above = x > tree_.threshold[node];
    } else {
        std::int64_t x = 0;
        std::memcpy(&x, at, sizeof x);
        above = x > tree_.threshold_integer[node];
    }
    return static_cast<std::uint32_t>(standing_[missing ? otherwise : first + above]);
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
    auto which = static_cast<std::size_t>(found - tree_.branch_code.begin());
    bool known = found != end && *found == code && tree_.branch_child[which] >= 0;
    return test.child[0] +
           static_cast<std::size_t>(known ? tree_.branch_child[which] : tree_.default_child[node]);
}

namespace {

/// Sorts the rows by leaf; `end` holds how many each leaf has got, `begin` where they lie.
std::vector<std::uint32_t> sorted_by_leaf(const FlatTree &tree, const PruneRows &rows,
                                          std::span<const std::size_t> leaves,
                                          std::vector<std::uint32_t> &begin, std::vector<std::uint32_t> &end,
                                          Cancel &cancel) {
    std::vector<std::int32_t> leaf(rows.n_rows);
    Router(tree, rows.attribute_kinds, cancel).apply(rows.columns, rows.n_rows, 1, leaf.data(), cancel);
    auto absent = [&](std::size_t row) { return !rows.weights.empty() && rows.weights[row] == 0.0; };
    std::uint32_t all = 0;
    in_stretches(rows.n_rows, cancel, [&](std::size_t lo, std::size_t hi) {
        for (std::size_t row = lo; row < hi; ++row)
            if (!absent(row)) ++end[static_cast<std::size_t>(leaf[row])], ++all;
    });
    std::uint32_t at = 0;
    for (std::size_t l : leaves) {
        begin[l] = at;
        at += end[l];
        end[l] = begin[l];
    }
    std::vector<std::uint32_t> order(all);
    in_stretches(rows.n_rows, cancel, [&](std::size_t lo, std::size_t hi) {
        for (std::size_t row = lo; row < hi; ++row)
            if (!absent(row))
                order[end[static_cast<std::size_t>(leaf[row])]++] = static_cast<std::uint32_t>(row);
    });
    return order;
}

/// The order that the grower left; leaves have as many rows as the tree says.
std::vector<std::uint32_t> known_order(const FlatTree &tree, const PruneRows &rows,
                                       std::span<const std::size_t> leaves, std::vector<std::uint32_t> &begin,
                                       std::vector<std::uint32_t> &end) {
    std::size_t at = 0;
    for (std::size_t l : leaves) {
        begin[l] = static_cast<std::uint32_t>(at);
        at += static_cast<std::size_t>(std::max<std::int64_t>(tree.rows[l], 0));
        if (at > rows.order.size()) break;
        end[l] = static_cast<std::uint32_t>(at);
    }
    bool known = at == rows.order.size();
    for (std::uint32_t row : rows.order) known &= row < rows.n_rows;
    if (!known) throw OtherRows("the order of the rows is not that of the tree");
    return {rows.order.begin(), rows.order.end()};
}

} // namespace

std::vector<std::uint32_t> rows_by_leaf(const FlatTree &tree, const PruneRows &rows,
                                        std::vector<std::uint32_t> &begin, std::vector<std::uint32_t> &end,
                                        Cancel &cancel) {
    begin.assign(tree.n_nodes(), 0);
    end.assign(tree.n_nodes(), 0);
    std::vector<std::size_t> leaves = leaves_in_order(tree, cancel);
    std::vector<std::uint32_t> order = rows.order.empty()
                                           ? sorted_by_leaf(tree, rows, leaves, begin, end, cancel)
                                           : known_order(tree, rows, leaves, begin, end);
    for (std::size_t i = tree.n_nodes(); i-- > 0;) {
        if (tree.n_children[i] == 0) continue;
        auto first = static_cast<std::size_t>(tree.first_child[i]);
        begin[i] = begin[first];
        end[i] = end[first + static_cast<std::size_t>(tree.n_children[i]) - 1];
    }
    return order;
}

} // namespace hornbeam
