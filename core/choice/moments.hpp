// Exact sums of the values of a numeric attribute: additive, so those of a node are the sum of its parts'.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "numbers/exact.hpp"
#include "table/column.hpp"

namespace hornbeam {

/// A value of a column as an exact number; an infinity counts as the largest double of its sign.
inline Decomposed exact_value(const NumericColumn &column, std::uint32_t rank) {
    if (column.is_integer) return {column.integers[rank], 0};
    constexpr double most = std::numeric_limits<double>::max();
    return decompose(std::clamp(column.floats[rank], -most, most));
}

/// Of some rows: how many they are, their values and the squares of them, in units of 2^e and 4^e. Callers
/// choose W by `limbs_for`, and e so that every value is a whole multiple of 2^e.
template <int W> struct Moments {
    std::int64_t n = 0;
    Fixed<W> x;
    Fixed<2 * W> xx;

    static Fixed<W> whole(Decomposed value, int exponent) {
        Fixed<W> r;
        if (value.mantissa != 0)
            r.add_shifted(value.mantissa, static_cast<unsigned>(value.exponent - exponent));
        return r;
    }
    void add(Decomposed value, int exponent, std::int64_t times) {
        n += times;
        if (value.mantissa == 0) return;
        const auto shift = static_cast<unsigned>(value.exponent - exponent);
        x.add_shifted(static_cast<__int128>(value.mantissa) * times, shift);
        // 128 bits hold the square of a mantissa, but not many times that.
        const __int128 square = static_cast<__int128>(value.mantissa) * value.mantissa;
        if (times == 1) return xx.add_shifted(square, 2 * shift);
        Fixed<2 * W> term;
        term.add_shifted(square, 2 * shift);
        xx += hornbeam::times(term, static_cast<std::uint64_t>(times));
    }
    Moments &operator+=(const Moments &b) {
        n += b.n;
        x += b.x;
        xx += b.xx;
        return *this;
    }
    Moments &operator-=(const Moments &b) {
        n -= b.n;
        x -= b.x;
        xx -= b.xx;
        return *this;
    }
    /// n * sum of squares - square of sum: 0 where all values are equal.
    Fixed<2 * W> spread() const { return times(xx, static_cast<std::uint64_t>(n)) - squared(x); }
};

/// n_b * sum of a - n_a * sum of b, which has the sign of mean a - mean b.
template <int W> Fixed<W> contrast(const Moments<W> &a, const Moments<W> &b) {
    return times(a.x, static_cast<std::uint64_t>(b.n)) - times(b.x, static_cast<std::uint64_t>(a.n));
}

/// Limbs for sums of at most `most` values of so many bits: they are multiplied by counts once more, and have
/// a sign and a bit to spare.
inline int limbs_for(int value_bits, std::uint64_t most) {
    return (value_bits + 2 * static_cast<int>(std::bit_width(most)) + 2 + 63) / 64;
}

} // namespace hornbeam
