// Factors of classes in units that all of them share.
#include "growth/class_factors.hpp"

#include <cmath>
#include <stdexcept>

namespace hornbeam {
namespace {

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

SetFactors set_factors(const ClassCosts &costs, const ClassSums<any_sum> &total, int exponent) {
    SetFactors of;
    of.weight = of.factor = class_weights(costs, total, exponent);
    for (std::size_t k = 0; k < of.factor.size(); ++k) { // absent classes take no part
        const bool present = !total.c[k].zero();
        double &z = of.factor[k];
        z = present ? of.weight[k] * missed(costs, total, k) : 0.0;
        if (!std::isfinite(z) || (z == 0.0 && present))
            throw std::invalid_argument(
                "the weight of a class leaves the range of doubles; scale class_weight, cost_matrix "
                "or sample_weight to numbers around 1");
    }
    return of;
}

ClassFactors factors_of(std::span<const double> factor, int &bits) {
    ExponentSpan span;
    for (double z : factor) span.add(z);
    ClassFactors factors;
    factors.exponent = span.lowest;
    for (double z : factor) {
        Decomposed d = decompose(z);
        factors.mantissa.push_back(static_cast<std::uint64_t>(d.mantissa));
        factors.shift.push_back(d.mantissa == 0 ? 0 : static_cast<unsigned>(d.exponent - span.lowest));
    }
    bits = span.bits();
    return factors;
}

} // namespace hornbeam
