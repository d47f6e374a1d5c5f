// Cost-complexity pruning (Breiman et al.): the weakest links of a tree, one after the other. Every node
// knows the weakest link of its subtree, so a step only walks from the link that was cut up to the root.
#include "hornbeam/prune.hpp"

#include <algorithm>
#include <limits>

#include "prune_shape.hpp"

namespace hornbeam {

namespace {

class Links {
  public:
    Links(const FlatTree &tree, std::span<const double> mass, Cancel &cancel)
        : tree_(tree), pace_(cancel, 10), nodes_(tree.n_nodes()) {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            pace_.step();
            Node &node = nodes_[i];
            node.cost = mass[i] * tree.impurity[i] / mass[0];
            node.first = tree.first_child[i];
            node.many = tree.n_children[i];
            for (std::int32_t c = 0; c < node.many; ++c)
                nodes_[static_cast<std::size_t>(node.first + c)].parent = static_cast<std::int32_t>(i);
        }
        for (std::size_t i = nodes_.size(); i-- > 0;) update(nodes_[i], i);
    }

    bool at_root() const { return nodes_[0].many == 0; }
    double impurity() const { return nodes_[0].below; }
    double weakest_link() const { return nodes_[0].least; }

    void cut_weakest() {
        auto at = static_cast<std::size_t>(nodes_[0].weakest);
        nodes_[at].many = 0;
        for (;;) {
            update(nodes_[at], at);
            if (nodes_[at].parent < 0) return;
            at = static_cast<std::size_t>(nodes_[at].parent);
        }
    }

    Pruned rest(Cancel &cancel) const {
        Shape shape(tree_);
        for (std::size_t i = 0; i < nodes_.size(); ++i) shape.leaf[i] = nodes_[i].many == 0;
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

    const FlatTree &tree_;
    Pace pace_; // of nodes
    std::vector<Node> nodes_;
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

Pruned prune_by_complexity(const FlatTree &tree, std::span<const double> mass, double alpha, Cancel &cancel) {
    Links links(tree, mass, cancel);
    while (alpha > 0.0 && !links.at_root() && links.weakest_link() <= alpha) links.cut_weakest();
    return links.rest(cancel);
}

} // namespace hornbeam
