"""Logarithms of p-values (docs/quest.md): doubles in the order written, no mathematics library."""

from __future__ import annotations

import decimal
import functools
import math

LARGEST = 1.7976931348623157e308
EPSILON = 2.0**-52
TINY = 1e-300
STEPS = 1_000_000
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
PER_LN2 = 1.4426950408889634
HALF_LN_2PI = 0.9189385332046728
STIRLING = (
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360360.0,
    1.0 / 156.0,
)


@functools.cache
def ln(x: float) -> float:
    """The natural logarithm of a finite double above 0, correctly rounded."""
    with decimal.localcontext() as context:
        context.prec = 60
        return float(decimal.Decimal(x).ln()) + 0.0


def exp(t: float) -> float:
    if t < -745.0:
        return 0.0
    k = math.floor(t * PER_LN2 + 0.5)
    r = (t - k * LN2_HIGH) - k * LN2_LOW
    s = 1.0
    for i in range(20, 0, -1):
        s = 1.0 + (s * r) / float(i)
    return math.ldexp(s, k)


def ln_gamma(z: float) -> float:
    shift = 1.0
    while z < 16.0:
        shift = shift * z
        z = z + 1.0
    inverse = 1.0 / (z * z)
    series = 0.0
    for coefficient in reversed(STIRLING):
        series = series * inverse + coefficient
    return ((((z - 0.5) * ln(z) - z) + HALF_LN_2PI) + series / z) - ln(shift)


def away(x: float) -> float:
    """A denominator of a continued fraction must not vanish."""
    return TINY if abs(x) < TINY else x


def beta_fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0))
    h = d
    for step in range(1, STEPS + 1):
        m = float(step)
        even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        d = 1.0 / away(1.0 + even * d)
        c = away(1.0 + even / c)
        h = h * (d * c)
        odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        d = 1.0 / away(1.0 + odd * d)
        c = away(1.0 + odd / c)
        change = d * c
        h = h * change
        if abs(change - 1.0) <= EPSILON:
            break
    return h


def at_most_one(log_p: float) -> float:
    return min(log_p, 0.0) + 0.0


def remainder(share: float) -> float:
    """The logarithm of what a share leaves of 1."""
    rest = 1.0 - share
    return at_most_one(ln(rest if rest > EPSILON else EPSILON))


def log_p_f(between: float, within: float, between_df: int, within_df: int) -> float:
    """Of the F test with these sums of squares and degrees of freedom."""
    if within_df == 0 or between == 0.0:
        return 0.0
    if within == 0.0:
        return -LARGEST
    a, b = float(within_df) / 2.0, float(between_df) / 2.0
    x, y = within / (between + within), between / (between + within)
    if x == 0.0:
        return -LARGEST
    if y == 0.0:
        return 0.0
    front = (a * ln(x) + b * ln(y)) - ((ln_gamma(a) + ln_gamma(b)) - ln_gamma(a + b))
    if x < (a + 1.0) / (a + b + 2.0):
        return at_most_one((front - ln(a)) + ln(beta_fraction(a, b, x)))
    return remainder(exp(front) * beta_fraction(b, a, y) / b)


def log_p_chi_square(statistic: float, df: int) -> float:
    if not statistic > 0.0:
        return 0.0
    a, x = float(df) / 2.0, statistic / 2.0
    front = (a * ln(x) - x) - ln_gamma(a)
    if x < a + 1.0:
        term = total = 1.0 / a
        at = a
        for _ in range(STEPS):
            at = at + 1.0
            term = term * (x / at)
            total = total + term
            if term <= total * EPSILON:
                break
        return remainder(exp(front) * total)
    b = x + 1.0 - a
    c, d = 1.0 / TINY, 1.0 / away(b)
    h = d
    for step in range(1, STEPS + 1):
        i = float(step)
        numerator = -i * (i - a)
        b = b + 2.0
        d = 1.0 / away(numerator * d + b)
        c = away(b + numerator / c)
        change = d * c
        h = h * change
        if abs(change - 1.0) <= EPSILON:
            break
    return at_most_one(front + ln(h))
