// What the forest keeps of one training set at one node.
#pragma once

#include "choice/split_criterion.hpp"
#include "tree/forest.hpp"

namespace hornbeam {

/// Adds a record without a test to those of a set. The criterion is turned to the node.
template <class Target> void describe(GrownSet &grown, const SplitCriterion<Target> &criterion,
                                      const typename Target::Stats &total, bool pure) {
    LaneRecord r;
    r.rows = static_cast<std::uint64_t>(total.n);
    // Sums of weights are rounded, so that by the letter a pure node may be off 0 by a last bit.
    constexpr bool exact = !requires { total.weight; };
    r.impurity = exact && pure ? 0.0 : criterion.scorer().impurity(total);
    if constexpr (!exact) grown.weight.push_back(criterion.scorer().weight(total));
    if constexpr (requires { total.c; }) {
        for (std::size_t k = 0; k < total.c.size(); ++k) {
            if (!present(total.c[k])) continue;
            ++r.n_counts;
            grown.count_class.push_back(static_cast<std::uint16_t>(k));
            if constexpr (counts_rows<typename Target::Stats>)
                if (r.short_counts()) {
                    grown.count.push_back(static_cast<std::uint32_t>(total.c[k]));
                    continue;
                }
            grown.weighed_count.push_back(criterion.kept(total, k));
        }
    } else {
        for (std::size_t t = 0; t < total.y.size(); ++t) grown.mean.push_back(criterion.kept(total, t));
    }
    grown.records.push_back(r);
}

} // namespace hornbeam
