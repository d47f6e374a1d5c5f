// Tests in brief, spelled out: a node that moves away from the tests above it has to name its categories.
#include <algorithm>
#include <stdexcept>

#include "pruning/shape.hpp"

namespace hornbeam {

namespace {

class Spelling {
  public:
    Spelling(const FlatTree &tree, Cancel &cancel)
        : tree_(tree), pace_(cancel, 5), parent_(tree.n_nodes(), -1) {
        for (std::size_t i = 0; i < parent_.size(); ++i) {
            pace_.step();
            for (std::int32_t c = 0; c < tree.n_children[i]; ++c)
                parent_[static_cast<std::size_t>(tree.first_child[i] + c)] = static_cast<std::int32_t>(i);
        }
    }

    /// Appends the categories present at a brief node, and where they go.
    void append(FlatTree &out, std::size_t node) {
        gone_.clear();
        Sent from = above(node);
        while (from.place == tree_.default_child[from.node] && is_brief(tree_, from.node)) {
            gone_.insert(gone_.end(), codes(from.node).begin(), codes(from.node).end());
            from = above(from.node);
        }
        std::sort(gone_.begin(), gone_.end());
        auto begin = static_cast<std::size_t>(tree_.branch_start[from.node]),
             end = static_cast<std::size_t>(tree_.branch_start[from.node + 1]);
        for (std::size_t b = begin; b < end; ++b) {
            pace_.step();
            const std::int32_t code = tree_.branch_code[b];
            if (tree_.branch_child[b] != from.place || std::binary_search(gone_.begin(), gone_.end(), code))
                continue;
            const std::int32_t child = child_of(node, code);
            if (child < 0) continue;
            out.branch_code.push_back(code);
            out.branch_child.push_back(child);
        }
    }

  private:
    /// Rows that a node sends to a child.
    struct Sent {
        std::size_t node = 0;
        std::int32_t place = 0;
    };

    std::span<const std::int32_t> codes(std::size_t node) const {
        auto begin = static_cast<std::size_t>(tree_.branch_start[node]);
        return std::span(tree_.branch_code)
            .subspan(begin, static_cast<std::size_t>(tree_.branch_start[node + 1]) - begin);
    }

    /// The nearest test of the same attribute above.
    Sent above(std::size_t node) {
        const std::int32_t attribute = tree_.attribute[node];
        for (auto at = static_cast<std::int32_t>(node); parent_[static_cast<std::size_t>(at)] >= 0;) {
            pace_.step();
            const std::int32_t child = at;
            at = parent_[static_cast<std::size_t>(at)];
            const auto i = static_cast<std::size_t>(at);
            if (tree_.attribute[i] == attribute) return {i, child - tree_.first_child[i]};
        }
        throw std::invalid_argument("node " + std::to_string(node) +
                                    " is in brief without a test of its attribute above");
    }

    std::int32_t child_of(std::size_t node, std::int32_t code) const {
        std::span<const std::int32_t> listed = codes(node);
        auto found = std::lower_bound(listed.begin(), listed.end(), code);
        if (found == listed.end() || *found != code) return tree_.default_child[node];
        return tree_
            .branch_child[static_cast<std::size_t>(tree_.branch_start[node] + (found - listed.begin()))];
    }

    const FlatTree &tree_;
    Pace pace_; // of nodes and categories
    std::vector<std::int32_t> parent_;
    std::vector<std::int32_t> gone_;
};

} // namespace

bool is_brief(const FlatTree &tree, std::size_t node) {
    const auto kind = static_cast<TestKind>(tree.kind[node]);
    auto begin = tree.branch_child.begin() + tree.branch_start[node],
         end = tree.branch_child.begin() + tree.branch_start[node + 1];
    return (kind == TestKind::subset || kind == TestKind::value) &&
           std::find(begin, end, tree.default_child[node]) == end;
}

void spell_out(const FlatTree &tree, Pruned &pruned, Cancel &cancel) {
    Pace pace(cancel, 20);
    auto needs = [&](std::int32_t origin) {
        pace.step();
        return origin >= 0 && is_brief(tree, static_cast<std::size_t>(origin));
    };
    if (std::none_of(pruned.origin.begin(), pruned.origin.end(), needs)) return;
    Spelling spelling(tree, cancel);
    FlatTree out; // its branches
    out.branch_start.push_back(0);
    for (std::int32_t origin : pruned.origin) {
        const auto node = static_cast<std::size_t>(origin);
        if (needs(origin)) {
            spelling.append(out, node);
        } else if (origin >= 0) {
            for (std::int64_t b = tree.branch_start[node]; b < tree.branch_start[node + 1]; ++b) {
                out.branch_code.push_back(tree.branch_code[static_cast<std::size_t>(b)]);
                out.branch_child.push_back(tree.branch_child[static_cast<std::size_t>(b)]);
            }
        }
        out.branch_start.push_back(static_cast<std::int64_t>(out.branch_code.size()));
    }
    pruned.tree.branch_start = std::move(out.branch_start);
    pruned.tree.branch_code = std::move(out.branch_code);
    pruned.tree.branch_child = std::move(out.branch_child);
}

} // namespace hornbeam
