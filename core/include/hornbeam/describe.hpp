// What the forest keeps of one training set at one node.
#pragma once

#include "hornbeam/forest.hpp"
#include "hornbeam/seen.hpp"

namespace hornbeam {

/// A record without a test; counts or means go behind those of the forest. The criterion is turned to the
/// node.
template <class C, class Stats>
LaneRecord describe(Forest &forest, const C &criterion, std::int32_t set, const Stats &total, bool pure) {
    LaneRecord r;
    r.set = set;
    r.rows = total.n;
    r.weight = weight_of(criterion, total);
    // Sums of weights are rounded, so that by the letter a pure node may be off 0 by a last bit.
    constexpr bool exact = !requires { total.weight; };
    r.impurity = exact && pure ? 0.0 : criterion.impurity(total);
    r.count_begin = forest.count.size();
    if constexpr (requires { total.c; }) {
        for (std::size_t k = 0; k < total.c.size(); ++k) {
            if (!present(total.c[k])) continue;
            forest.count_class.push_back(static_cast<std::int32_t>(k));
            forest.count.push_back(count_of(criterion, total, k));
        }
    } else {
        for (std::size_t t = 0; t < total.y.size(); ++t) forest.mean.push_back(mean_of(criterion, total, t));
    }
    r.count_end = forest.count.size();
    return r;
}

} // namespace hornbeam
