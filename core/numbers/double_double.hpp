// Arithmetic of about 106 bits from pairs of doubles, and the series that logarithms are made of.
#pragma once

namespace hornbeam {

struct DoubleDouble {
    double hi = 0, lo = 0;
};

inline DoubleDouble quick_two_sum(double a, double b) {
    double s = a + b;
    return {s, b - (s - a)};
}

inline DoubleDouble two_sum(double a, double b) {
    double s = a + b, v = s - a;
    return {s, (a - (s - v)) + (b - v)};
}

inline DoubleDouble two_product(double a, double b) {
    // Dekker: exact without a fused multiply-add, which plain x86-64 does not have.
    constexpr double splitter = 134217729.0;
    double ta = splitter * a, ah = ta - (ta - a), al = a - ah;
    double tb = splitter * b, bh = tb - (tb - b), bl = b - bh;
    double p = a * b;
    return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

inline DoubleDouble add(DoubleDouble a, DoubleDouble b) {
    DoubleDouble s = two_sum(a.hi, b.hi), t = two_sum(a.lo, b.lo);
    s = quick_two_sum(s.hi, s.lo + t.hi);
    return quick_two_sum(s.hi, s.lo + t.lo);
}

inline DoubleDouble multiply(DoubleDouble a, DoubleDouble b) {
    DoubleDouble p = two_product(a.hi, b.hi);
    return quick_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

inline DoubleDouble divide(double a, double b) {
    double q = a / b;
    DoubleDouble p = two_product(q, b);
    double r = (a - p.hi) - p.lo;
    double q2 = r / b;
    DoubleDouble p2 = two_product(q2, b);
    double q3 = ((r - p2.hi) - p2.lo) / b;
    DoubleDouble s = quick_two_sum(q, q2);
    return quick_two_sum(s.hi, s.lo + q3);
}

/// 2 atanh(r) by its series, `terms` terms.
inline DoubleDouble twice_atanh(DoubleDouble r, int terms) {
    DoubleDouble square = multiply(r, r), sum{};
    for (int k = terms - 1; k >= 0; --k) sum = add(multiply(sum, square), divide(2.0, 2.0 * k + 1.0));
    return multiply(sum, r);
}

} // namespace hornbeam
