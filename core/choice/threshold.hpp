// The threshold of a numeric test, from the two values that it lies between.
#pragma once

#include <cmath>
#include <cstdint>

#include "table/column.hpp"

namespace hornbeam {

/// Writes it into the record of a test; `lo` and `hi` are ranks of the column.
template <class Record>
void put_threshold(Record &r, const NumericColumn &column, std::uint32_t lo, std::uint32_t hi) {
    if (column.is_integer) {
        __int128 sum = static_cast<__int128>(column.integers[lo]) + column.integers[hi];
        r.threshold_integer = static_cast<std::int64_t>(sum >> 1); // floor
        return;
    }
    double low = column.floats[lo], high = column.floats[hi], t = low / 2 + high / 2;
    r.threshold = t == high || !std::isfinite(t) ? low : t;
}

} // namespace hornbeam
