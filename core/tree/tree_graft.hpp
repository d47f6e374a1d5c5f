// Subtrees of a tree that stands already, for a forest that grows.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "running/cancel.hpp"
#include "tree/forest.hpp"
#include "tree/tree.hpp"

namespace hornbeam {

/// Reads subtrees out of a tree. A nominal test in brief, whose categories follow from a test above the
/// subtree, is written in full: what stands above it in the forest may list others.
class TreeGraft {
  public:
    explicit TreeGraft(FlatTree tree);

    std::size_t n_nodes() const { return tree_.n_nodes(); }
    /// Puts the subtree of a node in the place of a record, which has that node's rows. Returns how many
    /// records it adds.
    std::size_t graft(GrownSet &grown, std::size_t record, std::int32_t number, Cancel &cancel) const;

  private:
    using Branches = std::vector<std::pair<std::int32_t, std::int32_t>>;
    FlatTree tree_;
    std::vector<std::int32_t> parent_;

    void add_test(GrownSet &grown, std::size_t record, std::size_t node, bool whole) const;
    void add_record(GrownSet &grown, std::size_t node) const;
    Branches listed(std::size_t node) const;
    bool brief(std::size_t node) const;
    Branches present(std::size_t node) const;
    std::vector<std::int32_t> sent(std::size_t node, std::size_t child) const;
};

} // namespace hornbeam
