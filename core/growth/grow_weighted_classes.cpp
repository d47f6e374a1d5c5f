// What classes weigh in each training set, and how wide their sums have to be.
#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "criteria/widths.hpp"
#include "growth/class_factors.hpp"
#include "growth/grow_criteria.hpp"
#include "growth/grow_target.hpp"

namespace hornbeam {
namespace {

/// Exact weight sums of each class in one training set.
ClassSums<any_sum> class_totals(const GrowTask &task, std::int32_t set, int exponent) {
    const GrowTarget &t = task.target;
    WeightedClassTarget<any_sum> target{t.classes, t.n_classes, {t.weights, exponent}};
    ClassSums<any_sum> total = target.zero();
    for (std::size_t row = 0; row < task.table.n_rows; ++row) {
        if (row % 32768 == 32767) task.cancel.poll();
        if (std::int64_t m = task.sets.count(row, set); m != 0) target.add(total, row, m);
    }
    return total;
}

/// With sums of 64 W bits.
template <int W> Forest grow_weighed(const GrowTask &task, const WeighedClasses &classes) {
    const WeightedClassTarget<W> target{
        task.target.classes, task.target.n_classes, {task.target.weights, classes.exponent}};
    return by_rule<WeightedClasses<W>>(
        classes, [&](const auto &criterion) { return grow_target(task, SplitBy(criterion), target); });
}

} // namespace

Forest grow_weighted_classes(ClassRule rule, const GrowTask &task) {
    const GrowTarget &t = task.target;
    ExponentSpan span;
    if (t.weights.empty()) span.add(1.0);
    for (double w : t.weights) span.add(w);
    WeighedClasses classes{rule, span.lowest, {}};
    std::vector<std::vector<double>> weights;
    int factor_bits = 0;
    if (!t.costs.equal())
        for (std::int32_t s = 0; s < task.sets.n_sets; ++s) {
            const bool known = !task.whole.empty() && !task.whole[static_cast<std::size_t>(s)].factor.empty();
            SetFactors of = known ? SetFactors{{}, task.whole[static_cast<std::size_t>(s)].factor}
                                  : set_factors(t.costs, class_totals(task, s, span.lowest), span.lowest);
            int bits = 0;
            classes.factors.push_back(factors_of(of.factor, bits));
            factor_bits = std::max(factor_bits, bits);
            weights.push_back(std::move(of.weight));
        }
    // A sum of weights times its factor must fit, with a sign and one to spare; so do squares in twice that.
    std::uint64_t most = task.table.n_rows * (task.sets.plain() ? 1 : 255);
    int bits = span.bits() + factor_bits + static_cast<int>(std::bit_width(most)) + 2;
    Forest forest = holds(narrow_weights, bits) ? grow_weighed<narrow_weights>(task, classes)
                                                : grow_weighed<wide_weights>(task, classes);
    forest.class_weight = std::move(weights);
    return forest;
}

} // namespace hornbeam
