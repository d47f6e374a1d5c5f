// Grafting of subtrees that stand already.
#include "tree/tree_graft.hpp"

#include <algorithm>

namespace hornbeam {

TreeGraft::TreeGraft(FlatTree tree) : tree_(std::move(tree)), parent_(tree_.n_nodes(), -1) {
    for (std::size_t i = 0; i < tree_.n_nodes(); ++i)
        for (std::int32_t c = 0; c < tree_.n_children[i]; ++c)
            parent_[static_cast<std::size_t>(tree_.first_child[i] + c)] = static_cast<std::int32_t>(i);
}

std::size_t TreeGraft::graft(GrownSet &grown, std::size_t record, std::int32_t number, Cancel &cancel) const {
    struct Waiting {
        std::size_t record, node;
        std::vector<std::int32_t> tested; // nominal attributes, inside the subtree
    };
    const std::size_t before = grown.records.size();
    std::vector<Waiting> waiting{{record, static_cast<std::size_t>(number), {}}};
    for (std::size_t done = 0; !waiting.empty(); ++done) {
        if (done % 8192 == 8191) cancel.poll();
        Waiting at = std::move(waiting.back());
        waiting.pop_back();
        if (tree_.n_children[at.node] == 0) continue;
        const std::int32_t attribute = tree_.attribute[at.node];
        const bool inside = std::find(at.tested.begin(), at.tested.end(), attribute) != at.tested.end();
        const std::size_t first = grown.records.size();
        add_test(grown, at.record, at.node, !inside);
        if (!inside && tree_.kind[at.node] != static_cast<std::uint8_t>(TestKind::numeric))
            at.tested.push_back(attribute);
        const auto below = static_cast<std::size_t>(tree_.first_child[at.node]);
        const auto n = static_cast<std::size_t>(tree_.n_children[at.node]);
        for (std::size_t c = 0; c < n; ++c) add_record(grown, below + c);
        for (std::size_t c = 0; c < n; ++c) waiting.push_back({first + c, below + c, at.tested});
    }
    return grown.records.size() - before;
}

void TreeGraft::add_test(GrownSet &grown, std::size_t record, std::size_t node, bool whole) const {
    LaneTest test;
    test.attribute = tree_.attribute[node];
    test.kind = static_cast<TestKind>(tree_.kind[node]);
    test.gain = tree_.gain[node];
    test.first_child = static_cast<std::int32_t>(grown.records.size());
    test.default_child = tree_.default_child[node];
    // A whole threshold of 0 and one of 0.0 are the same bits.
    test.integer = tree_.threshold_integer[node] != 0;
    if (test.integer)
        test.threshold_integer = tree_.threshold_integer[node];
    else
        test.threshold = tree_.threshold[node];
    const Branches branches = whole && brief(node) ? present(node) : listed(node);
    for (auto [code, child] : branches) grown.add_branch(code, child);
    test.n_branches = static_cast<std::uint32_t>(branches.size());
    grown.add_test(record, test, {0, 1}, false);
}

void TreeGraft::add_record(GrownSet &grown, std::size_t node) const {
    const bool weighed = !grown.weight.empty();
    const auto begin = static_cast<std::size_t>(tree_.count_start[node]);
    const auto end = static_cast<std::size_t>(tree_.count_start[node + 1]);
    LaneRecord r;
    r.impurity = tree_.impurity[node];
    r.rows = static_cast<std::uint64_t>(tree_.rows[node]);
    r.n_counts = static_cast<std::uint32_t>(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
        grown.count_class.push_back(static_cast<std::uint16_t>(tree_.count_class[i]));
        if (!weighed && r.short_counts())
            grown.count.push_back(static_cast<std::uint32_t>(tree_.count[i]));
        else
            grown.weighed_count.push_back(tree_.count[i]);
    }
    if (weighed) grown.weight.push_back(tree_.weight[node]);
    const auto targets = static_cast<std::size_t>(tree_.n_targets);
    for (std::size_t t = 0; t < targets; ++t) grown.mean.push_back(tree_.mean[node * targets + t]);
    grown.records.push_back(r);
}

TreeGraft::Branches TreeGraft::listed(std::size_t node) const {
    Branches out;
    const auto begin = static_cast<std::size_t>(tree_.branch_start[node]);
    const auto end = static_cast<std::size_t>(tree_.branch_start[node + 1]);
    for (std::size_t i = begin; i < end; ++i) out.emplace_back(tree_.branch_code[i], tree_.branch_child[i]);
    return out;
}

bool TreeGraft::brief(std::size_t node) const {
    const auto kind = static_cast<TestKind>(tree_.kind[node]);
    if (kind != TestKind::subset && kind != TestKind::value) return false;
    const Branches all = listed(node);
    return std::none_of(all.begin(), all.end(),
                        [&](const auto &b) { return b.second == tree_.default_child[node]; });
}

/// All categories at a node in brief, and where each goes.
TreeGraft::Branches TreeGraft::present(std::size_t node) const {
    std::size_t child = node, above = static_cast<std::size_t>(parent_[node]);
    while (tree_.attribute[above] != tree_.attribute[node]) {
        child = above;
        above = static_cast<std::size_t>(parent_[above]);
    }
    const Branches own = listed(node);
    Branches out;
    auto known = own.begin();
    for (std::int32_t code : sent(above, child - static_cast<std::size_t>(tree_.first_child[above]))) {
        while (known != own.end() && known->first < code) ++known;
        const bool said = known != own.end() && known->first == code;
        if (!said || known->second >= 0)
            out.emplace_back(code, said ? known->second : tree_.default_child[node]);
    }
    return out;
}

/// The categories that a test sends to a child.
std::vector<std::int32_t> TreeGraft::sent(std::size_t node, std::size_t child) const {
    std::vector<std::int32_t> codes;
    for (auto [code, to] : brief(node) ? present(node) : listed(node))
        if (to == static_cast<std::int32_t>(child)) codes.push_back(code);
    return codes;
}

} // namespace hornbeam
