// How wide exact sums are, in words of 64 bits: narrow ones hold numbers whose sizes differ little, wide ones
// any doubles. Every width is compiled apart, so there are two of each kind.
#pragma once

namespace hornbeam {

/// Weights of rows and classes: sums, whose squares take twice as much.
inline constexpr int narrow_weights = 2, wide_weights = 72;
/// Numeric targets: sums, and differences of sums times counts.
inline constexpr int narrow_numbers = 2, wide_numbers = 36;
/// Numeric targets of weighted rows: sums of weights times squares.
inline constexpr int narrow_weighted_numbers = 6, wide_weighted_numbers = 100;

/// Whether so many bits fit a width.
inline constexpr bool holds(int width, int bits) { return bits <= 64 * width; }

} // namespace hornbeam
