// Cuts by information of one lane, many at a time: kernels/information.hpp says what is computed. Included
// inside the namespace of an instruction set, behind lane_information.hpp and near().

inline std::int32_t largest(const Ints &lanes) {
    LaneInts each;
    write(lanes, each);
    std::int32_t most = each[0];
    for (std::size_t i = 1; i < lane_width; ++i) most = each[i] > most ? each[i] : most;
    return most;
}
inline float largest(const Floats &lanes) {
    LaneFloats each;
    write(lanes, each);
    float most = each[0];
    for (std::size_t i = 1; i < lane_width; ++i) most = each[i] > most ? each[i] : most;
    return most;
}

inline Ints read_from(const std::int32_t *numbers) {
    Ints to;
    __builtin_memcpy(&to, numbers, sizeof(to));
    return to;
}

/// Which of the cuts of one lane reach the bar, once the best of them has raised it.
inline bool settle_run(const LaneScores &scores, std::uint32_t vectors, Bar &bar, InformationBar &to_raise,
                       InformationHits &hits) {
    if (!bar.ratio && !any(scores.top.score >= bar.reach)) return false;
    scores.top.raise(bar);
    bar.reach = ints(largest(bar.reach));
    bar.quality = floats(largest(bar.quality));
    const bool found = scores.settle(vectors, bar, hits);
    bar.write_to(to_raise);
    return found;
}

bool information_run(const InformationRun &run, InformationBar &to_raise, InformationHits &hits) {
    Bar bar(to_raise);
    LaneScores scores;
    std::uint32_t vectors = 0;
    for (; vectors * lane_width < run.n; ++vectors) {
        const std::size_t at = vectors * lane_width;
        scores.put(vectors, read_from(run.sums + at), read_from(run.phi + at), read_from(run.cut + at), bar);
    }
    return settle_run(scores, vectors, bar, to_raise, hits);
}

/// How many of the first bits of a byte are set, up to and including each.
struct BitCounts {
    std::uint64_t of[256]; // a byte each
};
constexpr BitCounts make_bit_counts() {
    BitCounts counts{};
    for (std::uint64_t bits = 0; bits < 256; ++bits) {
        std::uint64_t seen = 0;
        for (unsigned i = 0; i < 8; ++i) {
            seen += bits >> i & 1;
            counts.of[bits] |= seen << 8 * i;
        }
    }
    return counts;
}
constexpr BitCounts bit_counts = make_bit_counts();

/// The ones among 16 entries, up to and including each.
inline Ints counted_ones(unsigned bits) {
    const std::uint64_t first = bit_counts.of[bits & 0xff],
                        second = bit_counts.of[bits >> 8] + (first >> 56) * 0x0101010101010101u;
    const std::uint64_t both[2] = {first, second};
    LaneCounts counts;
    __builtin_memcpy(&counts, both, sizeof(counts));
    return widened(counts);
}
/// What a table has at each place, counted from the number before its part of a vector.
inline Ints look_up_near(const std::int32_t *table, const Ints &at) {
    Ints to;
    std::int32_t before = 0;
    for (std::size_t i = 0; i < lane_parts; ++i) {
        to.part[i] = near(table + before, at.part[i] - before);
        before = at.part[i][vector_bytes / 4 - 1];
    }
    return to;
}

template <class E>
bool two_class_run(TwoClassRun<E> &run, std::uint32_t n, InformationBar &to_raise, InformationHits &hits) {
    alignas(64) std::int32_t one[most_run_cuts], cut[most_run_cuts];
    for (std::uint32_t i = 0; i < n; ++i) {
        one[i] = -static_cast<std::int32_t>(run.entries[i] & 1);
        cut[i] = -static_cast<std::int32_t>(Packed<E>::rank(run.entries[i]) !=
                                            Packed<E>::rank(run.entries[i + 1]));
    }
    const std::uint32_t vectors = (n + (lane_width - 1)) / lane_width;
    for (std::uint32_t i = n; i < vectors * lane_width; ++i) one[i] = cut[i] = 0;
    const Ints places = read(LaneInts{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
    Bar bar(to_raise);
    LaneScores scores;
    for (std::uint32_t v = 0; v < vectors; ++v) {
        const unsigned bits_of_ones = bits(read_from(one + v * lane_width));
        const Ints ones = counted_ones(bits_of_ones);
        const Ints sum = look_up_near(run.ones, ones) + look_up_near(run.zeros, places - ones);
        scores.put(v, sum, read_from(run.rows + v * lane_width + 1), read_from(cut + v * lane_width), bar);
        const int n_ones = __builtin_popcount(bits_of_ones);
        run.ones += n_ones;
        run.zeros += static_cast<int>(lane_width) - n_ones;
    }
    run.zeros -= vectors * lane_width - n;
    run.rows += n;
    run.entries += n;
    return settle_run(scores, vectors, bar, to_raise, hits);
}

// ---- the kernels of the instruction set ----

constexpr InformationKernels information_kernels{information_bound<std::uint32_t>,
                                                 information_bound<std::uint64_t>,
                                                 information_walk<std::uint32_t>,
                                                 information_walk<std::uint64_t>,
                                                 information_entries<std::uint32_t>,
                                                 information_entries<std::uint64_t>,
                                                 information_values,
                                                 information_count<std::uint32_t>,
                                                 information_count<std::uint64_t>,
                                                 information_run,
                                                 two_class_run<std::uint32_t>,
                                                 two_class_run<std::uint64_t>};
