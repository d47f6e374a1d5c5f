// Cost-complexity pruning (Breiman et al.): the weakest links of a tree, one after the other. Every node
// knows the weakest link of its subtree, so a step only walks from the link that was cut up to the root.
#include "hornbeam/prune.hpp"

#include "prune_shape.hpp"

namespace hornbeam {

namespace {

class Links {
  public:
    Links(const FlatTree &tree, std::span<const double> mass) : tree_(tree), nodes_(tree.n_nodes()) {
        const std::vector<double> &weight = tree.weight;
        auto mass_of = [&](std::size_t i) { return mass.empty() ? weight[i] : mass[i]; };
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            nodes_[i].cost = mass_of(i) * tree.impurity[i] / mass_of(0);
            nodes_[i].leaf = tree.n_children[i] == 0;
            for (std::int32_t c = 0; c < tree.n_children[i]; ++c)
                nodes_[static_cast<std::size_t>(tree.first_child[i] + c)].parent =
                    static_cast<std::int32_t>(i);
        }
        for (std::size_t i = nodes_.size(); i-- > 0;) update(i);
    }

    bool at_root() const { return nodes_[0].leaf; }
    double impurity() const { return nodes_[0].below; }
    double weakest_link() const { return nodes_[static_cast<std::size_t>(nodes_[0].weakest)].link; }

    void cut_weakest() {
        std::int32_t at = nodes_[0].weakest;
        nodes_[static_cast<std::size_t>(at)].leaf = true;
        for (; at >= 0; at = nodes_[static_cast<std::size_t>(at)].parent)
            update(static_cast<std::size_t>(at));
    }

    Pruned rest() const {
        Shape shape(tree_);
        for (std::size_t i = 0; i < nodes_.size(); ++i) shape.leaf[i] = nodes_[i].leaf;
        return rebuild(tree_, shape);
    }

  private:
    struct Node {
        double cost = 0;  // R
        double below = 0; // RB
        double link = 0;
        std::int64_t leaves = 1;
        std::int32_t weakest = -1; // of this node and those below it; -1 at a leaf
        std::int32_t parent = -1;
        bool leaf = true;
    };

    /// RB, leaves, link and weakest link of a node, from its children.
    void update(std::size_t i) {
        Node &node = nodes_[i];
        node.below = node.cost;
        node.leaves = 1;
        node.weakest = -1;
        if (node.leaf) return;
        node.below = 0.0;
        node.leaves = 0;
        auto first = static_cast<std::size_t>(tree_.first_child[i]);
        auto many = static_cast<std::size_t>(tree_.n_children[i]);
        for (std::size_t c = first; c < first + many; ++c) {
            node.below += nodes_[c].below;
            node.leaves += nodes_[c].leaves;
        }
        node.link = (node.cost - node.below) / static_cast<double>(node.leaves - 1);
        // In preorder the node comes before its children: among equals the first of them stays.
        double least = node.link;
        node.weakest = static_cast<std::int32_t>(i);
        for (std::size_t c = first; c < first + many; ++c) {
            if (nodes_[c].weakest < 0) continue;
            double link = nodes_[static_cast<std::size_t>(nodes_[c].weakest)].link;
            if (!(link < least)) continue;
            least = link;
            node.weakest = nodes_[c].weakest;
        }
    }

    const FlatTree &tree_;
    std::vector<Node> nodes_;
};

} // namespace

CostPath cost_complexity_path(const FlatTree &tree, std::span<const double> mass, Cancel &cancel) {
    Links links(tree, mass);
    CostPath path;
    double alpha = 0.0;
    path.alpha.push_back(alpha);
    path.impurity.push_back(links.impurity());
    while (!links.at_root()) {
        alpha = std::max(alpha, links.weakest_link());
        links.cut_weakest();
        path.alpha.push_back(alpha);
        path.impurity.push_back(links.impurity());
        cancel.poll();
    }
    return path;
}

Pruned prune_by_complexity(const FlatTree &tree, std::span<const double> mass, double alpha, Cancel &cancel) {
    Links links(tree, mass);
    while (alpha > 0.0 && !links.at_root() && links.weakest_link() <= alpha) {
        links.cut_weakest();
        cancel.poll();
    }
    return links.rest();
}

} // namespace hornbeam
