// Growth by variance, with sums as wide as the targets need.
#include <bit>

#include "criteria/widths.hpp"
#include "growth/grow_criteria.hpp"
#include "growth/grow_target.hpp"

namespace hornbeam {
namespace {

template <int W> Forest grow_with(const GrowTask &task, int exponent) {
    const NumericTarget<W> target{task.target.values, task.target.n_targets, exponent};
    return grow_target(task, SplitBy(Variance<W>{exponent}), target);
}

} // namespace

Forest grow_variance(const GrowTask &task) {
    ExponentSpan span;
    Pace pace(task.cancel, 5);
    for (double v : task.target.values) {
        pace.step();
        span.add(v);
    }
    // Differences of sums times counts must fit: value bits, twice the bits of the largest count, sign and
    // one to spare.
    std::uint64_t most = task.table.n_rows * (task.sets.plain() ? 1 : 255);
    int bits = span.bits() + 2 * static_cast<int>(std::bit_width(most)) + 2;
    return holds(narrow_numbers, bits) ? grow_with<narrow_numbers>(task, span.lowest)
                                       : grow_with<wide_numbers>(task, span.lowest);
}

} // namespace hornbeam
