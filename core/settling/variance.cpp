// Settling by variance, with sums as wide as the targets need.
#include <bit>

#include "criteria/widths.hpp"
#include "settling/sums.hpp"

namespace hornbeam {
namespace {

template <int W> std::unique_ptr<Settling> settle_numbers(SettleTask task) {
    ByEntry<Variance<W>> criterion;
    criterion.exponent = task.layout->sums.targets().lowest;
    return settle_with<ByEntry<Variance<W>>>(std::move(task), criterion);
}

} // namespace

std::unique_ptr<Settling> settle_variance(SettleTask task) {
    const SumShape &sums = task.layout->sums;
    // As the grower has it: value bits, twice the bits of the largest count, sign and one to spare.
    const int bits = sums.targets().bits() + 2 * static_cast<int>(std::bit_width(sums.rows())) + 2;
    return holds(narrow_numbers, bits) ? settle_numbers<narrow_numbers>(std::move(task))
                                       : settle_numbers<wide_numbers>(std::move(task));
}

} // namespace hornbeam
