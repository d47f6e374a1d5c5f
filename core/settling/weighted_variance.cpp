// Settling by variance of weighted rows, with sums as wide as weights and targets need.
#include <bit>

#include "criteria/widths.hpp"
#include "settling/sums.hpp"

namespace hornbeam {
namespace {

template <int W> std::unique_ptr<Settling> settle_numbers(SettleTask task) {
    ByEntry<WeightedVariance<W>> criterion;
    criterion.exponent = task.layout->sums.targets().lowest;
    criterion.weight_exponent = task.layout->sums.weights().lowest;
    return settle_with<ByEntry<WeightedVariance<W>>>(std::move(task), criterion);
}

} // namespace

std::unique_ptr<Settling> settle_weighted_variance(SettleTask task) {
    const SumShape &sums = task.layout->sums;
    // As the grower has it: the sum of w y^2, with a sign and one to spare.
    const int bits =
        sums.weights().bits() + 2 * sums.targets().bits() + static_cast<int>(std::bit_width(sums.rows())) + 2;
    return holds(narrow_weighted_numbers, bits) ? settle_numbers<narrow_weighted_numbers>(std::move(task))
                                                : settle_numbers<wide_weighted_numbers>(std::move(task));
}

} // namespace hornbeam
