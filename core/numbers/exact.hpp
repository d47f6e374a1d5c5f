// Exact sums: fixed-point integers wide enough that no target value is ever rounded.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace hornbeam {

/// A two's complement integer of W 64-bit limbs, least significant first. Callers choose W so that it cannot
/// overflow.
template <int W> struct Fixed {
    std::array<std::uint64_t, W> limb{};

    bool negative() const { return static_cast<std::int64_t>(limb[W - 1]) < 0; }
    bool operator==(const Fixed &) const = default;
    bool zero() const { return *this == Fixed{}; }

    Fixed &operator+=(const Fixed &b) {
        unsigned char carry = 0;
        for (int i = 0; i < W; ++i) {
            unsigned __int128 s = static_cast<unsigned __int128>(limb[i]) + b.limb[i] + carry;
            limb[i] = static_cast<std::uint64_t>(s);
            carry = static_cast<unsigned char>(s >> 64);
        }
        return *this;
    }
    Fixed operator-() const {
        Fixed r;
        unsigned char carry = 1;
        for (int i = 0; i < W; ++i) {
            r.limb[i] = ~limb[i] + carry;
            carry = carry && r.limb[i] == 0;
        }
        return r;
    }
    Fixed &operator-=(const Fixed &b) { return *this += -b; }
    friend Fixed operator+(Fixed a, const Fixed &b) { return a += b; }
    friend Fixed operator-(Fixed a, const Fixed &b) { return a -= b; }

    /// Adds value << shift.
    void add_shifted(__int128 value, unsigned shift) {
        Fixed term;
        std::uint64_t fill = value < 0 ? ~std::uint64_t{0} : 0;
        term.limb.fill(fill);
        unsigned at = shift / 64, bits = shift % 64;
        for (unsigned i = 0; i < at; ++i) term.limb[i] = 0;
        auto low = static_cast<std::uint64_t>(value), high = static_cast<std::uint64_t>(value >> 64);
        std::array<std::uint64_t, 3> piece{low, high, fill};
        if (bits != 0)
            piece = {low << bits, (high << bits) | (low >> (64 - bits)),
                     (fill << bits) | (high >> (64 - bits))};
        for (unsigned i = 0; i < 3 && at + i < W; ++i) term.limb[at + i] = piece[i];
        *this += term;
    }

    Fixed magnitude() const { return negative() ? -*this : *this; }

    /// Bits of a number that is not negative.
    int width() const {
        int top = W - 1;
        while (top >= 0 && limb[top] == 0) --top;
        return top < 0 ? 0 : 64 * top + static_cast<int>(std::bit_width(limb[top]));
    }
};

/// a < b for numbers that are not negative.
template <int W> bool below(const Fixed<W> &a, const Fixed<W> &b) {
    for (int i = W - 1; i >= 0; --i)
        if (a.limb[i] != b.limb[i]) return a.limb[i] < b.limb[i];
    return false;
}

/// a << shift, in another width.
template <int V, int W> Fixed<V> shifted(const Fixed<W> &a, unsigned shift) {
    Fixed<V> r;
    unsigned at = shift / 64, bits = shift % 64;
    std::uint64_t carry = 0;
    for (unsigned i = 0; i < W && at + i < V; ++i) {
        r.limb[at + i] = (a.limb[i] << bits) | carry;
        carry = bits == 0 ? 0 : a.limb[i] >> (64 - bits);
    }
    if (at + W < V) r.limb[at + W] = carry;
    return r;
}

/// a * m for m >= 0.
template <int W> Fixed<W> times(const Fixed<W> &a, std::uint64_t m) {
    bool negative = a.negative();
    Fixed<W> u = a.magnitude(), r;
    unsigned __int128 carry = 0;
    for (int i = 0; i < W; ++i) {
        carry += static_cast<unsigned __int128>(u.limb[i]) * m;
        r.limb[i] = static_cast<std::uint64_t>(carry);
        carry >>= 64;
    }
    return negative ? -r : r;
}

/// Adds a * b to r, which is 0, for a and b that are not negative.
template <int W> void add_product(Fixed<2 * W> &r, const Fixed<W> &a, const Fixed<W> &b) {
    for (int i = 0; i < W; ++i) {
        if (a.limb[i] == 0) continue; // wide numbers are mostly zeros
        unsigned __int128 carry = 0;
        for (int j = 0; j < W; ++j) {
            carry += static_cast<unsigned __int128>(a.limb[i]) * b.limb[j] + r.limb[i + j];
            r.limb[i + j] = static_cast<std::uint64_t>(carry);
            carry >>= 64;
        }
        r.limb[i + W] = static_cast<std::uint64_t>(carry);
    }
}

template <int W> Fixed<2 * W> squared(const Fixed<W> &a) {
    Fixed<W> u = a.magnitude();
    Fixed<2 * W> r;
    add_product(r, u, u);
    return r;
}

/// a * b, either of any sign.
template <int W> Fixed<2 * W> product(const Fixed<W> &a, const Fixed<W> &b) {
    Fixed<2 * W> r;
    add_product(r, a.magnitude(), b.magnitude());
    return a.negative() == b.negative() ? r : -r;
}

/// The double nearest to a * 2^exponent, ties to even, with gradual underflow.
template <int W> double nearest_double(const Fixed<W> &a, int exponent) {
    Fixed<W> u = a.magnitude();
    int top = W - 1;
    while (top >= 0 && u.limb[top] == 0) --top;
    if (top < 0) return 0.0;
    int width = 64 * top + std::bit_width(u.limb[top]); // bits of the magnitude
    // Keep 53 bits, fewer where the result is subnormal.
    int keep = std::min(53, width + exponent + 1074);
    if (keep < 0) return 0.0;
    int drop = width - keep;
    std::uint64_t mantissa = 0;
    bool half = false, sticky = false;
    auto bit = [&](int i) { return i >= 0 && ((u.limb[i / 64] >> (i % 64)) & 1) != 0; };
    if (drop <= 0) {
        mantissa = u.limb[0] << -drop; // width <= 53: everything is in one limb
        drop = drop < 0 ? drop : 0;
    } else {
        int limb = drop / 64, shift = drop % 64;
        mantissa = u.limb[limb] >> shift;
        if (shift != 0 && limb + 1 < W) mantissa |= u.limb[limb + 1] << (64 - shift);
        if (keep < 64) mantissa &= (std::uint64_t{1} << keep) - 1;
        half = bit(drop - 1);
        for (int i = 0; i < (drop - 1) / 64 && !sticky; ++i) sticky = u.limb[i] != 0;
        int rest = (drop - 1) % 64;
        if (!sticky && rest != 0) sticky = (u.limb[(drop - 1) / 64] & ((std::uint64_t{1} << rest) - 1)) != 0;
    }
    if (half && (sticky || (mantissa & 1) != 0)) ++mantissa;
    double r = std::ldexp(static_cast<double>(mantissa), drop + exponent);
    return a.negative() ? -r : r;
}

/// The double nearest to a * 2^exponent / n for n > 0.
template <int W> double nearest_quotient(const Fixed<W> &a, std::uint64_t n, int exponent) {
    Fixed<W> u = a.magnitude();
    Fixed<W + 3>
        q; // 128 fraction bits: the quotient keeps at least 64 significant bits; one limb for the sign
    unsigned __int128 rest = 0;
    for (int i = W + 1; i >= 0; --i) {
        rest = (rest << 64) | (i >= 2 ? u.limb[i - 2] : 0);
        q.limb[i] = static_cast<std::uint64_t>(rest / n);
        rest %= n;
    }
    if (rest != 0) q.limb[0] |= 1; // far below the last kept bit: only says that the quotient is not exact
    double r = nearest_double(q, exponent - 128);
    return a.negative() ? -r : r;
}

/// The double nearest to a / b * 2^exponent for b > 0: long division, bit by bit, to 67 bits.
template <int W> double nearest_quotient(const Fixed<W> &a, const Fixed<W> &b, int exponent) {
    constexpr int V = 2 * W + 3;
    Fixed<W> u = a.magnitude();
    if (u.zero()) return 0.0;
    const int up = b.width() + 66 - u.width(); // the quotient has 66 or 67 bits
    Fixed<V> rest = shifted<V>(u, up > 0 ? static_cast<unsigned>(up) : 0);
    Fixed<V> divisor = shifted<V>(b, up < 0 ? static_cast<unsigned>(-up) : 0);
    unsigned __int128 q = 0;
    for (int bit = 67; bit >= 0; --bit) {
        Fixed<V> part = shifted<V>(divisor, static_cast<unsigned>(bit));
        if (below(rest, part)) continue;
        rest -= part;
        q |= static_cast<unsigned __int128>(1) << bit;
    }
    if (!rest.zero()) q |= 1; // far below the last kept bit: only says that the quotient is not exact
    Fixed<3> whole;
    whole.limb = {static_cast<std::uint64_t>(q), static_cast<std::uint64_t>(q >> 64), 0};
    double r = nearest_double(whole, exponent - up);
    return a.negative() ? -r : r;
}

/// value = mantissa * 2^exponent with an odd mantissa (or 0).
struct Decomposed {
    std::int64_t mantissa = 0;
    int exponent = 0;
};
inline Decomposed decompose(double value) {
    auto bits = std::bit_cast<std::uint64_t>(value);
    auto m = static_cast<std::int64_t>(bits & ((std::uint64_t{1} << 52) - 1));
    int e = static_cast<int>(bits >> 52) & 0x7ff;
    e != 0 ? m |= std::int64_t{1} << 52 : e = 1; // subnormal numbers have no hidden bit
    if (m == 0) return {};
    int zeros = std::countr_zero(static_cast<std::uint64_t>(m));
    m >>= zeros;
    return {value < 0.0 ? -m : m, e - 1075 + zeros};
}

/// Every value is a whole multiple of 2^lowest and smaller than 2^highest in magnitude.
struct ExponentSpan {
    int lowest = 0, highest = 0;
    bool empty = true;

    void add(double value) {
        Decomposed d = decompose(value);
        if (d.mantissa == 0) return;
        auto magnitude = static_cast<std::uint64_t>(d.mantissa < 0 ? -d.mantissa : d.mantissa);
        int top = d.exponent + static_cast<int>(std::bit_width(magnitude));
        lowest = empty ? d.exponent : std::min(lowest, d.exponent);
        highest = empty ? top : std::max(highest, top);
        empty = false;
    }
    int bits() const { return highest - lowest; }
};

} // namespace hornbeam
