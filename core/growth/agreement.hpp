// When training sets take the same test, and what that test is for all of their rows together.
#pragma once

#include <algorithm>
#include <vector>

#include "choice/test.hpp"
#include "table/training_sets.hpp"

namespace hornbeam {

/// Lanes of a node that take the same test, and that test for all of their rows together.
struct Group {
    std::vector<std::size_t> members; // positions in the node's lanes
    Choice test;                      // of the first member; branches and interval widened by the others
    bool default_decided = false;     // some member has missing rows here, so the default branch is binding
    /// Section 3.4 of paper 000: cuts of the same attribute that stay in one node, in ascending order; empty
    /// where there is one. `test` is the first of them.
    struct Cut {
        std::uint32_t lo = 0;    // ranks up to it go left
        SetMask left_before = 0; // sets for which rows above the cut before it, up to `lo`, go left
    };
    std::vector<Cut> band = {};
    std::vector<Group> apart = {}; // of a band: the groups it was made of, one for each cut
    bool banded() const { return !band.empty(); }
};

/// Whether the group's test parts the rows of a lane as the lane's own choice does. `binding`: the lane has
/// missing rows.
inline bool agree(const Group &g, const Choice &c, bool binding) {
    const Choice &t = g.test;
    if (t.attribute != c.attribute || t.kind != c.kind) return false;
    if (binding && g.default_decided && t.default_child != c.default_child) return false;
    if (c.kind == TestKind::numeric) return std::max(t.lo, c.lo) < std::min(t.hi, c.hi);
    // Multiway children are numbered by the categories present, so only equal categories agree.
    if (c.kind == TestKind::multiway) return t.branches == c.branches;
    std::size_t a = 0, b = 0;
    while (a < t.branches.size() && b < c.branches.size()) {
        if (t.branches[a].first < c.branches[b].first)
            ++a;
        else if (t.branches[a].first > c.branches[b].first)
            ++b;
        else if (t.branches[a++].second != c.branches[b++].second)
            return false;
    }
    return true;
}

/// Makes the group's test serve one more lane.
inline void merge(Group &g, const Choice &c, bool binding) {
    Choice &t = g.test;
    t.lo = std::max(t.lo, c.lo);
    t.hi = std::min(t.hi, c.hi);
    if (binding && !g.default_decided) t.default_child = c.default_child;
    g.default_decided = g.default_decided || binding;
    if (c.kind == TestKind::numeric) return;
    for (const auto &branch : c.branches) {
        auto at = std::lower_bound(t.branches.begin(), t.branches.end(), branch,
                                   [](const auto &x, const auto &y) { return x.first < y.first; });
        if (at == t.branches.end() || at->first != branch.first) t.branches.insert(at, branch);
    }
}

/// Whether two groups cut the same attribute, and send missing rows the same way where both have some.
inline bool cut_alike(const Group &a, const Group &b) {
    return a.test.kind == TestKind::numeric && b.test.kind == TestKind::numeric &&
           a.test.attribute == b.test.attribute &&
           !(a.default_decided && b.default_decided && a.test.default_child != b.test.default_child);
}

} // namespace hornbeam
