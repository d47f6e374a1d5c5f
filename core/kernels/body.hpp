// The loops themselves, compiled once per instruction set. Included by <set>.cpp inside a namespace
// of its own, so that no inline function compiled for a newer machine can be linked into the plain path.

template <class E> inline std::uint32_t scalar_part(E *list, std::uint32_t from, std::uint32_t n,
                                                    const std::uint8_t *flag, E *right, std::uint32_t left) {
    // Both stores always happen, one of the cursors moves: no branch to mispredict.
    std::uint32_t out = from - left;
    for (std::uint32_t i = from; i < n; ++i) {
        E e = list[i];
        std::uint32_t goes_right = flag[static_cast<std::uint32_t>((e & Packed<E>::low) >> 1)];
        list[left] = e;
        right[out] = e;
        left += 1 - goes_right;
        out += goes_right;
    }
    return left;
}

template <class E> inline std::uint32_t scalar_keep(const E *list, std::uint32_t from, std::uint32_t n,
                                                    const std::uint8_t *flag, E *to, std::uint32_t kept) {
    for (std::uint32_t i = from; i < n; ++i) {
        E e = list[i];
        to[kept] = e;
        kept += 1u - flag[static_cast<std::uint32_t>((e & Packed<E>::low) >> 1)];
    }
    return kept;
}

/// The entry under the id of its guest.
template <class E> inline E as_guest(E e, const std::uint32_t *guest) {
    const auto id = static_cast<std::uint32_t>((e & Packed<E>::low) >> 1);
    return static_cast<E>((e & ~(Packed<E>::low ^ E{1})) | static_cast<E>(guest[id]) << 1);
}

template <class E> inline Dealt scalar_deal(E *list, std::uint32_t from, std::uint32_t n,
                                            const std::uint8_t *flag, const std::uint32_t *guest, E *right,
                                            Dealt dealt) {
    for (std::uint32_t i = from; i < n; ++i) {
        E e = list[i];
        const std::uint8_t f = flag[static_cast<std::uint32_t>((e & Packed<E>::low) >> 1)];
        list[dealt.left] = e;
        right[dealt.right] = f == both_ways ? as_guest(e, guest) : e;
        dealt.left += f != 1;
        dealt.right += f != 0;
    }
    return dealt;
}

/// Scores of one block; `ones` are those of the list before the block.
template <class E, class Number>
inline BlockPeak block_peak(const E *list, std::uint32_t begin, std::uint32_t end, std::uint32_t ones,
                            const TwoClass &counts, std::uint32_t &ones_after) {
    Number prefix[scan_block];
    std::uint32_t seen = ones;
    const std::uint32_t size = end - begin;
    const E *at = list + begin;
    for (std::uint32_t i = 0; i < size; ++i) {
        seen += static_cast<std::uint32_t>(at[i] & 1);
        prefix[i] = static_cast<Number>(seen);
    }
    ones_after = seen;
    const auto n = static_cast<Number>(counts.n), all = static_cast<Number>(counts.ones);
    const auto start = static_cast<Number>(counts.start_n + begin + 1),
               start_ones = static_cast<Number>(counts.start_ones);
    const auto least_left = static_cast<Number>(counts.min_left),
               least_right = static_cast<Number>(counts.min_right);
    std::int32_t best = 0; // bits of a non-negative float order as the float does
    for (std::uint32_t i = 0; i < size; ++i) {
        Number left = start + static_cast<Number>(static_cast<std::int32_t>(i)), right = n - left;
        Number d = n * (prefix[i] + start_ones) - left * all;
        auto f = static_cast<float>(d);
        float score = f * f / (static_cast<float>(left) * static_cast<float>(right));
        bool cut = (at[i] >> Packed<E>::rank_shift) != (at[i + 1] >> Packed<E>::rank_shift);
        bool admissible = cut & (left >= least_left) & (right >= least_right);
        std::int32_t bits = __builtin_bit_cast(std::int32_t, score);
        bits = admissible ? bits : 0;
        best = bits > best ? bits : best;
    }
    return {__builtin_bit_cast(float, best), ones};
}

/// Calls `one_block` for each block of cuts; it returns the peak and moves `ones` on.
template <class E, class OneBlock> inline void
each_block(const E *list, std::uint32_t n, const TwoClass &counts, BlockPeak *out, OneBlock one_block) {
    std::uint32_t ones = 0;
    for (std::uint32_t begin = 0; begin + 1 < n; begin += scan_block) {
        std::uint32_t end = begin + scan_block < n - 1 ? begin + scan_block : n - 1, after = 0;
        *out++ = one_block(list, begin, end, ones, counts, after);
        ones = after;
    }
}

/// Those of the cuts that nearly reach the best of them, by d^2 and the product of their sides.
inline std::uint64_t near_best(std::uint64_t cuts, const float *square, const float *sides, float margin) {
    float top = 0.0f;
    for (std::uint64_t rest = cuts; rest != 0; rest &= rest - 1) {
        const int i = __builtin_ctzll(rest);
        const float score = square[i] / sides[i];
        top = score > top ? score : top;
    }
    const float least = top * (1.0f - single_doubt) - margin;
    std::uint64_t near = 0;
    for (std::uint64_t rest = cuts; rest != 0; rest &= rest - 1) {
        const int i = __builtin_ctzll(rest);
        near |= std::uint64_t{square[i] / sides[i] >= least} << i;
    }
    return near;
}

/// Leaves a stretch behind, whose ones and hits are known.
inline void pass_on(Stretch &stretch, std::uint64_t is_one, std::uint64_t is_hit) {
    stretch.begin = stretch.next, stretch.ones = stretch.next_ones;
    stretch.next += stretch_cuts;
    stretch.next_ones += static_cast<std::uint32_t>(__builtin_popcountll(is_one));
    stretch.is_one = is_one, stretch.is_hit = is_hit;
}

template <class E, class Number> inline bool
next_hits(const E *list, std::uint32_t end, const TwoClass &counts, const ScoreBar &bar, Stretch &stretch) {
    const auto n = static_cast<Number>(counts.n), all = static_cast<Number>(counts.ones);
    while (stretch.next < end) {
        const std::uint32_t begin = stretch.next;
        const std::uint32_t size = end - begin < stretch_cuts ? end - begin : stretch_cuts;
        const E *at = list + begin;
        Number prefix[stretch_cuts];
        std::uint64_t is_one = 0, reaches = 0;
        auto seen = static_cast<Number>(counts.start_ones + stretch.next_ones);
        for (std::uint32_t i = 0; i < size; ++i) {
            seen += static_cast<Number>(at[i] & 1);
            prefix[i] = seen;
            is_one |= static_cast<std::uint64_t>(at[i] & 1) << i;
        }
        float square[stretch_cuts], sides[stretch_cuts];
        const auto start = static_cast<Number>(counts.start_n + begin + 1);
        for (std::uint32_t i = 0; i < size; ++i) {
            const Number left = start + static_cast<Number>(static_cast<std::int32_t>(i));
            const auto d = static_cast<float>(n * prefix[i] - left * all);
            square[i] = d * d;
            sides[i] = static_cast<float>(left) * static_cast<float>(n - left);
        }
        for (std::uint32_t i = 0; i < size; ++i) {
            const bool cut = (at[i] >> Packed<E>::rank_shift) != (at[i + 1] >> Packed<E>::rank_shift);
            reaches |= std::uint64_t{cut & (square[i] >= bar.reach * sides[i])} << i;
        }
        pass_on(stretch, is_one, near_best(reaches, square, sides, bar.margin));
        if (reaches != 0) return true;
    }
    return false;
}

template <class Sum>
inline void sums_after_values(const std::uint32_t *__restrict counts, std::uint32_t n_values,
                              std::uint32_t width, const std::uint32_t *__restrict node,
                              std::uint32_t *__restrict left, ValueSums *__restrict sums) {
    for (std::uint32_t v = 0; v < n_values; ++v, counts += width) {
        Sum squares = 0, products = 0;
        std::uint32_t rows = 0;
        for (std::uint32_t k = 0; k < width; ++k) {
            const std::uint32_t l = left[k] + counts[k];
            left[k] = l;
            rows += counts[k];
            squares += static_cast<Sum>(l) * l;
            products += static_cast<Sum>(l) * node[k];
        }
        sums[v] = {static_cast<std::int64_t>(squares), static_cast<std::int64_t>(products), rows};
    }
}

void value_sums(const std::uint32_t *counts, std::uint32_t n_values, std::uint32_t width,
                const std::uint32_t *node, std::uint32_t *left, bool small, ValueSums *sums) {
    if (small)
        sums_after_values<std::uint32_t>(counts, n_values, width, node, left, sums);
    else
        sums_after_values<std::uint64_t>(counts, n_values, width, node, left, sums);
}

/// x log2 x, off by at most 2^-44 x; 0 where x is not above 0. The fraction m lies between the roots of 1/2
/// and 2, and its logarithm is that of (1 + s) / (1 - s), whose series ends with the 15th power.
inline double near_times_log2(double x) {
    const auto bits = __builtin_bit_cast(std::uint64_t, x);
    constexpr std::uint64_t one = 0x3ff0000000000000u, root = 0x3fe6a09e667f3bcdu;
    const std::uint64_t exponent = (bits + (one - root)) >> 52;
    const double m = __builtin_bit_cast(double, bits - (exponent << 52) + one);
    const double whole = __builtin_bit_cast(double, exponent | 0x4330000000000000u) - (0x1p52 + 1023.0);
    const double s = (m - 1.0) / (m + 1.0), z = s * s;
    constexpr double scale = 2.8853900817779268; // 2 / ln 2
    double p = scale / 15;
    p = p * z + scale / 13;
    p = p * z + scale / 11;
    p = p * z + scale / 9;
    p = p * z + scale / 7;
    p = p * z + scale / 5;
    p = p * z + scale / 3;
    p = p * z + scale;
    const double y = x * (whole + s * p);
    return x > 0.0 ? y : 0.0;
}

void contents(const double *__restrict a, const double *__restrict b, std::uint32_t n,
              double *__restrict out) {
    for (std::uint32_t i = 0; i < n; ++i) out[i] = near_times_log2(a[i]) + near_times_log2(b[i]);
}
