// Nominal tests of one training set: subset, value and multiway, from the statistics of each category
// present.
#pragma once

#include <vector>

#include "choice/parameters.hpp"
#include "choice/scorer.hpp"
#include "choice/test.hpp"
#include "criteria/sizes.hpp"
#include "running/cancel.hpp"

namespace hornbeam {

/// Statistics by category present at the node, codes ascending, and of the rows where the attribute is
/// missing. Invariant: stats[0 .. code.size()) are in use; more may be kept for reuse.
template <class Stats> struct CategoryTable {
    std::vector<std::int32_t> code;
    std::vector<Stats> stats;
    Stats missing;
};

inline constexpr std::size_t most_enumerated = 12; // categories up to which every subset is tried

/// What a search is given. `by_numbers`: of two classes, numbers of rows tell what a subset gains.
template <class Stats> struct NominalNode {
    const Scorer<Stats> &criterion;
    const Stats &node;
    const CategoryTable<Stats> &table;
    const StopRules &rules;
    bool by_numbers = false;
    Cancel &cancel;
};

/// Replaces `best` where a test of the attribute has a higher quality. Compiled in nominal.cpp.
template <class Stats>
void choose_nominal(const NominalNode<Stats> &of, std::int32_t attribute, NominalMode mode, Choice &best);
/// The categories in the order whose prefixes are the candidates where there are many.
std::vector<std::size_t> order_categories(const NominalNode<ClassCounts> &of);

} // namespace hornbeam
