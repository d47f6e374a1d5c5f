// Settling by variance, with sums as wide as the targets need.
#include <bit>

#include "settling/sums.hpp"

namespace hornbeam {
namespace {

template <int W> std::unique_ptr<Settling> settle_with(SettleTask task) {
    ByEntry<Variance<W>> criterion;
    criterion.exponent = task.layout->sums.targets().lowest;
    return std::make_unique<SettlingSums<ByEntry<Variance<W>>>>(std::move(task), criterion);
}

} // namespace

std::unique_ptr<Settling> settle_variance(SettleTask task) {
    const SumShape &sums = task.layout->sums;
    // As the grower has it: value bits, twice the bits of the largest count, sign and one to spare.
    const int bits = sums.targets().bits() + 2 * static_cast<int>(std::bit_width(sums.rows())) + 2;
    if (bits <= 128) return settle_with<2>(std::move(task));
    if (bits <= 256) return settle_with<4>(std::move(task));
    return settle_with<36>(std::move(task)); // any double
}

} // namespace hornbeam
