// QUEST: the attribute is selected before its test, by how sure it is that it tells the classes apart. The
// gain that a test is reported with is gini's.
#pragma once

#include <vector>

#include "criteria/gini.hpp"
#include "table/column.hpp"

namespace hornbeam {

/// Of a numeric attribute: every value is a whole multiple of 2^exponent, and sums have so many limbs.
struct ValueScale {
    int exponent = 0;
    int limbs = 0;
};

struct Quest : Gini {
    static constexpr bool compares_attributes = true;
    const EncodedTable *table = nullptr;
    const std::vector<ValueScale> *scale = nullptr; // by attribute

    double highest_quality(const ClassCounts &) const { return std::numeric_limits<double>::infinity(); }
};

} // namespace hornbeam
