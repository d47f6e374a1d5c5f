// Growth by variance, with sums as wide as the targets need.
#include <algorithm>
#include <bit>
#include <limits>

#include "grow_criteria.hpp"
#include "hornbeam/growth.hpp"

namespace hornbeam {
namespace {

/// Every target is a whole multiple of 2^lowest and smaller than 2^highest in magnitude.
struct Span {
    int lowest = std::numeric_limits<int>::max(), highest = std::numeric_limits<int>::min();
};

Span span_of(std::span<const double> values) {
    Span s;
    for (double v : values) {
        Decomposed d = decompose(v);
        if (d.mantissa == 0) continue;
        auto magnitude = static_cast<std::uint64_t>(d.mantissa < 0 ? -d.mantissa : d.mantissa);
        s.lowest = std::min(s.lowest, d.exponent);
        s.highest = std::max(s.highest, d.exponent + static_cast<int>(std::bit_width(magnitude)));
    }
    return s.lowest > s.highest ? Span{0, 0} : s;
}

template <int W> Forest grow_with(const GrowTask &task, int exponent) {
    Variance<W> criterion{exponent};
    return Growth<Variance<W>>(task, criterion, {task.target.values, task.target.n_targets, exponent}).grow();
}

} // namespace

Forest grow_variance(const GrowTask &task) {
    Span span = span_of(task.target.values);
    // Differences of sums times counts must fit: value bits, twice the bits of the largest count, sign and
    // one to spare.
    std::uint64_t most = task.table.n_rows * (task.sets.plain() ? 1 : 255);
    int bits = span.highest - span.lowest + 2 * static_cast<int>(std::bit_width(most)) + 2;
    if (bits <= 128) return grow_with<2>(task, span.lowest);
    if (bits <= 256) return grow_with<4>(task, span.lowest);
    return grow_with<36>(task, span.lowest); // any double
}

} // namespace hornbeam
