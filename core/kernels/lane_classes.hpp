// The many-class cuts of a list for all lanes in one pass. Included inside the namespace of an instruction
// set, as body.hpp is, behind any_lane() and lane_bits(); and the cuts of one set, whose places are
// the lanes then.

/// Where a lane's score is within this share of its best, single precision does not tell which is better: 11
/// roundings.
constexpr float lane_doubt = 1e-6f;

inline LaneInts choose_lanes(LaneInts which, LaneInts a, LaneInts b) { return (which & a) | (~which & b); }
inline LaneFloats choose_lanes(LaneInts which, LaneFloats a, LaneFloats b) {
    return (LaneFloats)choose_lanes(which, (LaneInts)a, (LaneInts)b);
}

/// An entry that moves from one side to the other changes a score in rows (the sum over both sides of the sum
/// of squared class counts over their rows) by 2 at most: on the left by (2 l_k + 1 - score) / (l + 1), which
/// lies between -1 and 1, and so on the right. So far below the best no cut of the next entries is worth a
/// look.
struct Quiet {
    std::uint32_t entries;
    float rows; // of each lane, and a little for roundings
};
constexpr Quiet quiet_long{32, 2.0f * 32 + 0.01f}, quiet_short{4, 2.0f * 4 + 0.01f};

/// A scan in registers.
struct LaneRun {
    LaneInts squares, products, left;
    LaneFloats best_top, best_sides, bar;
    const LaneInts whole, all_squares, min_left, most_left;

    explicit LaneRun(const LaneCuts &cuts)
        : squares(cuts.squares), products(cuts.products), left(cuts.left), best_top(cuts.best_top),
          best_sides(cuts.best_sides), whole(cuts.whole), all_squares(cuts.all_squares),
          min_left(cuts.min_left), most_left(cuts.most_left) {
        aim();
    }
    /// No cut whose score is below the bar can be the best, whatever the roundings.
    void aim() { bar = best_top / best_sides * (1.0f - 2.0f * lane_doubt); }

    /// How many entries on there may be a best cut of some lane: not sooner; a score is top / sides.
    std::uint32_t quiet(LaneFloats &top, LaneFloats &sides) const {
        const LaneInts right_squares = all_squares - (products + products) + squares;
        const LaneFloats l = __builtin_convertvector(left, LaneFloats),
                         r = __builtin_convertvector(whole - left, LaneFloats);
        top = __builtin_convertvector(squares, LaneFloats) * r +
              __builtin_convertvector(right_squares, LaneFloats) * l;
        sides = l * r;
        // A lane that has seen none of its rows yet has the score of the whole: 0 / 0 would hide it for as
        // long as the others are quiet.
        const LaneInts none = left == 0;
        top = choose_lanes(none, __builtin_convertvector(all_squares, LaneFloats), top);
        sides = choose_lanes(none, __builtin_convertvector(whole, LaneFloats), sides);
        if (any_lane(top > (bar - quiet_short.rows) * sides)) return 0;
        return any_lane(top > (bar - quiet_long.rows) * sides) ? quiet_short.entries : quiet_long.entries;
    }
    /// Holds the cut `at` against the best of each lane; true where some lane is in doubt.
    bool look(std::uint32_t at, LaneFloats top, LaneFloats sides, LaneCuts &cuts) {
        if (!any_lane(top > bar * sides)) return false;
        const LaneFloats here = top * best_sides, best = best_top * sides;
        const LaneInts reaches = (here > best * (1.0f - lane_doubt)) & (left >= min_left) &
                                 (left <= most_left) & (left != cuts.best_left);
        if (!any_lane(reaches)) return false;
        const LaneInts better = reaches & (here > best * (1.0f + lane_doubt));
        best_top = choose_lanes(better, top, best_top);
        best_sides = choose_lanes(better, sides, best_sides);
        aim();
        cuts.best_left = choose_lanes(better, left, cuts.best_left);
        cuts.best_squares = choose_lanes(better, squares, cuts.best_squares);
        cuts.best_products = choose_lanes(better, products, cuts.best_products);
        cuts.best_at = choose_lanes(better, LaneInts{} + static_cast<std::int32_t>(at), cuts.best_at);
        const LaneInts doubt = reaches & ~better;
        if (!any_lane(doubt)) return false;
        cuts.doubt = doubt;
        cuts.top = top;
        cuts.sides = sides;
        return true;
    }
    void pause(LaneCuts &cuts) const {
        cuts.squares = squares, cuts.products = products, cuts.left = left;
        cuts.best_top = best_top, cuts.best_sides = best_sides;
    }
};

std::uint32_t lane_classes(const std::uint32_t *list, std::uint32_t begin, std::uint32_t first,
                           std::uint32_t n, const std::uint8_t *pattern, const LanePattern *patterns,
                           const std::uint16_t *classes, LaneClass *by_class, LaneCuts &cuts) {
    LaneRun run(cuts);
    std::uint32_t i = begin;
    auto id = [](std::uint32_t e) { return (e & Packed<std::uint32_t>::low) >> 1; };
    auto move_left = [&](std::uint32_t e) {
        const LaneInts counts = patterns[pattern[id(e)]].in;
        LaneClass &of_class = by_class[classes[id(e)]];
        run.squares += counts & of_class.step;
        run.products += counts & of_class.all;
        of_class.step -= counts + counts;
        run.left -= counts;
    };
    // What an entry costs is the wait for the sums of its class, which the entry before may have written: two
    // wait as long as one.
    auto move_two = [&](std::uint32_t e, std::uint32_t f) {
        const LaneInts first = patterns[pattern[id(e)]].in, second = patterns[pattern[id(f)]].in;
        LaneClass &a = by_class[classes[id(e)]], &b = by_class[classes[id(f)]];
        const LaneInts again = first & (LaneInts{} - (&a == &b));
        const LaneInts step = a.step, next_step = b.step - (again + again);
        run.squares += (first & step) + (second & next_step);
        run.products += (first & a.all) + (second & b.all);
        run.left -= first + second;
        a.step = step - (first + first);
        b.step = next_step - (second + second);
    };
    auto same_value = [&](std::uint32_t at) { return (list[at] >> 16) == (list[at + 1] >> 16); };
    auto move_to = [&](std::uint32_t end) {
        for (; i + 2 <= end; i += 2) move_two(list[i], list[i + 1]);
        if (i < end) move_left(list[i++]);
    };
    move_to(first);
    while (i + 1 < n) {
        if (i + 2 < n && same_value(i)) {
            move_two(list[i], list[i + 1]);
            i += 2;
        } else {
            move_left(list[i++]);
        }
        if (same_value(i - 1)) continue;
        LaneFloats top, sides;
        const std::uint32_t quiet = run.quiet(top, sides);
        if (quiet == 0 && run.look(i - 1, top, sides, cuts)) break;
        move_to(i + quiet < n ? i + quiet : n - 1);
    }
    run.pause(cuts);
    return i;
}

bool class_hits(const std::uint64_t *running, std::uint32_t cuts, const ClassCuts &against,
                std::uint16_t *hit) {
    typedef std::uint64_t Words __attribute__((vector_size(8 * lane_width)));
    typedef std::uint32_t Sums __attribute__((vector_size(4 * lane_width))); // below 2^32, where rows repeat
    const LaneInts places = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    unsigned any = 0;
    for (std::uint32_t i = 0; i < cuts; i += lane_width) {
        Words words;
        __builtin_memcpy(&words, running + i, sizeof(words));
        const Sums squares = __builtin_convertvector(words, Sums),
                   products = __builtin_convertvector(words >> 32, Sums),
                   right_squares =
                       static_cast<std::uint32_t>(against.squares) - (products + products) + squares;
        const LaneInts left = places + (against.left + static_cast<std::int32_t>(i));
        const LaneFloats l = __builtin_convertvector(left, LaneFloats),
                         r = __builtin_convertvector(against.n - left, LaneFloats);
        const LaneFloats top = __builtin_convertvector(squares, LaneFloats) * r +
                               __builtin_convertvector(right_squares, LaneFloats) * l;
        const unsigned inside = cuts - i < lane_width ? (1u << (cuts - i)) - 1 : 0xffff;
        const unsigned hits = lane_bits(top >= against.bar * (l * r)) & inside;
        hit[i / lane_width] = static_cast<std::uint16_t>(hits);
        any |= hits;
    }
    return any != 0;
}

/// What the lanes have in a cell.
inline LaneInts lanes_in(const LaneCells &cells, std::size_t cell) {
    LaneInts own;
    __builtin_memcpy(&own, cells.own + cell * cells.columns, sizeof(own));
    return static_cast<std::int32_t>(cells.whole[cell * cells.columns]) - own;
}

std::uint32_t lane_values(const LaneCells &cells, std::uint32_t begin, std::uint32_t n_values,
                          LaneClass *by_class, LaneCuts &cuts) {
    LaneRun run(cuts);
    std::uint32_t v = begin;
    while (v < n_values) {
        bool some = false;
        for (std::uint32_t k = 0; k < cells.n_classes; ++k) {
            const std::size_t cell = std::size_t{v} * cells.width + k;
            const LaneInts in = lanes_in(cells, cell) & cuts.seated;
            if (!any_lane(in)) continue;
            some = true;
            LaneClass &of_class = by_class[k];
            run.squares += in * (of_class.step + in);
            run.products += in * of_class.all;
            of_class.step += in + in;
            run.left += in;
        }
        ++v;
        LaneFloats top, sides;
        if (some && run.quiet(top, sides) == 0 && run.look(v - 1, top, sides, cuts)) break;
    }
    run.pause(cuts);
    return v;
}

void take_off(std::uint32_t *counts, const std::uint16_t *cell, std::size_t n, std::size_t columns,
              const std::uint32_t *less) {
    for (std::size_t c = 0; c < columns; c += lane_width) {
        LaneInts by;
        __builtin_memcpy(&by, less + c, sizeof(by));
        for (std::size_t i = 0; i < n; ++i) {
            std::uint32_t *at = counts + cell[i] * columns + c;
            LaneInts left;
            __builtin_memcpy(&left, at, sizeof(left));
            left -= by;
            __builtin_memcpy(at, &left, sizeof(left));
        }
    }
}

void lane_contents(const LaneCells &cells, std::uint32_t n_values, LaneFloats &sum) {
    sum = LaneFloats{};
    for (std::uint32_t v = 0; v < n_values; ++v) {
        LaneInts rows{}, squares{};
        for (std::uint32_t k = 0; k < cells.n_classes; ++k) {
            const LaneInts in = lanes_in(cells, std::size_t{v} * cells.width + k);
            rows += in;
            squares += in * in;
        }
        const LaneInts some = rows > 0;
        rows = choose_lanes(some, rows, LaneInts{} + 1);
        sum += __builtin_convertvector(squares, LaneFloats) / __builtin_convertvector(rows, LaneFloats);
    }
}
