// C4.5's pessimism: how many errors are to be expected of a leaf, given those it makes on its training rows.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "numbers/double_double.hpp"

namespace hornbeam {

/// Expressions of docs/law.md, "Pruning"; 0 < confidence <= 1.
class ExpectedErrors {
  public:
    explicit ExpectedErrors(double confidence);

    /// e + extra(n, e) for n > 0.
    double operator()(double n, double e) { return e + extra(n, e); }
    /// n * (1 - confidence^(1/n)), correctly rounded.
    double zero(double n) {
        if (n < static_cast<double>(known_.size())) {
            auto i = static_cast<std::size_t>(n);
            if (static_cast<double>(i) == n && known_[i] >= 0.0) return known_[i];
        }
        return find_zero(n);
    }
    /// Whether a further row, of whatever class, can never lower what a leaf of whole rows is expected to get
    /// wrong (but for rounding).
    bool rises();

  private:
    double extra(double n, double e) {
        if (e < 1e-6) return zero(n);
        if (e < 1.0) return zero(n) + e * (extra(n, 1.0) - zero(n));
        if (e + 0.5 >= n) return 0.67 * (n - e);
        double root = std::sqrt(c_ * ((e + 0.5) * (1 - (e + 0.5) / n) + c_ / 4));
        double p = (e + 0.5 + c_ / 2 + root) / (n + c_);
        return n * p - e;
    }
    double find_zero(double n);
    double exact_zero(double n) const;

    double confidence_;
    double c_;            // the square of the deviate
    DoubleDouble lambda_; // -ln(confidence)
    std::vector<double> known_;
};

} // namespace hornbeam
