// The canonical form of a tree (docs/law.md, "Digest"): the text that equal trees have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "running/cancel.hpp"
#include "tree/tree.hpp"

namespace hornbeam {

/// How the threshold of an attribute is written.
enum class ThresholdText : std::uint8_t { real = 0, integer = 1, unsigned_integer = 2 };

/// What a tree's numbers are called, each as JSON.
struct CanonicalWords {
    std::vector<std::string> names; // of attributes
    std::vector<ThresholdText> thresholds;
    std::vector<std::vector<std::string>> labels; // of each attribute's categories, by code
    /// By code, the place of a label in the order of UTF-8 bytes; empty where codes are in that order.
    std::vector<std::vector<std::int32_t>> ranks;
    std::vector<std::string> classes;
};

/// Writes the text from the beginning to the end, some nodes at a time: it names every category present at
/// every node and may be longer than the memory.
class CanonicalText {
  public:
    /// The tree has to be a valid one (verify.hpp), of attributes and classes that the words name.
    CanonicalText(FlatTree tree, CanonicalWords words);

    /// Appends the next nodes until the text is at least so long; false when nothing was left.
    bool write(std::string &out, std::size_t length, Cancel &cancel);

  private:
    using Codes = std::shared_ptr<const std::vector<std::int32_t>>;
    /// The categories that the nearest test of each attribute above sends to a node.
    using Above = std::shared_ptr<const std::vector<std::pair<std::int32_t, Codes>>>;
    using Branches = std::vector<std::pair<std::int32_t, std::int32_t>>; // category and child
    struct Pending {
        std::size_t node;
        Above above;
    };

    FlatTree tree_;
    CanonicalWords words_;
    bool any_brief_ = false;
    bool ended_ = false;
    std::vector<Pending> pending_;
    Branches branches_;

    bool brief(std::size_t node) const;
    void read_branches(std::size_t node, const Above &above);
    void visit_children(std::size_t node, const Above &above);
    void write_node(std::string &out, std::size_t node);
    void write_counts(std::string &out, std::size_t node) const;
    void write_means(std::string &out, std::size_t node) const;
    void write_test(std::string &out, std::size_t node);
};

} // namespace hornbeam
