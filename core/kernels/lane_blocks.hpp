// Two-class lists for all lanes in one pass: counts and bounds block by block, and the cuts of a block.
// Included inside the namespace of an instruction set, as body.hpp is, behind any_lane() and
// nearly_over().

/// A byte for the rows and one for the ones of each lane.
typedef std::uint8_t LaneBytes __attribute__((vector_size(2 * lane_width)));

template <class E> inline LaneBytes lane_step(E e, const std::uint8_t *pattern, const std::uint8_t *steps) {
    const std::size_t step = 2 * std::size_t{pattern[(e & Packed<E>::low) >> 1]} + (e & 1);
    LaneBytes add;
    __builtin_memcpy(&add, steps + step * sizeof(LaneBytes), sizeof(LaneBytes));
    return add;
}

/// D = n ones_L - n_L ones and the product of the sides of every lane, at one point.
struct alignas(64) LanePoint {
    float d[lane_width], sides[lane_width];

    LaneFloats score() const {
        LaneFloats a, b;
        __builtin_memcpy(&a, d, sizeof(a));
        __builtin_memcpy(&b, sides, sizeof(b));
        return nearly_over(a * a, b);
    }
};

/// Vectors of as many lanes as there are numbers in 64 bytes.
template <class Number> struct LaneVectors {
    static constexpr std::size_t lanes = 64 / sizeof(Number);
    typedef Number Numbers __attribute__((vector_size(64)));
    typedef float Floats __attribute__((vector_size(4 * lanes)));
    typedef std::int32_t Ints __attribute__((vector_size(4 * lanes)));
};

/// What the lanes of one such vector have on the left, and where a block takes them: the points are its end
/// and the two other corners.
template <class Number> struct alignas(64) LaneLeft : LaneVectors<Number> {
    using typename LaneVectors<Number>::Numbers, typename LaneVectors<Number>::Floats,
        typename LaneVectors<Number>::Ints;
    Numbers whole, all, min_left, most_left, n{}, ones{}, d{};

    void open(const LaneTotals &totals, std::size_t first) {
        for (std::size_t i = 0; i < this->lanes; ++i) {
            const std::size_t lane = first + i;
            whole[i] = static_cast<Number>(totals.n[lane]), all[i] = static_cast<Number>(totals.ones[lane]);
            min_left[i] = static_cast<Number>(totals.min_left[lane]);
            most_left[i] = static_cast<Number>(totals.n[lane] - totals.min_right[lane]);
        }
    }
    static void write(Numbers here, float *to) {
        const Floats floats = __builtin_convertvector(here, Floats);
        __builtin_memcpy(to, &floats, sizeof(floats));
    }
    void write_sides(Numbers left, float *to) const {
        const Floats product =
            __builtin_convertvector(left, Floats) * __builtin_convertvector(whole - left, Floats);
        const Floats sides = product > 1.0f ? product : Floats{} + 1.0f;
        __builtin_memcpy(to, &sides, sizeof(sides));
    }
    static Numbers read(const std::uint8_t *counts) {
        Number each[LaneVectors<Number>::lanes]; // a plain loop: vectors of bytes are taken apart one by one
        for (std::size_t i = 0; i < LaneVectors<Number>::lanes; ++i)
            each[i] = static_cast<Number>(std::int32_t{counts[i]});
        Numbers numbers;
        __builtin_memcpy(&numbers, each, sizeof(numbers));
        return numbers;
    }
    void add(const std::uint8_t *rows_seen, const std::uint8_t *ones_seen, std::size_t first, LanePoint &last,
             LanePoint &ones_first, LanePoint &zeros_first) {
        const Numbers rows = read(rows_seen + first), new_ones = read(ones_seen + first),
                      zeros = rows - new_ones;
        const Numbers up = d + new_ones * (whole - all), down = zeros * all;
        write(up, ones_first.d + first);
        write(d - down, zeros_first.d + first);
        write(up - down, last.d + first);
        write_sides(n + new_ones, ones_first.sides + first);
        write_sides(n + zeros, zeros_first.sides + first);
        d = up - down;
        n += rows;
        ones += new_ones;
        write_sides(n, last.sides + first);
    }
    void admissible(std::int32_t *to) const {
        const Ints held = __builtin_convertvector((n >= min_left) & (n <= most_left), Ints);
        __builtin_memcpy(to, &held, sizeof(held));
    }
    static void tell(Numbers counts, std::int32_t *to) {
        const Ints ints = __builtin_convertvector(counts, Ints);
        __builtin_memcpy(to, &ints, sizeof(ints));
    }
};

inline LaneFloats larger(LaneFloats a, LaneFloats b) { return choose_lanes(a > b, a, b); }

/// The score is convex in the zeros and ones on the left, so that between two cuts it exceeds nowhere the
/// largest of the four corners that they span.
template <class E, class Number>
inline std::uint32_t lane_blocks(const E *list, std::uint32_t n, const std::uint8_t *pattern,
                                 const std::uint8_t *steps, const LaneTotals &totals, float *to_reach,
                                 LaneBlock *blocks) {
    using Left = LaneLeft<Number>;
    Left left[lane_width / Left::lanes];
    for (std::size_t v = 0; v < lane_width; v += Left::lanes) left[v / Left::lanes].open(totals, v);
    LanePoint end_point, ones_first, zeros_first;
    LaneFloats reach, margin, first = {};
    __builtin_memcpy(&reach, to_reach, sizeof(reach));
    __builtin_memcpy(&margin, totals.margin, sizeof(margin));
    std::uint32_t found = 0;
    for (std::uint32_t begin = 0; begin < n; begin += lane_block<E>) {
        const std::uint32_t end = begin + lane_block<E> < n ? begin + lane_block<E> : n;
        LaneBytes seen = {};
        for (std::uint32_t i = begin; i < end; ++i) seen += lane_step(list[i], pattern, steps);
        std::uint8_t counts[2 * lane_width];
        __builtin_memcpy(counts, &seen, sizeof(seen));
        LaneBlock &block = blocks[found];
        block.begin = begin;
        for (std::size_t v = 0; v < lane_width; v += Left::lanes) {
            Left &lanes = left[v / Left::lanes];
            Left::tell(lanes.n, block.n + v);
            Left::tell(lanes.ones, block.ones + v);
            lanes.add(counts, counts + lane_width, v, end_point, ones_first, zeros_first);
        }
        const LaneFloats last = end_point.score(), corners = larger(ones_first.score(), zeros_first.score());
        const LaneFloats bound = larger(larger(first, last), corners) * (1.0f + nearly);
        __builtin_memcpy(block.bound, &bound, sizeof(bound));
        found += any_lane(bound >= reach);
        if (end < n && (list[end - 1] >> Packed<E>::rank_shift) != (list[end] >> Packed<E>::rank_shift)) {
            alignas(64) std::int32_t held[lane_width];
            for (std::size_t v = 0; v < lane_width; v += Left::lanes)
                left[v / Left::lanes].admissible(held + v);
            LaneInts admissible;
            __builtin_memcpy(&admissible, held, sizeof(admissible));
            const LaneFloats sure = last * (1.0f - nearly) - margin;
            reach = choose_lanes(admissible & (sure > reach), sure, reach);
        }
        first = last;
    }
    __builtin_memcpy(to_reach, &reach, sizeof(reach));
    return found;
}

std::uint32_t lane_blocks_narrow(const std::uint32_t *list, std::uint32_t n, const std::uint8_t *pattern,
                                 const std::uint8_t *steps, const LaneTotals &totals, float *reach,
                                 LaneBlock *blocks) {
    return lane_blocks<std::uint32_t, std::int32_t>(list, n, pattern, steps, totals, reach, blocks);
}
std::uint32_t lane_blocks_wide(const std::uint64_t *list, std::uint32_t n, const std::uint8_t *pattern,
                               const std::uint8_t *steps, const LaneTotals &totals, float *reach,
                               LaneBlock *blocks) {
    return lane_blocks<std::uint64_t, double>(list, n, pattern, steps, totals, reach, blocks);
}

template <class E, class Number>
inline bool lane_hits(const E *list, std::uint32_t n, const std::uint8_t *pattern, const std::uint8_t *steps,
                      const LaneTotals &totals, const LaneBlock &before, const float *reach,
                      LaneSeen *__restrict seen, std::int32_t *__restrict hit) {
    alignas(64) Number whole[lane_width], all[lane_width], min_left[lane_width], most_left[lane_width];
    alignas(64) Number n0[lane_width], o0[lane_width];
    alignas(64) float to_reach[lane_width];
    for (std::size_t i = 0; i < lane_width; ++i) {
        whole[i] = static_cast<Number>(totals.n[i]), all[i] = static_cast<Number>(totals.ones[i]);
        min_left[i] = static_cast<Number>(totals.min_left[i]);
        most_left[i] = static_cast<Number>(totals.n[i] - totals.min_right[i]);
        n0[i] = static_cast<Number>(before.n[i]), o0[i] = static_cast<Number>(before.ones[i]);
        to_reach[i] = reach[i];
    }
    std::int32_t found = 0;
    LaneBytes sum = {};
    for (std::uint32_t i = 0; i < n; ++i) {
        const E e = list[i];
        sum += lane_step(e, pattern, steps);
        __builtin_memcpy(seen + i, &sum, sizeof(sum));
        hit[i] = 0;
        if ((e >> Packed<E>::rank_shift) == (list[i + 1] >> Packed<E>::rank_shift)) continue;
        std::int32_t any = 0;
        for (std::size_t l = 0; l < lane_width; ++l) {
            const Number left = n0[l] + static_cast<Number>(seen[i].n[l]),
                         ones = o0[l] + static_cast<Number>(seen[i].ones[l]);
            const auto d = static_cast<float>(whole[l] * ones - left * all[l]);
            const float sides = static_cast<float>(left) * static_cast<float>(whole[l] - left);
            any |= (d * d >= to_reach[l] * sides) & (left >= min_left[l]) & (left <= most_left[l]);
        }
        hit[i] = any;
        found |= any;
    }
    return found != 0;
}

bool lane_hits_narrow(const std::uint32_t *list, std::uint32_t n, const std::uint8_t *pattern,
                      const std::uint8_t *steps, const LaneTotals &totals, const LaneBlock &before,
                      const float *reach, LaneSeen *seen, std::int32_t *hit) {
    return lane_hits<std::uint32_t, std::int32_t>(list, n, pattern, steps, totals, before, reach, seen, hit);
}
bool lane_hits_wide(const std::uint64_t *list, std::uint32_t n, const std::uint8_t *pattern,
                    const std::uint8_t *steps, const LaneTotals &totals, const LaneBlock &before,
                    const float *reach, LaneSeen *seen, std::int32_t *hit) {
    return lane_hits<std::uint64_t, double>(list, n, pattern, steps, totals, before, reach, seen, hit);
}
