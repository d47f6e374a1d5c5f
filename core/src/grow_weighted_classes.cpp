// What classes weigh in each training set, and how wide their sums have to be.
#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "class_factors.hpp"
#include "grow_criteria.hpp"

namespace hornbeam {
namespace {

constexpr int any_sum = 40; // limbs that hold a sum of any weights, or of any costs

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

/// v_k: given, or by which all classes of the set weigh alike.
std::vector<double> class_weights(const ClassCosts &costs, const ClassSums<any_sum> &total, int exponent) {
    const std::size_t n_classes = total.c.size();
    if (!costs.balanced) return costs.weight.empty() ? std::vector<double>(n_classes, 1.0) : costs.weight;
    std::vector<double> v(n_classes, 1.0);
    double whole = nearest_double(total.weight, exponent), k = as_double(total.classes_present());
    for (std::size_t i = 0; i < n_classes; ++i)
        if (!total.c[i].zero()) v[i] = whole / (k * nearest_double(total.c[i], exponent));
    return v;
}

/// What it costs to miss class k: the nearest double of the sum over the classes of the set.
double missed(const ClassCosts &costs, const ClassSums<any_sum> &total, std::size_t k) {
    if (costs.cost.empty() || total.classes_present() < 2) return 1.0;
    const std::size_t n_classes = total.c.size();
    constexpr int lowest = -1074;
    Fixed<any_sum> sum;
    for (std::size_t j = 0; j < n_classes; ++j) {
        Decomposed c = decompose(costs.cost[k * n_classes + j]);
        if (!total.c[j].zero() && c.mantissa != 0)
            sum.add_shifted(c.mantissa, static_cast<unsigned>(c.exponent - lowest));
    }
    return nearest_double(sum, lowest);
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
            ClassSums<any_sum> total = class_totals(task, s, span.lowest);
            std::vector<double> v = class_weights(t.costs, total, span.lowest), z = v;
            for (std::size_t k = 0; k < z.size(); ++k) { // absent classes take no part
                z[k] = total.c[k].zero() ? 0.0 : v[k] * missed(t.costs, total, k);
                if (!std::isfinite(z[k]) || (z[k] == 0.0 && !total.c[k].zero()))
                    throw std::invalid_argument(
                        "the weight of a class leaves the range of doubles; scale class_weight, cost_matrix "
                        "or sample_weight to numbers around 1");
            }
            int bits = 0;
            classes.factors.push_back(factors_of(z, bits));
            factor_bits = std::max(factor_bits, bits);
            weights.push_back(std::move(v));
        }
    // A sum of weights times its factor must fit, with a sign and one to spare; so do squares in twice that.
    std::uint64_t most = task.table.n_rows * (task.sets.plain() ? 1 : 255);
    int bits = span.bits() + factor_bits + static_cast<int>(std::bit_width(most)) + 2;
    Forest forest = bits <= 64 * narrow_sums   ? grow_weighed<narrow_sums>(task, classes)
                    : bits <= 64 * middle_sums ? grow_weighed<middle_sums>(task, classes)
                                               : grow_weighed<wide_sums>(task, classes);
    forest.class_weight = std::move(weights);
    return forest;
}

} // namespace hornbeam
