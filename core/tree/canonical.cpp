// Writing the canonical form of a tree.
#include "tree/canonical.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace hornbeam {

namespace {

constexpr double exact_integers = 9007199254740992.0; // 2^53: beyond it %.0f has all digits too
constexpr std::size_t node_cost = 200;                // nanoseconds of one node, roughly

template <class Number> void append(std::string &out, Number value) {
    char text[24];
    out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

/// As Python's float.hex() writes it, in quotes; -0.0 as 0.0.
void append_real(std::string &out, double value) {
    if (std::isnan(value)) {
        out += "\"nan\"";
    } else if (std::isinf(value)) {
        out += value > 0 ? "\"inf\"" : "\"-inf\"";
    } else if (value == 0.0) {
        out += "\"0x0.0p+0\"";
    } else {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
        out += value < 0 ? "\"-0x" : "\"0x";
        out += exponent == 0 ? "0." : "1.";
        for (int shift = 48; shift >= 0; shift -= 4) out += "0123456789abcdef"[bits >> shift & 15];
        const int power = exponent == 0 ? -1022 : exponent - 1023;
        out += power < 0 ? "p" : "p+";
        append(out, power);
        out += '"';
    }
}

/// A count or a sum of weights: an integer where it is one.
void append_number(std::string &out, double value) {
    if (!std::isfinite(value) || value != std::floor(value)) return append_real(out, value);
    if (std::abs(value) < exact_integers) return append(out, static_cast<std::int64_t>(value));
    char text[400];
    const int length = std::snprintf(text, sizeof text, "%.0f", value);
    out.append(text, static_cast<std::size_t>(length));
}

const char *name_of(TestKind kind) {
    switch (kind) {
    case TestKind::numeric:
        return "numeric";
    case TestKind::subset:
        return "subset";
    case TestKind::value:
        return "value";
    default:
        return "multiway";
    }
}

} // namespace

CanonicalText::CanonicalText(FlatTree tree, CanonicalWords words)
    : tree_(std::move(tree)), words_(std::move(words)) {
    for (std::size_t node = 0; node < tree_.n_nodes() && !any_brief_; ++node) any_brief_ = brief(node);
    pending_.push_back({0, nullptr});
}

bool CanonicalText::write(std::string &out, std::size_t length, Cancel &cancel) {
    if (ended_) return false;
    Pace pace(cancel, node_cost);
    while (!pending_.empty() && out.size() < length) {
        const auto [node, above] = std::move(pending_.back());
        pending_.pop_back();
        out += node == 0 ? '[' : ',';
        read_branches(node, above);
        visit_children(node, above);
        write_node(out, node);
        pace.step();
    }
    if (pending_.empty()) {
        out += ']';
        ended_ = true;
    }
    return true;
}

/// Whether a test lists no category for its default child: those follow from above.
bool CanonicalText::brief(std::size_t node) const {
    const auto kind = static_cast<TestKind>(tree_.kind[node]);
    if (kind != TestKind::subset && kind != TestKind::value) return false;
    const auto children = tree_.branch_child.begin();
    const auto end = children + tree_.branch_start[node + 1];
    return std::find(children + tree_.branch_start[node], end, tree_.default_child[node]) == end;
}

/// The categories present at a node and the children that they go to.
void CanonicalText::read_branches(std::size_t node, const Above &above) {
    branches_.clear();
    const auto end = static_cast<std::size_t>(tree_.branch_start[node + 1]);
    auto at = static_cast<std::size_t>(tree_.branch_start[node]);
    if (!any_brief_ || !brief(node)) {
        for (; at < end; ++at) branches_.emplace_back(tree_.branch_code[at], tree_.branch_child[at]);
        return;
    }
    const std::int32_t attribute = tree_.attribute[node];
    const std::vector<std::int32_t> *present = nullptr;
    if (above)
        for (const auto &[asked, codes] : *above)
            if (asked == attribute) present = codes.get();
    if (!present) throw std::invalid_argument("tree: a test in brief has none of its attribute above");
    for (std::int32_t code : *present) {
        while (at < end && tree_.branch_code[at] < code) ++at;
        const bool listed = at < end && tree_.branch_code[at] == code;
        const std::int32_t child = listed ? tree_.branch_child[at] : tree_.default_child[node];
        if (child >= 0) branches_.emplace_back(code, child); // -1: no longer present
    }
}

void CanonicalText::visit_children(std::size_t node, const Above &above) {
    const auto kind = static_cast<TestKind>(tree_.kind[node]);
    const std::int32_t attribute = tree_.attribute[node];
    for (std::int32_t child = tree_.n_children[node] - 1; child >= 0; --child) {
        Above sent = above;
        if (any_brief_ && kind != TestKind::leaf && kind != TestKind::numeric) {
            auto codes = std::make_shared<std::vector<std::int32_t>>();
            for (const auto &[code, to] : branches_)
                if (to == child) codes->push_back(code);
            auto known = above ? std::make_shared<std::vector<std::pair<std::int32_t, Codes>>>(*above)
                               : std::make_shared<std::vector<std::pair<std::int32_t, Codes>>>();
            std::erase_if(*known, [attribute](const auto &entry) { return entry.first == attribute; });
            known->emplace_back(attribute, std::move(codes));
            sent = std::move(known);
        }
        pending_.push_back({static_cast<std::size_t>(tree_.first_child[node] + child), std::move(sent)});
    }
}

/// The keys in their order: children, counts, default, mean, test, weight.
void CanonicalText::write_node(std::string &out, std::size_t node) {
    const bool leaf = static_cast<TestKind>(tree_.kind[node]) == TestKind::leaf;
    out += '{';
    if (!leaf) {
        out += "\"children\":";
        append(out, tree_.n_children[node]);
        out += ',';
    }
    if (tree_.n_classes) write_counts(out, node);
    if (!leaf) {
        out += tree_.n_classes ? ",\"default\":" : "\"default\":";
        append(out, tree_.default_child[node]);
    }
    if (!tree_.n_classes) {
        if (!leaf) out += ',';
        write_means(out, node);
    }
    if (!leaf) write_test(out, node);
    if (!tree_.n_classes) {
        out += ",\"weight\":";
        append_number(out, tree_.weight[node]);
    }
    out += '}';
}

/// Pairs of label and count in class order, without zeros.
void CanonicalText::write_counts(std::string &out, std::size_t node) const {
    out += "\"counts\":[";
    bool first = true;
    for (auto i = static_cast<std::size_t>(tree_.count_start[node]);
         i < static_cast<std::size_t>(tree_.count_start[node + 1]); ++i) {
        if (tree_.count[i] == 0.0) continue;
        out += first ? "[" : ",[";
        out += words_.classes[static_cast<std::size_t>(tree_.count_class[i])];
        out += ',';
        append_number(out, tree_.count[i]);
        out += ']';
        first = false;
    }
    out += ']';
}

void CanonicalText::write_means(std::string &out, std::size_t node) const {
    const auto n = static_cast<std::size_t>(tree_.n_targets);
    out += "\"mean\":[";
    for (std::size_t target = 0; target < n; ++target) {
        if (target) out += ',';
        append_real(out, tree_.mean[node * n + target]);
    }
    out += ']';
}

void CanonicalText::write_test(std::string &out, std::size_t node) {
    const auto attribute = static_cast<std::size_t>(tree_.attribute[node]);
    const auto kind = static_cast<TestKind>(tree_.kind[node]);
    out += ",\"test\":[\"";
    out += name_of(kind);
    out += "\",";
    out += words_.names[attribute];
    out += ',';
    if (kind == TestKind::numeric) {
        const std::int64_t whole = tree_.threshold_integer[node];
        const ThresholdText written = words_.thresholds[attribute];
        if (written == ThresholdText::real)
            append_real(out, tree_.threshold[node]);
        else if (written == ThresholdText::integer)
            append(out, whole);
        else
            append(out, static_cast<std::uint64_t>(whole) ^ std::uint64_t{1} << 63);
    } else {
        const std::vector<std::int32_t> &rank = words_.ranks[attribute];
        if (!rank.empty())
            std::ranges::sort(branches_, {}, [&rank](const auto &branch) {
                return rank[static_cast<std::size_t>(branch.first)];
            });
        out += '[';
        for (const auto &[code, child] : branches_) {
            out += &code == &branches_.front().first ? "[" : ",[";
            out += words_.labels[attribute][static_cast<std::size_t>(code)];
            out += ',';
            append(out, child);
            out += ']';
        }
        out += ']';
    }
    out += ']';
}

} // namespace hornbeam
