// A sketch as a tree whose children lie side by side.
#include <numeric>
#include <stdexcept>

#include "lookahead/lookahead.hpp"

namespace hornbeam {
namespace {

void expect(bool fits) {
    if (!fits) throw std::invalid_argument("the arrays of the sketch do not fit each other");
}

template <class T> std::int64_t sum(const std::vector<T> &numbers) {
    for (T x : numbers) expect(x >= 0);
    return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

void check(const Sketch &s) {
    const std::size_t n = s.n_nodes();
    expect(n > 0);
    for (std::size_t size : {s.attribute.size(), s.default_child.size(), s.n_children.size(),
                             s.threshold.size(), s.threshold_integer.size(), s.rows.size(), s.gain.size(),
                             s.impurity.size(), s.n_branches.size(), s.n_counts.size()})
        expect(size == n);
    const auto branches = static_cast<std::size_t>(sum(s.n_branches)),
               counts = static_cast<std::size_t>(sum(s.n_counts));
    expect(s.branch_code.size() == branches && s.branch_child.size() == branches);
    expect(s.count_class.size() == counts && s.count.size() == counts);
    expect(sum(s.n_children) == static_cast<std::int64_t>(n) - 1);
}

/// Where each node of the preorder goes: children get their numbers when their parent is met.
std::vector<std::int32_t> places(const Sketch &s, std::vector<std::int32_t> &first_child) {
    struct Open {
        std::int32_t next, last;
    };
    std::vector<std::int32_t> place(s.n_nodes());
    std::vector<Open> open{{0, 1}};
    std::int32_t free = 1;
    for (std::size_t i = 0; i < s.n_nodes(); ++i) {
        while (!open.empty() && open.back().next == open.back().last) open.pop_back();
        expect(!open.empty());
        place[i] = open.back().next++;
        const std::int32_t children = s.n_children[i];
        first_child[static_cast<std::size_t>(place[i])] = children == 0 ? -1 : free;
        if (children == 0) continue;
        open.push_back({free, free + children});
        free += children;
    }
    return place;
}

template <class T>
std::vector<T> placed(const std::vector<T> &values, const std::vector<std::int32_t> &place) {
    std::vector<T> out(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) out[static_cast<std::size_t>(place[i])] = values[i];
    return out;
}

std::vector<std::int64_t> starts(const std::vector<std::int32_t> &numbers) {
    std::vector<std::int64_t> out(numbers.size() + 1, 0);
    for (std::size_t i = 0; i < numbers.size(); ++i) out[i + 1] = out[i] + numbers[i];
    return out;
}

/// Moves the lists of the nodes to the order of `place`; `to` are their new starts.
template <class T>
std::vector<T> placed_lists(const std::vector<T> &values, const std::vector<std::int32_t> &numbers,
                            const std::vector<std::int32_t> &place, const std::vector<std::int64_t> &to) {
    std::vector<T> out(values.size());
    auto from = values.begin();
    for (std::size_t i = 0; i < numbers.size(); ++i, from += numbers[i - 1])
        std::copy_n(from, numbers[i], out.begin() + to[static_cast<std::size_t>(place[i])]);
    return out;
}

} // namespace

FlatTree flat(const Sketch &s, std::int32_t n_classes) {
    check(s);
    FlatTree t;
    t.n_classes = n_classes;
    t.first_child.resize(s.n_nodes());
    const std::vector<std::int32_t> place = places(s, t.first_child);
    t.kind = placed(s.kind, place);
    t.attribute = placed(s.attribute, place);
    t.n_children = placed(s.n_children, place);
    t.default_child = placed(s.default_child, place);
    t.threshold = placed(s.threshold, place);
    t.threshold_integer = placed(s.threshold_integer, place);
    t.rows = placed(std::vector<std::int64_t>(s.rows.begin(), s.rows.end()), place);
    t.weight.assign(t.rows.begin(), t.rows.end());
    t.impurity = placed(s.impurity, place);
    t.gain = placed(s.gain, place);
    t.branch_start = starts(placed(s.n_branches, place));
    t.branch_code = placed_lists(s.branch_code, s.n_branches, place, t.branch_start);
    t.branch_child = placed_lists(s.branch_child, s.n_branches, place, t.branch_start);
    t.count_start = starts(placed(s.n_counts, place));
    t.count_class = placed_lists(s.count_class, s.n_counts, place, t.count_start);
    t.count = placed_lists(s.count, s.n_counts, place, t.count_start);
    return t;
}

} // namespace hornbeam
