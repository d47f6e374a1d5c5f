// log2 of an integer in double-double: table of 128 centres plus a short atanh series.
#include "numbers/xlog.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "numbers/double_double.hpp"
#include "numbers/log_p.hpp"

namespace hornbeam {
namespace {

/// (f - c) / (f + c) for f near c: the difference is exact, the sum has one bit too many.
DoubleDouble contrast(double f, double c) {
    DoubleDouble sum = two_sum(f, c);
    return multiply(divide(f - c, sum.hi), {1.0, -sum.lo / sum.hi});
}

constexpr DoubleDouble per_ln2{1.4426950408889634, 2.0355273740931033e-17};
constexpr int centres = 128;

/// log2 of the centre 1 + (i + 0.5) / 128 of each interval of [1, 2).
const std::array<DoubleDouble, centres> &centre_logs() {
    static const auto logs = [] {
        std::array<DoubleDouble, centres> out;
        for (int i = 0; i < centres; ++i) {
            double c = 1.0 + (i + 0.5) / centres;
            out[i] = multiply(twice_atanh(divide(c - 1.0, c + 1.0), 36), per_ln2);
        }
        return out;
    }();
    return logs;
}

/// log2 of the fraction f in [1, 2).
DoubleDouble log2_fraction(double f, const std::array<DoubleDouble, centres> &logs) {
    int i = static_cast<int>((f - 1.0) * centres);
    double c = 1.0 + (i + 0.5) / centres;
    return add(logs[i], multiply(twice_atanh(contrast(f, c), 7), per_ln2));
}

DoubleDouble log2_integer(std::uint64_t m, const std::array<DoubleDouble, centres> &logs) {
    int e = std::bit_width(m) - 1;
    double f = static_cast<double>(m) / static_cast<double>(std::uint64_t{1} << e);
    if (f == 1.0) return {static_cast<double>(e), 0.0};
    return add({static_cast<double>(e), 0.0}, log2_fraction(f, logs));
}

/// log2 of f 2^e, f in [1, 2), to a relative 2^-90. Near 1 the logarithm is small, so it comes from one
/// series without a table.
DoubleDouble log2_double(double f, int e, const std::array<DoubleDouble, centres> &logs) {
    double x = e == -1 ? f / 2 : f;
    if ((e == 0 || e == -1) && std::abs(x - 1.0) < 1.0 / 64)
        return multiply(twice_atanh(contrast(x, 1.0), 10), per_ln2);
    if (f == 1.0) return {static_cast<double>(e), 0.0};
    return add({static_cast<double>(e), 0.0}, log2_fraction(f, logs));
}

/// (p.hi + p.lo) 2^e in one rounding, also where the result is subnormal.
double scaled(DoubleDouble p, int e) {
    double whole = p.hi + p.lo;
    if (whole == 0.0 || std::ilogb(whole) + e >= -1021) return std::ldexp(whole, e);
    const double y = std::ldexp(p.hi, 1074 + e); // in units of the smallest double
    double units = std::nearbyint(y);
    if (y - units == 0.5 && p.lo > 0.0) units += 1.0;
    if (y - units == -0.5 && p.lo < 0.0) units -= 1.0;
    return std::ldexp(units, -1074);
}

double times_rounded(double m, DoubleDouble log) {
    DoubleDouble p = multiply({m, 0.0}, log);
    return p.hi + p.lo;
}

} // namespace

double exact_xlog(std::uint64_t m) {
    if (m < 2) return 0.0;
    return times_rounded(static_cast<double>(m), log2_integer(m, centre_logs()));
}

double exact_xlog(double x) {
    if (x == 0.0 || std::isinf(x)) return x;
    int e = 0;
    double f = 2.0 * std::frexp(x, &e); // x = f 2^(e - 1)
    return scaled(multiply({f, 0.0}, log2_double(f, e - 1, centre_logs())), e - 1) + 0.0;
}

double exact_log(double x) {
    constexpr DoubleDouble ln2{0.6931471805599453, 2.3190468138462996e-17};
    int e = 0;
    double f = 2.0 * std::frexp(x, &e);
    DoubleDouble log = multiply(log2_double(f, e - 1, centre_logs()), ln2);
    return (log.hi + log.lo) + 0.0;
}

XlogTable::XlogTable(std::size_t limit, Cancel &cancel) : table_(std::min(limit, largest_table) + 1, 0.0) {
    const auto &logs = centre_logs();
    // log2(j 2^e) = log2(j) + e: only odd numbers need a series.
    for (std::size_t odd = 1; odd < table_.size(); odd += 2) {
        if (odd % 16384 == 1) cancel.poll();
        DoubleDouble log = log2_integer(odd, logs);
        double e = 0;
        for (std::size_t m = odd; m < table_.size(); m *= 2, e += 1)
            table_[m] = times_rounded(static_cast<double>(m), add(log, {e, 0.0}));
    }
}

} // namespace hornbeam
