// What a node may ask, while it is being chosen.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tree/tree.hpp"

namespace hornbeam {

/// The best test found so far for one training set at one node. `quality` -1: none yet.
/// Numeric: present values of rank <= lo go to child 0, those of rank >= hi to child 1, none lies between.
/// Nominal: `branches` sends each category present to a child.
struct Choice {
    double quality = -1.0;
    double gain = 0.0;
    std::int32_t attribute = -1;
    TestKind kind = TestKind::leaf;
    std::int32_t default_child = 0;
    std::int32_t n_children = 2;
    std::uint32_t lo = 0, hi = 0;
    std::vector<std::pair<std::int32_t, std::int32_t>> branches;
    double split = 0.0;         // c45: information of the split itself
    std::vector<Choice> others; // the best tests of other attributes, best first, where they are asked for

    bool found() const { return attribute >= 0; }
    void clear() {
        quality = -1.0;
        attribute = -1;
        branches.clear();
        others.clear();
    }
};

/// One numeric cut of a list: entries up to and including `at` go left.
struct Cut {
    double quality = -1.0;
    double gain = 0.0;
    std::uint32_t at = 0;
    std::uint32_t next = 0; // the first entry that goes right
    std::int64_t left = 0;  // rows on the left, missing ones included where they go there
    std::int64_t cuts = 0;  // admissible ones, where the criterion asks how many there are
};

/// The best cut of an attribute that was looked at for several training sets at once.
struct FoundCut : Cut {
    std::int64_t missing = 0;        // rows without a value
    std::int32_t missing_child = -1; // where they go; -1: to the larger child
};

} // namespace hornbeam
