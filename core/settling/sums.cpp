// Which sums settle a node: by what is predicted, what rows weigh, and what classes weigh and cost.
#include "settling/sums.hpp"

#include <bit>
#include <stdexcept>

#include "criteria/widths.hpp"
#include "growth/class_factors.hpp"

namespace hornbeam {
namespace {

ClassRule rule_named(const std::string &criterion) {
    if (criterion == "gini") return ClassRule::gini;
    if (criterion == "entropy") return ClassRule::entropy;
    if (criterion == "gain_ratio") return ClassRule::gain_ratio;
    if (criterion == "correlation") return ClassRule::correlation;
    if (criterion == "c45") return ClassRule::c45;
    throw std::invalid_argument("criterion '" + criterion + "' is not settled from sums of weights");
}

std::unique_ptr<Settling> settle_classes(SettleTask task) {
    const SumShape &sums = task.layout->sums;
    ExponentSpan span = sums.weights();
    if (span.empty) span.add(1.0);
    auto sets = std::make_shared<WeighedSets>();
    sets->classes = {rule_named(task.criterion), span.lowest, {}};
    int factor_bits = 0;
    std::int64_t most = 1;
    for (std::size_t s = 0; s < task.wholes.size(); ++s) {
        most = std::max(most, task.wholes[s].n);
        if (task.costs.equal()) continue;
        SetFactors of = set_factors(
            task.costs, read_stats<ClassSums<any_sum>>(sums, task.wholes[s], task.sums_of_whole(s)),
            span.lowest);
        int bits = 0;
        sets->classes.factors.push_back(factors_of(of.factor, bits));
        factor_bits = std::max(factor_bits, bits);
        sets->weight.push_back(std::move(of.weight));
        sets->factor.push_back(std::move(of.factor));
    }
    // As the grower has it: a sum of weights times its factor, with a sign and one to spare.
    const int bits =
        span.bits() + factor_bits + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most))) + 2;
    return holds(narrow_weights, bits) ? settle_weighed<narrow_weights>(std::move(task), std::move(sets))
                                       : settle_weighed<wide_weights>(std::move(task), std::move(sets));
}

} // namespace

std::unique_ptr<Settling> settle_by_sums(SettleTask task) {
    const SumShape &sums = task.layout->sums;
    if (sums.n_targets() == 0) return settle_classes(std::move(task));
    if (task.criterion != "variance")
        throw std::invalid_argument("criterion '" + task.criterion + "' is not of numbers");
    return sums.weighted() ? settle_weighted_variance(std::move(task)) : settle_variance(std::move(task));
}

} // namespace hornbeam
