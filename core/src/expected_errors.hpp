// C4.5's pessimism: how many errors are to be expected of a leaf, given those it makes on its training rows.
#pragma once

#include <cstddef>
#include <vector>

#include "double_double.hpp"

namespace hornbeam {

/// Expressions of docs/law.md, "Pruning"; 0 < confidence <= 1.
class ExpectedErrors {
  public:
    explicit ExpectedErrors(double confidence);

    /// e + extra(n, e) for n > 0.
    double operator()(double n, double e) { return e + extra(n, e); }
    /// n * (1 - confidence^(1/n)), correctly rounded.
    double zero(double n);
    /// Whether a further row, of whatever class, can never lower what a leaf of whole rows is expected to get
    /// wrong (but for rounding).
    bool rises();

  private:
    double extra(double n, double e);
    double exact_zero(double n) const;

    double confidence_;
    double c_;            // the square of the deviate
    DoubleDouble lambda_; // -ln(confidence)
    std::vector<double> known_;
};

} // namespace hornbeam
