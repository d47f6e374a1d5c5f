// The errors that C4.5 expects where there were none, in numbers of several hundred bits.
#pragma once

namespace hornbeam {

/// n * (1 - confidence^(1/n)), correctly rounded, for 0 < confidence < 1 and -ln(confidence) / n < 1000. What
/// lies within 2^-400 of the middle of two doubles is taken for the middle: exact ties, which roots of simple
/// numbers have, go to even.
double long_zero(double n, double confidence);

} // namespace hornbeam
