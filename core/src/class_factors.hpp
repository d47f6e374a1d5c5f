// Factors of classes, from the numbers that class weights and costs give.
#pragma once

#include <span>

#include "hornbeam/criteria/weighted_classes.hpp"

namespace hornbeam {

/// The factors in units that all of them share, and the bits they take.
ClassFactors factors_of(std::span<const double> factor, int &bits);

} // namespace hornbeam
