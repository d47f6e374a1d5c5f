// The many-class cuts of a list for all lanes in one pass. Included inside the namespace of an instruction
// set, as kernels_body.hpp is, behind any_lane().

/// Where a lane's score is within this share of its best, single precision does not tell which is better: 11
/// roundings.
constexpr float lane_doubt = 1e-6f;

inline LaneInts choose_lanes(LaneInts which, LaneInts a, LaneInts b) { return (which & a) | (~which & b); }
inline LaneFloats choose_lanes(LaneInts which, LaneFloats a, LaneFloats b) {
    return (LaneFloats)choose_lanes(which, (LaneInts)a, (LaneInts)b);
}

/// A scan in registers.
struct LaneRun {
    LaneInts squares, products, left;
    LaneFloats best_top, best_sides;
    const LaneInts whole, all_squares, min_left, most_left;

    explicit LaneRun(const LaneCuts &cuts)
        : squares(cuts.squares), products(cuts.products), left(cuts.left), best_top(cuts.best_top),
          best_sides(cuts.best_sides), whole(cuts.whole), all_squares(cuts.all_squares),
          min_left(cuts.min_left), most_left(cuts.most_left) {}

    /// Holds the cut `at` against the best of each lane; true where some lane is in doubt.
    bool look(std::uint32_t at, LaneCuts &cuts) {
        const LaneInts right_squares = all_squares - (products + products) + squares;
        const LaneFloats l = __builtin_convertvector(left, LaneFloats),
                         r = __builtin_convertvector(whole - left, LaneFloats);
        const LaneFloats top = __builtin_convertvector(squares, LaneFloats) * r +
                               __builtin_convertvector(right_squares, LaneFloats) * l,
                         sides = l * r;
        const LaneFloats here = top * best_sides, best = best_top * sides;
        const LaneInts reaches = (here > best * (1.0f - lane_doubt)) & (left >= min_left) &
                                 (left <= most_left) & (left != cuts.best_left);
        if (!any_lane(reaches)) return false;
        const LaneInts better = reaches & (here > best * (1.0f + lane_doubt));
        best_top = choose_lanes(better, top, best_top);
        best_sides = choose_lanes(better, sides, best_sides);
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

std::uint32_t lane_classes(const std::uint32_t *list, std::uint32_t begin, std::uint32_t n,
                           const std::uint8_t *pattern, const LanePattern *patterns,
                           const std::uint16_t *classes, LaneClass *by_class, LaneCuts &cuts) {
    LaneRun run(cuts);
    std::uint32_t i = begin;
    while (i + 1 < n) {
        const std::uint32_t e = list[i], id = (e & Packed<std::uint32_t>::low) >> 1;
        const LaneInts counts = patterns[pattern[id]].in;
        LaneClass &of_class = by_class[classes[id]];
        run.squares += counts & of_class.step;
        run.products += counts & of_class.all;
        of_class.step -= counts + counts;
        run.left -= counts;
        ++i;
        if ((e >> 16) == (list[i] >> 16)) continue;
        if (run.look(i - 1, cuts)) break;
    }
    run.pause(cuts);
    return i;
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
        if (some && run.look(v - 1, cuts)) break;
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
