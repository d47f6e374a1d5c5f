// Growing a sketch node by node.
#include "lookahead/build.hpp"

#include <algorithm>
#include <utility>

#include "choice/threshold.hpp"
#include "lookahead/subset.hpp"

namespace hornbeam {
namespace {

constexpr std::uint64_t below_branch = std::uint64_t{1} << 40;

std::int64_t tests_of(const NodeAttribute &a, NominalMode mode) {
    if (!a.nominal) return a.values - 1;
    if (mode == NominalMode::multiway || a.values == 2) return 1;
    if (mode == NominalMode::value) return a.values;
    return a.values > most_listed_subsets ? a.values - 1 : (std::int64_t{1} << (a.values - 1)) - 1;
}

} // namespace

Sketch SketchBuilder::grow(std::span<const std::int32_t> rows, std::uint64_t key, const Choose &choose) {
    s_.order.assign(rows.begin(), rows.end());
    moved_.resize(rows.size());
    waiting_.push_back({from_.node_of(rows, cancel_), key, 0});
    while (!waiting_.empty()) {
        Waiting next = std::move(waiting_.back());
        waiting_.pop_back();
        cancel_.poll();
        settle(next, choose);
    }
    sum_up();
    return std::move(s_);
}

void SketchBuilder::settle(Waiting &at, const Choose &choose) {
    record(at);
    const NodeView &node = at.node.view;
    if (node.leaf()) return;
    const ChosenTest chosen = choose(node, at.key, rows_of(at));
    record_test(describe(node, chosen, rows_of(at)));
    part_rows(node, chosen.test.branches, at.start);
    std::vector<Waiting> children;
    std::size_t start = at.start;
    for (std::uint32_t i = 0; i < chosen.test.branches; ++i) {
        read_mask(node, chosen, i);
        Waiting child{sampler_.branch(node, mask_.data()), mix(at.key, below_branch + i), start};
        start += child.node.view.n;
        children.push_back(std::move(child));
    }
    for (std::size_t i = children.size(); i-- > 0;) waiting_.push_back(std::move(children[i]));
}

std::span<const std::int32_t> SketchBuilder::rows_of(const Waiting &at) const {
    return std::span(s_.order).subspan(at.start, at.node.view.n);
}
const Column &SketchBuilder::column(std::int32_t attribute) const {
    return from_.table_.columns[static_cast<std::size_t>(attribute)];
}
void SketchBuilder::read_mask(const NodeView &node, const ChosenTest &chosen, std::uint32_t branch) {
    mask_.resize(node.words);
    sampler_.mask(node, chosen.test, chosen.sides.data(), branch, mask_.data());
}

/// The node as a leaf.
void SketchBuilder::record(const Waiting &at) {
    s_.kind.push_back(static_cast<std::uint8_t>(TestKind::leaf));
    s_.attribute.push_back(-1);
    s_.default_child.push_back(-1);
    s_.n_children.push_back(0);
    s_.threshold.push_back(0.0);
    s_.threshold_integer.push_back(0);
    s_.start.push_back(static_cast<std::int32_t>(at.start));
    s_.rows.push_back(static_cast<std::int32_t>(at.node.view.n));
    s_.gain.push_back(0.0);
    s_.n_branches.push_back(0);
    record_counts(at);
    record_attributes(at.node.view);
}
void SketchBuilder::record_counts(const Waiting &at) {
    const std::uint32_t n = at.node.view.n;
    for (std::int32_t row : rows_of(at)) ++counts_[from_.classes_[static_cast<std::size_t>(row)]];
    double sum = 0.0;
    std::int32_t present = 0;
    for (std::size_t k = 0; k < counts_.size(); ++k) {
        if (counts_[k] == 0) continue;
        sum += from_.xlog_(counts_[k]);
        s_.count_class.push_back(static_cast<std::int32_t>(k));
        s_.count.push_back(static_cast<double>(counts_[k]));
        counts_[k] = 0;
        ++present;
    }
    s_.n_counts.push_back(present);
    s_.impurity.push_back((from_.xlog_(n) - sum) / static_cast<double>(n));
}
void SketchBuilder::record_attributes(const NodeView &node) {
    std::int64_t tests = 0;
    std::int32_t least = 0, cuts = 0;
    const std::uint32_t usable = node.leaf() ? 0 : node.n_attributes;
    for (std::uint32_t a = 0; a < usable; ++a) {
        const NodeAttribute &x = node.attributes[a];
        tests += tests_of(x, from_.options_.nominal);
        const auto domain = static_cast<std::int32_t>(x.nominal ? x.values : 2);
        least = a == 0 ? domain : std::min(least, domain);
        if (x.nominal) continue;
        s_.cuts.push_back(static_cast<std::int32_t>(x.values - 1));
        ++cuts;
    }
    s_.n_cuts.push_back(cuts);
    s_.usable.push_back(static_cast<std::int32_t>(usable));
    s_.tests.push_back(tests);
    s_.least_domain.push_back(least);
}

void SketchBuilder::record_test(const TestTotal &test) {
    s_.kind.back() = static_cast<std::uint8_t>(test.kind);
    s_.attribute.back() = test.attribute;
    s_.default_child.back() = test.default_child;
    s_.n_children.back() = test.branches;
    s_.gain.back() = test.gain;
    if (test.kind == TestKind::numeric) {
        struct {
            double threshold = 0.0;
            std::int64_t threshold_integer = 0;
        } t;
        put_threshold(t, std::get<NumericColumn>(column(test.attribute)), test.lo, test.hi);
        s_.threshold.back() = t.threshold;
        s_.threshold_integer.back() = t.threshold_integer;
        return;
    }
    for (std::size_t code = 0; code < child_of_code_.size(); ++code) {
        if (child_of_code_[code] < 0) continue;
        s_.branch_code.push_back(static_cast<std::int32_t>(code));
        s_.branch_child.push_back(child_of_code_[code]);
        ++s_.n_branches.back();
    }
}

TestTotal SketchBuilder::describe(const NodeView &node, const ChosenTest &chosen,
                                  std::span<const std::int32_t> rows) {
    child_.resize(node.n);
    for (std::uint32_t b = 0; b < chosen.test.branches; ++b) {
        read_mask(node, chosen, b);
        for (std::uint32_t i = 0; i < node.n; ++i)
            if (mask_[i / 64] >> i % 64 & 1) child_[i] = b;
    }
    TestTotal out;
    out.attribute = node.attributes[chosen.test.place].attribute;
    out.kind = chosen.test.kind;
    out.default_child = static_cast<std::int32_t>(chosen.test.default_child);
    out.branches = static_cast<std::int32_t>(chosen.test.branches);
    out.gain = chosen.test.gain;
    if (const auto *numeric = std::get_if<NumericColumn>(&column(out.attribute))) {
        const auto &rank = from_.rank_[static_cast<std::size_t>(out.attribute)];
        out.hi = static_cast<std::uint32_t>(numeric->n_ranks());
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t r = rank[static_cast<std::size_t>(rows[i])];
            if (r == numeric->n_ranks()) continue;
            if (child_[i] == 0) out.lo = std::max(out.lo, r);
            if (child_[i] == 1) out.hi = std::min(out.hi, r);
        }
        return out;
    }
    const auto &nominal = std::get<NominalColumn>(column(out.attribute));
    child_of_code_.assign(static_cast<std::size_t>(nominal.n_categories), -1);
    for (std::uint32_t i = 0; i < node.n; ++i)
        if (const std::int32_t code = nominal.codes[static_cast<std::size_t>(rows[i])]; code >= 0)
            child_of_code_[static_cast<std::size_t>(code)] = static_cast<std::int32_t>(child_[i]);
    for (std::size_t code = 0; code < child_of_code_.size(); ++code)
        if (child_of_code_[code] == 0) out.left.push_back(static_cast<std::int32_t>(code));
    return out;
}

/// Rows child by child, each in the order they had.
void SketchBuilder::part_rows(const NodeView &node, std::uint32_t branches, std::size_t start) {
    std::vector<std::size_t> at(branches + 1, 0);
    for (std::uint32_t i = 0; i < node.n; ++i) ++at[child_[i] + 1];
    for (std::uint32_t b = 0; b < branches; ++b) at[b + 1] += at[b];
    for (std::uint32_t i = 0; i < node.n; ++i) moved_[at[child_[i]]++] = s_.order[start + i];
    std::copy_n(moved_.begin(), node.n, s_.order.begin() + static_cast<std::ptrdiff_t>(start));
}

/// Nodes and leaves below each node, from the last to the first.
void SketchBuilder::sum_up() {
    const std::size_t n = s_.n_nodes();
    s_.span.assign(n, 1);
    s_.leaves.assign(n, 1);
    for (std::size_t i = n; i-- > 0;) {
        if (s_.n_children[i] == 0) continue;
        s_.leaves[i] = 0;
        std::size_t child = i + 1;
        for (std::int32_t c = 0; c < s_.n_children[i]; ++c) {
            s_.leaves[i] += s_.leaves[child];
            child += static_cast<std::size_t>(s_.span[child]);
        }
        s_.span[i] = static_cast<std::int32_t>(child - i);
    }
}

} // namespace hornbeam
