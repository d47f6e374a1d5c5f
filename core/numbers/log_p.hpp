// Logarithms of p-values, as literal expressions in a fixed order: no mathematics library has a say.
#pragma once

#include <cstdint>

namespace hornbeam {

/// The natural logarithm of a finite double above 0, correctly rounded.
double exact_log(double x);

/// Of the F test with these sums of squares, each above or equal to 0, and degrees of freedom.
double log_p_of_f(double between, double within, std::int64_t between_df, std::int64_t within_df);
/// Of the chi-squared test.
double log_p_of_chi_square(double statistic, std::int64_t df);

} // namespace hornbeam
