// Tails of the F and chi-squared distributions by continued fractions and series (docs/quest.md).
#include "numbers/log_p.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace hornbeam {
namespace {

constexpr double epsilon = 0x1p-52;
constexpr double tiny = 1e-300;
constexpr int most_steps = 1000000;

double exponential(double t) {
    constexpr double per_ln2 = 1.4426950408889634;
    constexpr double ln2_high = 0.6931471803691238, ln2_low = 1.9082149292705877e-10;
    if (t < -745.0) return 0.0;
    const double k = std::floor(t * per_ln2 + 0.5);
    const double r = (t - k * ln2_high) - k * ln2_low;
    double s = 1.0;
    for (int i = 20; i > 0; --i) s = 1.0 + (s * r) / i;
    return std::ldexp(s, static_cast<int>(k));
}

/// Stirling's series, from 16 on.
double log_gamma(double z) {
    constexpr double half_ln_2pi = 0.9189385332046728;
    constexpr std::array<double, 7> stirling{1.0 / 12.0,   -1.0 / 360.0,      1.0 / 1260.0, -1.0 / 1680.0,
                                             1.0 / 1188.0, -691.0 / 360360.0, 1.0 / 156.0};
    double shift = 1.0;
    while (z < 16.0) {
        shift = shift * z;
        z = z + 1.0;
    }
    const double inverse = 1.0 / (z * z);
    double series = 0.0;
    for (auto c = stirling.rbegin(); c != stirling.rend(); ++c) series = series * inverse + *c;
    return ((((z - 0.5) * exact_log(z) - z) + half_ln_2pi) + series / z) - exact_log(shift);
}

/// A denominator of a continued fraction must not vanish.
double away(double x) { return std::abs(x) < tiny ? tiny : x; }

/// The continued fraction of the incomplete beta function, by Lentz's method.
double beta_fraction(double a, double b, double x) {
    double c = 1.0, d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0)), h = d;
    for (int step = 1; step <= most_steps; ++step) {
        const double m = step;
        const double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        h = h * (d * c);
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        const double change = d * c;
        h = h * change;
        if (std::abs(change - 1.0) <= epsilon) break;
    }
    return h;
}

/// That of the upper incomplete gamma function.
double gamma_fraction(double a, double x) {
    double b = x + 1.0 - a, c = 1.0 / tiny, d = 1.0 / away(b), h = d;
    for (int step = 1; step <= most_steps; ++step) {
        const double i = step, numerator = -i * (i - a);
        b = b + 2.0;
        d = 1.0 / away(numerator * d + b);
        c = away(b + numerator / c);
        const double change = d * c;
        h = h * change;
        if (std::abs(change - 1.0) <= epsilon) break;
    }
    return h;
}

/// The series of the lower one.
double gamma_series(double a, double x) {
    double term = 1.0 / a, sum = term, at = a;
    for (int step = 0; step < most_steps; ++step) {
        at = at + 1.0;
        term = term * (x / at);
        sum = sum + term;
        if (term <= sum * epsilon) break;
    }
    return sum;
}

double at_most_one(double log_p) { return std::min(log_p, 0.0) + 0.0; }

/// The logarithm of what a share leaves of 1.
double log_of_rest(double share) { return at_most_one(exact_log(std::max(1.0 - share, epsilon))); }

} // namespace

double log_p_of_f(double between, double within, std::int64_t between_df, std::int64_t within_df) {
    constexpr double sure = -std::numeric_limits<double>::max();
    if (within_df == 0 || between == 0.0) return 0.0;
    if (within == 0.0) return sure;
    const double a = static_cast<double>(within_df) / 2.0, b = static_cast<double>(between_df) / 2.0;
    const double x = within / (between + within), y = between / (between + within);
    if (x == 0.0) return sure;
    if (y == 0.0) return 0.0;
    const double front =
        (a * exact_log(x) + b * exact_log(y)) - ((log_gamma(a) + log_gamma(b)) - log_gamma(a + b));
    if (x < (a + 1.0) / (a + b + 2.0))
        return at_most_one((front - exact_log(a)) + exact_log(beta_fraction(a, b, x)));
    return log_of_rest(exponential(front) * beta_fraction(b, a, y) / b);
}

double log_p_of_chi_square(double statistic, std::int64_t df) {
    if (!(statistic > 0.0)) return 0.0;
    const double a = static_cast<double>(df) / 2.0, x = statistic / 2.0;
    const double front = (a * exact_log(x) - x) - log_gamma(a);
    if (x < a + 1.0) return log_of_rest(exponential(front) * gamma_series(a, x));
    return at_most_one(front + exact_log(gamma_fraction(a, x)));
}

} // namespace hornbeam
