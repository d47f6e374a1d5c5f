// Growth by variance of weighted rows, with sums as wide as weights and targets need.
#include <bit>

#include "criteria/widths.hpp"
#include "growth/grow_criteria.hpp"
#include "growth/grow_target.hpp"

namespace hornbeam {
namespace {

template <int W> Forest grow_with(const GrowTask &task, int exponent, int weight_exponent) {
    WeightedVariance<W> criterion;
    criterion.exponent = exponent;
    criterion.weight_exponent = weight_exponent;
    const WeightedTarget<W> target{
        task.target.values, task.target.n_targets, exponent, {task.target.weights, weight_exponent}};
    return grow_target(task, SplitBy(criterion), target);
}

} // namespace

Forest grow_weighted_variance(const GrowTask &task) {
    ExponentSpan values, weights;
    for (double y : task.target.values) values.add(y);
    for (double w : task.target.weights) weights.add(w);
    // The sum of w y^2 must fit, with a sign and one to spare; products of two sums do in twice that.
    std::uint64_t most = task.table.n_rows * (task.sets.plain() ? 1 : 255);
    int bits = weights.bits() + 2 * values.bits() + static_cast<int>(std::bit_width(most)) + 2;
    return holds(narrow_weighted_numbers, bits)
               ? grow_with<narrow_weighted_numbers>(task, values.lowest, weights.lowest)
               : grow_with<wide_weighted_numbers>(task, values.lowest, weights.lowest);
}

} // namespace hornbeam
