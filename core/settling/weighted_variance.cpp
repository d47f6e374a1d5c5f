// Settling by variance of weighted rows, with sums as wide as weights and targets need.
#include <bit>

#include "settling/sums.hpp"

namespace hornbeam {
namespace {

template <int W> std::unique_ptr<Settling> settle_with(SettleTask task) {
    ByEntry<WeightedVariance<W>> criterion;
    criterion.exponent = task.layout->sums.targets().lowest;
    criterion.weight_exponent = task.layout->sums.weights().lowest;
    return std::make_unique<SettlingSums<ByEntry<WeightedVariance<W>>>>(std::move(task), criterion);
}

} // namespace

std::unique_ptr<Settling> settle_weighted_variance(SettleTask task) {
    const SumShape &sums = task.layout->sums;
    // As the grower has it: the sum of w y^2, with a sign and one to spare.
    const int bits =
        sums.weights().bits() + 2 * sums.targets().bits() + static_cast<int>(std::bit_width(sums.rows())) + 2;
    if (bits <= 128) return settle_with<2>(std::move(task));
    if (bits <= 256) return settle_with<4>(std::move(task));
    return settle_with<100>(std::move(task)); // any doubles
}

} // namespace hornbeam
