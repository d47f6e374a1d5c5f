// Cost-complexity pruning (Breiman et al.): the weakest links of a tree, one after the other. Every node
// knows the weakest link of its subtree, so a step only walks from the link that was cut up to the root.
#include "pruning/prune.hpp"

#include <algorithm>
#include <limits>

#include "pruning/shape.hpp"

namespace hornbeam {

namespace {

class Links {
  public:
    Links(const FlatTree &tree, std::span<const double> mass, Cancel &cancel)
        : tree_(tree), pace_(cancel, 10), nodes_(tree.n_nodes()), origin_(tree.n_nodes()) {
        std::vector<std::size_t> waiting{0};
        std::int32_t next = 1;
        while (!waiting.empty()) {
            pace_.step();
            const std::size_t at = waiting.back();
            waiting.pop_back();
            Node &node = nodes_[at];
            const auto i = static_cast<std::size_t>(origin_[at]);
            node.cost = mass[i] * tree.impurity[i] / mass[0];
            node.first = next;
            node.many = tree.n_children[i];
            next += node.many;
            for (std::int32_t c = node.many; c-- > 0;) {
                const auto child = static_cast<std::size_t>(node.first + c);
                nodes_[child].parent = static_cast<std::int32_t>(at);
                origin_[child] = tree.first_child[i] + c;
                waiting.push_back(child);
            }
        }
        for (std::size_t at = nodes_.size(); at-- > 0;) update(nodes_[at], at);
    }

    bool at_root() const { return nodes_[0].many == 0; }
    double impurity() const { return nodes_[0].below; }
    double weakest_link() const { return nodes_[0].least; }

    /// Returns the node of the tree that became a leaf.
    std::size_t cut_weakest() {
        auto at = static_cast<std::size_t>(nodes_[0].weakest);
        const auto cut = static_cast<std::size_t>(origin_[at]);
        nodes_[at].many = 0;
        update(nodes_[at], at);
        while (nodes_[at].parent >= 0) {
            at = static_cast<std::size_t>(nodes_[at].parent);
            if (nodes_[at].many == 2)
                update_of_two(nodes_[at], at);
            else
                update(nodes_[at], at);
        }
        return cut;
    }

    Pruned rest(Cancel &cancel) const {
        Shape shape(tree_);
        for (std::size_t at = 0; at < nodes_.size(); ++at)
            shape.leaf[static_cast<std::size_t>(origin_[at])] = nodes_[at].many == 0;
        return rebuild(tree_, shape, cancel);
    }

  private:
    struct Node {
        double cost = 0;  // R
        double below = 0; // RB
        double least = 0; // the weakest link of this node and those below it; infinite at a leaf
        std::int32_t weakest = -1;
        std::int32_t leaves = 1;
        std::int32_t parent = -1;
        std::int32_t first = -1; // its children
        std::int32_t many = 0;   // 0 at a leaf
    };

    /// RB, leaves, link and weakest link of a node, from its children.
    void update(Node &node, std::size_t i) {
        pace_.step();
        if (node.many == 0) {
            node.below = node.cost;
            node.leaves = 1;
            node.least = std::numeric_limits<double>::infinity();
            return;
        }
        const Node *child = &nodes_[static_cast<std::size_t>(node.first)], *end = child + node.many;
        double below = 0.0;
        std::int32_t leaves = 0;
        for (const Node *c = child; c != end; ++c) below += c->below, leaves += c->leaves;
        node.below = below;
        node.leaves = leaves;
        // In preorder the node comes before its children: among equals the first of them stays.
        double least = (node.cost - below) / static_cast<double>(leaves - 1);
        auto weakest = static_cast<std::int32_t>(i);
        for (const Node *c = child; c != end; ++c)
            if (c->least < least) least = c->least, weakest = c->weakest;
        node.least = least;
        node.weakest = weakest;
    }

    /// The same where there are two children: which link is weaker nobody can foresee, so there is no jump.
    void update_of_two(Node &node, std::size_t i) {
        pace_.step();
        const Node &a = nodes_[static_cast<std::size_t>(node.first)],
                   &b = nodes_[static_cast<std::size_t>(node.first) + 1];
        node.below = 0.0 + a.below + b.below;
        node.leaves = a.leaves + b.leaves;
        const double own = (node.cost - node.below) / static_cast<double>(node.leaves - 1);
        const double least = std::min(a.least, b.least);
        const std::int32_t weakest = either(b.least < a.least, b.weakest, a.weakest);
        node.least = std::min(own, least);
        node.weakest = either(least < own, weakest, static_cast<std::int32_t>(i));
    }
    static std::int32_t either(bool first, std::int32_t a, std::int32_t b) {
        return b ^ ((a ^ b) & -static_cast<std::int32_t>(first));
    }

    const FlatTree &tree_;
    Pace pace_;               // of nodes
    std::vector<Node> nodes_; // small subtrees lie together: the walk from a link up to the root begins there
    std::vector<std::int32_t> origin_; // their numbers in the tree
};

} // namespace

CostPath cost_complexity_path(const FlatTree &tree, std::span<const double> mass, Cancel &cancel) {
    Links links(tree, mass, cancel);
    CostPath path;
    double alpha = 0.0;
    path.alpha.push_back(alpha);
    path.impurity.push_back(links.impurity());
    while (!links.at_root()) {
        alpha = std::max(alpha, links.weakest_link());
        links.cut_weakest();
        path.alpha.push_back(alpha);
        path.impurity.push_back(links.impurity());
    }
    return path;
}

std::vector<double> complexity_steps(const FlatTree &tree, std::span<const double> mass, Cancel &cancel) {
    Links links(tree, mass, cancel);
    std::vector<double> step(tree.n_nodes(), std::numeric_limits<double>::infinity());
    double alpha = 0.0;
    while (!links.at_root()) {
        alpha = std::max(alpha, links.weakest_link());
        step[links.cut_weakest()] = alpha;
    }
    return step;
}

Pruned prune_by_complexity(const FlatTree &tree, std::span<const double> mass, double alpha, Cancel &cancel) {
    Links links(tree, mass, cancel);
    while (alpha > 0.0 && !links.at_root() && links.weakest_link() <= alpha) links.cut_weakest();
    return links.rest(cancel);
}

} // namespace hornbeam
