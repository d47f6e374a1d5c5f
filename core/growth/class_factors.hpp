// Factors of classes, from the numbers that class weights and costs give.
#pragma once

#include <span>

#include "criteria/weighted_classes.hpp"
#include "growth/grow.hpp"

namespace hornbeam {

inline constexpr int any_sum = 40; // limbs that hold a sum of any weights, or of any costs

/// v: what each class of a set weighs; z: what class sums are multiplied by.
struct SetFactors {
    std::vector<double> weight, factor;
};
/// From the exact weight sums of the set's classes. Throws std::invalid_argument where a factor is no double.
SetFactors set_factors(const ClassCosts &costs, const ClassSums<any_sum> &total, int exponent);

/// The factors in units that all of them share, and the bits they take.
ClassFactors factors_of(std::span<const double> factor, int &bits);

} // namespace hornbeam
