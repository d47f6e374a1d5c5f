#include "numbers/fixed_xlog.hpp"

#include <algorithm>
#include <cmath>

namespace hornbeam {

namespace {

/// Beyond the table the nearest double will do: roundings are far below a unit there.
double nearly_xlog(const XlogTable &exact, std::size_t m) {
    const auto x = static_cast<double>(m);
    return m < exact.size() ? exact(static_cast<std::int64_t>(m)) : x * std::log2(x);
}

} // namespace

FixedXlog::FixedXlog(const XlogTable &exact, std::size_t limit, Cancel &cancel) : table_(limit + 1) {
    const double most = nearly_xlog(exact, limit);
    while (most * units_ >= 0x1p30) units_ *= 0.5;
    rises_.assign(table_.size() + 1, 0);
    in_stretches(table_.size(), cancel, [&](std::size_t begin, std::size_t end) {
        for (std::size_t m = begin; m < end; ++m)
            table_[m] = static_cast<std::int32_t>(std::nearbyint(nearly_xlog(exact, m) * units_));
        for (std::size_t m = std::max<std::size_t>(begin, 1); m < end; ++m)
            rises_[m] = table_[m] - table_[m - 1];
    });
}

} // namespace hornbeam
