// The many-class cuts of a list for all lanes in one pass. Included inside the namespace of an instruction
// set, as kernels_body.hpp is, behind any_lane().

/// Where a lane's score is within this share of its best, single precision does not tell which is better: 11
/// roundings.
constexpr float lane_doubt = 1e-6f;

inline LaneInts choose_lanes(LaneInts which, LaneInts a, LaneInts b) { return (which & a) | (~which & b); }
inline LaneFloats choose_lanes(LaneInts which, LaneFloats a, LaneFloats b) {
    return (LaneFloats)choose_lanes(which, (LaneInts)a, (LaneInts)b);
}

std::uint32_t lane_classes(const std::uint32_t *list, std::uint32_t begin, std::uint32_t n,
                           const std::uint8_t *pattern, const LanePattern *patterns,
                           const std::uint16_t *classes, LaneClass *by_class, LaneCuts &cuts) {
    LaneInts squares = cuts.squares, products = cuts.products, left = cuts.left;
    LaneFloats best_top = cuts.best_top, best_sides = cuts.best_sides;
    const LaneInts whole = cuts.whole, all_squares = cuts.all_squares;
    const LaneInts min_left = cuts.min_left, most_left = cuts.most_left;
    std::uint32_t i = begin;
    while (i + 1 < n) {
        const std::uint32_t e = list[i], id = (e & Packed<std::uint32_t>::low) >> 1;
        const LaneInts counts = patterns[pattern[id]].in;
        LaneClass &of_class = by_class[classes[id]];
        squares += counts & of_class.step;
        products += counts & of_class.all;
        of_class.step -= counts + counts;
        left -= counts;
        ++i;
        if ((e >> 16) == (list[i] >> 16)) continue;
        const LaneInts right_squares = all_squares - (products + products) + squares;
        const LaneFloats l = __builtin_convertvector(left, LaneFloats),
                         r = __builtin_convertvector(whole - left, LaneFloats);
        const LaneFloats top = __builtin_convertvector(squares, LaneFloats) * r +
                               __builtin_convertvector(right_squares, LaneFloats) * l,
                         sides = l * r;
        const LaneFloats here = top * best_sides, best = best_top * sides;
        const LaneInts reaches = (here > best * (1.0f - lane_doubt)) & (left >= min_left) &
                                 (left <= most_left) & (left != cuts.best_left);
        if (!any_lane(reaches)) continue;
        const LaneInts better = reaches & (here > best * (1.0f + lane_doubt));
        best_top = choose_lanes(better, top, best_top);
        best_sides = choose_lanes(better, sides, best_sides);
        cuts.best_left = choose_lanes(better, left, cuts.best_left);
        cuts.best_squares = choose_lanes(better, squares, cuts.best_squares);
        cuts.best_products = choose_lanes(better, products, cuts.best_products);
        cuts.best_at = choose_lanes(better, LaneInts{} + static_cast<std::int32_t>(i - 1), cuts.best_at);
        const LaneInts doubt = reaches & ~better;
        if (!any_lane(doubt)) continue;
        cuts.doubt = doubt;
        cuts.top = top;
        cuts.sides = sides;
        break;
    }
    cuts.squares = squares, cuts.products = products, cuts.left = left;
    cuts.best_top = best_top, cuts.best_sides = best_sides;
    return i;
}
