// Growth by variance, with sums as wide as the targets need.
#include <bit>

#include "growth/grow_criteria.hpp"
#include "growth/growth.hpp"

namespace hornbeam {
namespace {

template <int W> Forest grow_with(const GrowTask &task, int exponent) {
    Variance<W> criterion{exponent};
    return Growth<Variance<W>>(task, criterion, {task.target.values, task.target.n_targets, exponent}).grow();
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
    if (bits <= 128) return grow_with<2>(task, span.lowest);
    if (bits <= 256) return grow_with<4>(task, span.lowest);
    return grow_with<36>(task, span.lowest); // any double
}

} // namespace hornbeam
