// Logarithm and exponential by their series, in fixed point: 576 bits behind the point, 64 before it.
#include "numbers/long_zero.hpp"

#include <cmath>

#include "numbers/exact.hpp"

namespace hornbeam {

namespace {

constexpr int fraction_limbs = 9, fraction_bits = 64 * fraction_limbs;
using Long = Fixed<fraction_limbs + 1>;

Long whole(std::uint64_t n) {
    Long a;
    a.limb[fraction_limbs] = n;
    return a;
}

/// For numbers that are not negative, as all below.
Long multiply(const Long &a, const Long &b) {
    Fixed<2 * (fraction_limbs + 1)> wide = product(a, b);
    Long r;
    for (std::size_t i = 0; i < r.limb.size(); ++i) r.limb[i] = wide.limb[i + fraction_limbs];
    return r;
}

Long divide(Long a, std::uint64_t d) {
    unsigned __int128 rest = 0;
    for (std::size_t i = a.limb.size(); i-- > 0;) {
        rest = (rest << 64) | a.limb[i];
        a.limb[i] = static_cast<std::uint64_t>(rest / d);
        rest %= d;
    }
    return a;
}

Long halved(Long a, int times) {
    for (; times >= 64; times -= 64) {
        for (std::size_t i = 0; i + 1 < a.limb.size(); ++i) a.limb[i] = a.limb[i + 1];
        a.limb.back() = 0;
    }
    for (std::size_t i = 0; i < a.limb.size() && times > 0; ++i) {
        std::uint64_t above = i + 1 < a.limb.size() ? a.limb[i + 1] << (64 - times) : 0;
        a.limb[i] = (a.limb[i] >> times) | above;
    }
    return a;
}

/// 2 atanh(p / q) for p / q <= 1/3.
Long twice_atanh(std::uint64_t p, std::uint64_t q) {
    Long ratio = divide(times(whole(1), p), q), square = multiply(ratio, ratio), power = ratio, sum;
    for (std::uint64_t k = 1; !power.zero(); k += 2) {
        sum += divide(power, k);
        power = multiply(power, square);
    }
    return sum + sum;
}

/// 1 - t/2 + t^2/6 - ... = (1 - exp(-t)) / t for t <= 1.
Long mean_fall(const Long &t) {
    Long term = whole(1), sum = term;
    for (std::uint64_t k = 2; !term.zero(); ++k) {
        term = divide(multiply(term, t), k);
        k % 2 == 0 ? sum -= term : sum += term;
    }
    return sum;
}

/// The nearest double of a * 2^exponent; ties to even.
template <int W> double rounded(Fixed<W> a, int exponent) {
    const int width = a.width(), drop = width - 53;
    // A difference to the middle that is all error is no difference.
    Fixed<W> unit, error;
    unit.add_shifted(1, static_cast<unsigned>(drop - 1));
    error.add_shifted(1, static_cast<unsigned>(width - 400));
    Fixed<W> cut = a;
    for (std::size_t i = 0; i < cut.limb.size(); ++i) {
        int low = drop - 1 - 64 * static_cast<int>(i);
        if (low >= 64)
            cut.limb[i] = 0;
        else if (low > 0)
            cut.limb[i] &= ~std::uint64_t{0} << low;
    }
    // cut is a, rounded down to 54 bits; the middle of two doubles is cut, or one unit above it.
    Fixed<W> above = cut + unit;
    if (below(a - cut, error)) return nearest_double(cut, exponent);
    if (below(above - a, error)) return nearest_double(above, exponent);
    return nearest_double(a, exponent);
}

} // namespace

double long_zero(double n, double confidence) {
    int e = 0;
    double f = std::frexp(confidence, &e); // [0.5, 1)
    if (f < 0.7071067811865476) f *= 2, --e;
    constexpr std::uint64_t one = std::uint64_t{1} << 53;
    auto mantissa = static_cast<std::uint64_t>(std::ldexp(f, 53));
    Long lambda = times(twice_atanh(1, 3), static_cast<std::uint64_t>(-e)); // -ln(confidence)
    if (mantissa < one)
        lambda += twice_atanh(one - mantissa, one + mantissa);
    else
        lambda -= twice_atanh(mantissa - one, one + mantissa);
    Decomposed size = decompose(n);
    auto m = static_cast<std::uint64_t>(size.mantissa);
    Long t = divide(lambda, m);
    t = size.exponent > 0 ? halved(t, size.exponent)
                          : shifted<fraction_limbs + 1>(t, static_cast<unsigned>(-size.exponent));
    if (!below(whole(1), t)) return rounded(multiply(lambda, mean_fall(t)), -fraction_bits);
    // exp(-t) = 2^-k exp(-rest)
    Long ln2 = twice_atanh(1, 3), rest = t;
    int k = 0;
    while (!below(rest, ln2)) rest -= ln2, ++k;
    Long fall = whole(1) - halved(whole(1) - multiply(rest, mean_fall(rest)), k);
    Fixed<fraction_limbs + 2> product = times(shifted<fraction_limbs + 2>(fall, 0), m);
    return rounded(product, size.exponent - fraction_bits);
}

} // namespace hornbeam
