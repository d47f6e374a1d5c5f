// Settling of weighted classes with sums of one width.
#pragma once

#include "settling/sums.hpp"

namespace hornbeam {

template <int W>
std::unique_ptr<Settling> settle_weighed(SettleTask task, std::shared_ptr<const WeighedSets> sets) {
    using Classes = ByEntry<WeightedClasses<W>>;
    return by_rule<Classes>(sets->classes, [&](const auto &criterion) {
        return settle_with<Classes>(std::move(task), criterion, sets);
    });
}

} // namespace hornbeam
