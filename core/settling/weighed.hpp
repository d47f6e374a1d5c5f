// Settling of weighted classes with sums of one width.
#pragma once

#include "settling/sums.hpp"

namespace hornbeam {

template <int W>
std::unique_ptr<Settling> settle_weighed(SettleTask task, std::shared_ptr<const WeighedSets> sets) {
    const WeighedClasses &classes = sets->classes;
    auto made = [&](auto criterion) -> std::unique_ptr<Settling> {
        WeightedClasses<W> &weighted = criterion;
        weighted.rule = classes.rule;
        weighted.splits_at_zero = classes.rule != ClassRule::gain_ratio;
        weighted.exponent = classes.exponent;
        weighted.factors = classes.factors.empty() ? nullptr : &classes.factors;
        return std::make_unique<SettlingSums<decltype(criterion)>>(std::move(task), criterion, sets);
    };
    using Classes = ByEntry<WeightedClasses<W>>;
    return classes.rule == ClassRule::c45 ? made(C45<Classes>{}) : made(Classes{});
}

} // namespace hornbeam
