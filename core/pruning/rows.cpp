// Rows at the nodes of a tree: sorted once by leaf, and sent on by its tests.
#include "pruning/rows.hpp"

#include <algorithm>
#include <bit>
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
    if (row_size_ > 0 && std::all_of(rows.attribute_kinds.begin(), rows.attribute_kinds.end(), is_float)) {
        floats_.resize(tree.n_nodes());
    } else {
        tests_.resize(tree.n_nodes());
        pack(rows.n_rows, cancel);
    }
    Pace pace(cancel, 20);
    for (std::size_t i = 0; i < tree.n_nodes(); ++i) {
        pace.step();
        if (tree.n_children[i] == 0)
            close(i);
        else if (floats_.empty())
            add_test(i, pace);
        else
            add_float(i, static_cast<std::size_t>(tree.attribute[i]));
    }
}

namespace {

constexpr std::uint64_t lowest = std::uint64_t{1} << 63; // of signed integers

/// In the order of the numbers, as signed integers; NaN is the lowest.
std::uint64_t ordered(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x + 0.0); // -0.0 is 0.0
    return x != x ? lowest : bits ^ (bits >> 63 != 0 ? ~lowest : 0);
}

template <class T, class Change> void pack_column(const RouteColumn &column, std::size_t lo, std::size_t hi,
                                                  char *to, std::ptrdiff_t row_size, Change change) {
    for (std::size_t row = lo; row < hi; ++row, to += row_size) {
        T x{};
        std::memcpy(&x, column.data + static_cast<std::ptrdiff_t>(row) * column.stride, sizeof x);
        const auto packed = change(x);
        std::memcpy(to, &packed, sizeof packed);
    }
}

} // namespace

/// Puts the values that tests ask for side by side, row after row: eight bytes for a number, two for a label.
/// A short row does not lie across two lines of the cache.
void Sender::pack(std::size_t n_rows, Cancel &cancel) {
    packed_at_.assign(columns_.size(), 0);
    std::vector<std::size_t> asked;
    for (std::size_t i = 0; i < tree_.n_nodes(); ++i)
        if (tree_.n_children[i] != 0) packed_at_[static_cast<std::size_t>(tree_.attribute[i])] = 1;
    std::uint32_t size = 0;
    for (std::size_t a = 0; a < columns_.size(); ++a) {
        if (packed_at_[a] == 0) continue;
        asked.push_back(a);
        packed_at_[a] = size;
        size += columns_[a].kind == AttributeKind::nominal ? sizeof(std::uint16_t) : sizeof(std::int64_t);
    }
    constexpr std::uint32_t line = 64;
    if (size <= line) size = std::bit_ceil(size);
    row_size_ = static_cast<std::ptrdiff_t>(size);
    std::size_t space = n_rows * size + sizeof(std::uint64_t) + line; // what is read beyond a last label
    packed_ = std::make_unique_for_overwrite<char[]>(space);
    void *begin = packed_.get();
    char *first = static_cast<char *>(std::align(line, space - line, begin, space));
    first_row_ = first;
    auto same = [](std::int64_t x) { return x; };
    // Missing and never seen codes are negative; with those that are too large they are the last one.
    auto narrowed = [](std::int32_t code) {
        return static_cast<std::uint16_t>(std::min(static_cast<std::uint32_t>(code), last_label));
    };
    constexpr std::size_t block = 256; // rows that stay close while one column after the other comes in
    Pace pace(cancel, 2000);
    for (std::size_t lo = 0; lo < n_rows; lo += block) {
        const std::size_t hi = std::min(lo + block, n_rows);
        for (std::size_t a : asked) {
            pace.step();
            const RouteColumn &column = columns_[a];
            char *to = first + lo * size + packed_at_[a];
            if (column.kind == AttributeKind::floating)
                pack_column<double>(column, lo, hi, to, row_size_, ordered);
            else if (column.kind == AttributeKind::integer)
                pack_column<std::int64_t>(column, lo, hi, to, row_size_, same);
            else
                pack_column<std::int32_t>(column, lo, hi, to, row_size_, narrowed);
        }
    }
}

void Sender::add_test(std::size_t node, Pace &pace) {
    const auto attribute = static_cast<std::size_t>(tree_.attribute[node]);
    const RouteColumn &column = columns_[attribute];
    Test &t = tests_[node];
    const auto first = static_cast<std::uint32_t>(tree_.first_child[node]);
    t.child[0] = first, t.child[1] = first + 1;
    t.place = packed_at_[attribute];
    if (column.kind == AttributeKind::floating) {
        // Counted from the next number on, the lowest lies above all others: missing values go to the second.
        t.base = lowest + (tree_.default_child[node] == 1);
        t.bound = ordered(tree_.threshold[node]) - t.base;
    } else if (column.kind == AttributeKind::integer) {
        t.base = lowest;
        t.bound = static_cast<std::uint64_t>(tree_.threshold_integer[node]) - t.base;
        t.slow = column.missing != nullptr;
    } else {
        t.label = add_label(node);
        t.slow = !t.label;
        if (t.slow) add_map(node, pace);
    }
}

void Sender::find_rows() {
    constexpr std::ptrdiff_t most = std::numeric_limits<std::int32_t>::max();
    if (columns_.size() < 2 || columns_[0].stride <= 0 || columns_[0].stride > most) return;
    for (const RouteColumn &column : columns_) {
        std::ptrdiff_t place = column.data - columns_[0].data;
        if (column.stride != columns_[0].stride || place < 0 || place >= column.stride) return;
    }
    first_row_ = columns_[0].data;
    row_size_ = columns_[0].stride;
}

/// Whether there are two children, and codes that lie close enough together, and below the last label.
bool Sender::add_label(std::size_t node) {
    auto begin = static_cast<std::size_t>(tree_.branch_start[node]),
         end = static_cast<std::size_t>(tree_.branch_start[node + 1]);
    const std::int32_t base = tree_.branch_code[begin], last = tree_.branch_code[end - 1];
    if (tree_.n_children[node] != 2 || last - base >= static_cast<std::int32_t>(last_bit) ||
        base > static_cast<std::int32_t>(last_label - last_bit))
        return false;
    Test &test = tests_[node];
    test.base = static_cast<std::uint64_t>(base);
    test.bound = tree_.default_child[node] == 1 ? ~std::uint64_t{0} : 0;
    for (std::size_t b = begin; b < end; ++b) {
        const std::uint64_t bit = std::uint64_t{1} << (tree_.branch_code[b] - base);
        // In brief a test lists categories that are no longer present: they go where all others go.
        if (tree_.branch_child[b] == 0) test.bound &= ~bit;
        if (tree_.branch_child[b] == 1) test.bound |= bit;
    }
    return true;
}

void Sender::add_map(std::size_t node, Pace &pace) {
    auto begin = static_cast<std::size_t>(tree_.branch_start[node]),
         end = static_cast<std::size_t>(tree_.branch_start[node + 1]);
    auto base = static_cast<std::size_t>(tree_.branch_code[begin]),
         span = static_cast<std::size_t>(tree_.branch_code[end - 1]) - base + 1;
    Test &test = tests_[node];
    test.bound = no_map;
    if (span > 8 * (end - begin) + 64) return;
    test.bound = maps_.size();
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
    if (!floats_.empty()) {
        floats_[node].child[0] = floats_[node].child[1] = static_cast<std::uint32_t>(node);
        return;
    }
    Test &t = tests_[node];
    t.child[0] = t.child[1] = static_cast<std::uint32_t>(node);
    t.slow = false;
}

void Sender::stand(std::size_t parent, std::size_t place) {
    const std::size_t which = place - static_cast<std::size_t>(tree_.first_child[parent]);
    const auto child = static_cast<std::uint32_t>(standing_[place]);
    if (!floats_.empty()) {
        FloatTest &t = floats_[parent];
        t.child[t.sign == 0 ? which : 1 - which] = child;
    } else if (!tests_[parent].slow) { // that looks the place up
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
    std::int64_t x = 0;
    std::memcpy(&x, at, sizeof x);
    return static_cast<std::uint32_t>(
        standing_[missing ? otherwise : first + (x > tree_.threshold_integer[node])]);
}

std::size_t Sender::place_of(std::size_t node, std::int32_t code) const {
    const Test &test = tests_[node];
    if (test.bound != no_map) {
        // Missing and never seen codes are negative: in unsigned arithmetic they lie beyond every span.
        const std::uint32_t *map = maps_.data() + test.bound;
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
