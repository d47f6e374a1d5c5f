// C4.5's pessimism. The case without errors is computed in double-double; where that lies too close to the
// middle of two doubles to say which is nearer, again with several hundred bits.
#include "pruning/expected_errors.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "numbers/long_zero.hpp"
#include "pruning/prune.hpp"

namespace hornbeam {

namespace {

constexpr DoubleDouble ln2{0.6931471805599453, 2.3190468138462996e-17};
constexpr std::size_t most_known = std::size_t{1} << 16;

DoubleDouble negated(DoubleDouble a) { return {-a.hi, -a.lo}; }

DoubleDouble divide(DoubleDouble a, double b) {
    double q1 = a.hi / b;
    DoubleDouble rest = add(a, negated(two_product(q1, b)));
    double q2 = rest.hi / b;
    rest = add(rest, negated(two_product(q2, b)));
    return add(quick_two_sum(q1, q2), {rest.hi / b, 0.0});
}

/// -ln(x) for 0 < x <= 1, to full relative precision also next to 1.
DoubleDouble minus_log(double x) {
    int e = 0;
    double f = std::frexp(x, &e); // [0.5, 1)
    if (f < 0.7071067811865476) f *= 2, --e;
    DoubleDouble above = two_sum(f, 1.0); // f - 1 is exact, f + 1 need not be
    DoubleDouble ratio = divide({f - 1.0, 0.0}, above.hi);
    ratio = add(ratio, {-ratio.hi * (above.lo / above.hi), 0.0});
    DoubleDouble log = twice_atanh(ratio, 24);
    return negated(add(log, multiply({static_cast<double>(e), 0.0}, ln2)));
}

constexpr int most_terms = 28;

/// 1 / k for k < most_terms + 1, to 2^-104.
const std::array<DoubleDouble, most_terms + 1> &inverses() {
    static const auto known = [] {
        std::array<DoubleDouble, most_terms + 1> all{};
        for (int k = 1; k <= most_terms; ++k)
            all[static_cast<std::size_t>(k)] = divide({1.0, 0.0}, static_cast<double>(k));
        return all;
    }();
    return known;
}

/// 1 - exp(-t) for |t| <= 0.5 by its series t (1 - t/2 (1 - t/3 (...))).
DoubleDouble fall_of_small(DoubleDouble t) {
    const auto &inverse = inverses(); // a product takes less time than a quotient
    DoubleDouble sum{1.0, 0.0};
    // What is left out is below the first factor left out times 2^-108.
    int last = 2;
    for (double size = 0.5 * std::abs(t.hi); size > 0x1p-108 && last < most_terms;
         size *= std::abs(t.hi) / ++last) {
    }
    for (int k = last; k >= 2; --k)
        sum = add({1.0, 0.0}, negated(multiply(multiply(t, inverse[static_cast<std::size_t>(k)]), sum)));
    return multiply(t, sum);
}

/// 1 - exp(-t) for t >= 0.
DoubleDouble fall(DoubleDouble t) {
    if (t.hi <= 0.5) return fall_of_small(t);
    if (t.hi > 800.0) return {1.0, 0.0};
    double k = std::nearbyint(t.hi / ln2.hi);
    DoubleDouble rest = fall_of_small(add(t, negated(multiply({k, 0.0}, ln2))));
    double scale = std::ldexp(1.0, -static_cast<int>(k));
    return add(add({1.0, 0.0}, {-scale, 0.0}), {rest.hi * scale, rest.lo * scale});
}

/// The nearest double, unless the value is so close to the middle of two that its error might decide.
bool rounds(DoubleDouble a, double &nearest) {
    nearest = a.hi + a.lo;
    double lo = a.lo - (nearest - a.hi);
    double next = std::nextafter(nearest, lo > 0.0 ? std::numeric_limits<double>::infinity() : 0.0);
    return std::abs(std::abs(lo) - std::abs(next - nearest) / 2) > std::abs(nearest) * 0x1p-90;
}

double deviate(double confidence) {
    constexpr std::array value{0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0};
    constexpr std::array deviate{4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0};
    std::size_t i = 1;
    while (confidence > value[i]) ++i;
    return deviate[i - 1] +
           (deviate[i] - deviate[i - 1]) * (confidence - value[i - 1]) / (value[i] - value[i - 1]);
}

} // namespace

ExpectedErrors::ExpectedErrors(double confidence) : confidence_(confidence), lambda_(minus_log(confidence)) {
    double z = deviate(confidence);
    c_ = z * z;
}

double ExpectedErrors::exact_zero(double n) const {
    if (confidence_ == 1.0) return 0.0;
    if (n == 1.0) return 1.0 - confidence_;
    // Beyond, Dekker's products would overflow; what is left out is far below the last bit.
    if (n > 0x1p500) return lambda_.hi;
    if (n < 0x1p-500) return n;
    double nearest = 0.0;
    return rounds(multiply({n, 0.0}, fall(divide(lambda_, n))), nearest) ? nearest
                                                                         : long_zero(n, confidence_);
}

double ExpectedErrors::find_zero(double n) {
    if (!(n < static_cast<double>(most_known)) || n != std::floor(n)) return exact_zero(n);
    auto i = static_cast<std::size_t>(n);
    if (i >= known_.size()) known_.resize(std::max(2 * known_.size(), i + 1), -1.0);
    if (known_[i] < 0.0) known_[i] = exact_zero(n);
    return known_[i];
}

bool ExpectedErrors::rises() {
    // A row of the leaf's class makes (n, e) to (n + 1, e), any other row to (n + 1, e) or (n + 1, e + 1).
    // With whole rows e + 0.5 < n, for the leaf's class has a row. From e = 1 on the expression is
    // n / (n + c) * (e' + c / 2 + sqrt(c (e' (1 - e' / n) + c / 4))), e' = e + 0.5: every factor rises with
    // n, and (e' + 1) (1 - (e' + 1) / (n + 1)) >= e' (1 - e' / n) where n >= e'. Without errors zero(n) rises
    // with n. What is left is the step from no error to one; both sides rise, so it is enough to see
    // expected(a + 1, 1) above zero(b) for neighbours a < b of a grid, and at its end above zero's limit.
    constexpr double margin = 1.0 + 1e-9;
    double a = 1.0;
    while (a < 0x1p31) {
        double b = std::floor(a * 1.125) + 1.0;
        if ((*this)(a + 1.0, 1.0) < margin * -b * std::expm1(-lambda_.hi / b)) return false;
        a = b;
    }
    return (*this)(a, 1.0) >= margin * lambda_.hi;
}

double expected_errors(double n, double e, double confidence) { return ExpectedErrors(confidence)(n, e); }

} // namespace hornbeam
