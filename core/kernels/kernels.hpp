// The few loops that touch every entry, in one version per instruction set; all give equal results.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/information.hpp"

namespace hornbeam {

/// Working entry of a node's list: rank in the upper half, then the grower's id, then one class bit.
template <class E> struct Packed {
    static constexpr int rank_shift = static_cast<int>(sizeof(E)) * 4;
    static constexpr E low = (E{1} << rank_shift) - 1;
    static constexpr E make(std::uint64_t rank, std::uint64_t id, unsigned bit) {
        return static_cast<E>((static_cast<E>(rank) << rank_shift) | static_cast<E>(id << 1) | bit);
    }
    static constexpr std::uint32_t rank(E e) { return static_cast<std::uint32_t>(e >> rank_shift); }
    static constexpr std::uint32_t id(E e) { return static_cast<std::uint32_t>((e & low) >> 1); }
    static constexpr unsigned bit(E e) { return static_cast<unsigned>(e & 1); }
};

/// Ids of a narrow frame fit 15 bits: its entries have 4 bytes, and its squares of counts fit 32 bits.
inline constexpr std::size_t narrow_rows = 32768;

/// The flag of an example that goes to both children, and how many entries each of them gets.
inline constexpr std::uint8_t both_ways = 2;
struct Dealt {
    std::uint32_t left = 0, right = 0;
};

/// Two-class counts a scan starts from and works against.
struct TwoClass {
    std::int64_t n = 0, ones = 0;             // of the node
    std::int64_t start_n = 0, start_ones = 0; // already on the left (missing rows, where they go left)
    std::int64_t min_left = 1, min_right = 1; // rows that a cut must leave
};

/// Block b of a scan covers entries [b * scan_block, ...): its best score, and the ones before it.
inline constexpr std::uint32_t scan_block = 256;
struct BlockPeak {
    float score;        // 0 where no cut of the block is admissible
    std::uint32_t ones; // in the list before the block
};

/// A stretch of the cuts of a two-class list: which entries are ones, and which cuts may be the best.
inline constexpr std::uint32_t stretch_cuts = 64;
struct Stretch {
    std::uint32_t begin = 0, next = 0;     // its first cut, and where to go on
    std::uint32_t ones = 0, next_ones = 0; // in the list before them
    std::uint64_t is_one = 0, is_hit = 0;
};
/// Scores that tell a cut from the best: it must reach `reach`, and nearly the best of its own stretch, whose
/// score is above its own by `margin` where that decides.
struct ScoreBar {
    float reach = 0.0f, margin = 0.0f;
};
/// Two scores of which one is that much lower are told apart in single precision.
inline constexpr float single_doubt = 2e-6f;

/// What the cuts of a block of a many-class list are held against: the sum over both sides of the sum of
/// squared class counts over their rows has to reach `bar`, in single precision.
struct ClassCuts {
    std::int32_t n = 0, squares = 0; // of the node
    std::int32_t left = 0;           // rows on the left after the first entry of the block
    float bar = 0;
};

/// A numeric attribute's counts up to and including one of its values, over the classes: sum of l_k^2 and sum
/// of l_k c_k (l on the left, c in the node); and the rows of the value itself.
inline constexpr std::uint32_t class_step = 8;
struct ValueSums {
    std::int64_t squares, products;
    std::uint32_t rows;
};

/// Several training sets at once: what the node of each lane holds, and what a cut must leave there.
struct LaneTotals {
    double n[lane_width], ones[lane_width];
    double min_left[lane_width], min_right[lane_width];
    float margin[lane_width]; // a score lower by that much is of another gain
};
/// Of each lane before a block of a two-class list: its rows and their ones; and a score that no cut in the
/// block exceeds. Counts of a block fit a byte.
template <class E> inline constexpr std::uint32_t lane_block = sizeof(E) == 4 ? 64 : 128; // entries
struct LaneBlock {
    std::uint32_t begin;
    std::int32_t n[lane_width], ones[lane_width];
    float bound[lane_width];
};
/// Scores of blocks are off by less than this share of them.
inline constexpr float nearly = 1.3e-4f;

struct LaneSeen {
    std::uint8_t n[lane_width], ones[lane_width];
};

/// One class in a scan of all lanes: what its next entry adds to the sum of l_k^2 (that of a list; twice l_k
/// where values are counted), and to that of l_k c_k (l on the left, c in the node), which are the `squares`
/// and `products` of each lane.
struct alignas(64) LaneClass {
    LaneInts step, all;
};
/// The scan itself, which pauses where some lane's cut is too near its best for single precision (`doubt`,
/// `top`, `sides`). A score is top / sides: sum of l_k^2 n_R + sum of r_k^2 n_L over n_L n_R. No best cut in
/// this list: best_at is -1.
struct alignas(64) LaneCuts {
    LaneInts squares, products, left;
    LaneInts whole, all_squares, min_left, most_left;
    LaneInts seated; // the lanes that are there
    LaneFloats best_top, best_sides;
    LaneInts best_at, best_left, best_squares, best_products;
    LaneInts doubt;
    LaneFloats top, sides;
};

struct Kernels {
    const char *name;
    /// Stable: entries with flag 0 move to the front in place, the others to `right` (room for n + 16);
    /// returns how many stayed. `flag` is indexed by id and readable 4 bytes past its end.
    std::uint32_t (*part_narrow)(std::uint32_t *list, std::uint32_t n, const std::uint8_t *flag,
                                 std::uint32_t *right);
    std::uint32_t (*part_wide)(std::uint64_t *list, std::uint32_t n, const std::uint8_t *flag,
                               std::uint64_t *right);
    /// Copies the entries with flag 0, in order, to `to` (room for n + 16), which may be the list itself;
    /// returns how many.
    std::uint32_t (*keep_narrow)(const std::uint32_t *list, std::uint32_t n, const std::uint8_t *flag,
                                 std::uint32_t *to);
    std::uint32_t (*keep_wide)(const std::uint64_t *list, std::uint32_t n, const std::uint8_t *flag,
                               std::uint64_t *to);
    /// As part, but entries with flag `both_ways` stay and are copied to `right` as well, where they have the
    /// ids of their guests.
    Dealt (*deal_narrow)(std::uint32_t *list, std::uint32_t n, const std::uint8_t *flag,
                         const std::uint32_t *guest, std::uint32_t *right);
    Dealt (*deal_wide)(std::uint64_t *list, std::uint32_t n, const std::uint8_t *flag,
                       const std::uint32_t *guest, std::uint64_t *right);
    /// Per block of the n - 1 cuts of the list, the largest D^2 / (n_L n_R), D = n ones_L - n_L ones, in
    /// single precision.
    void (*peaks_narrow)(const std::uint32_t *list, std::uint32_t n, const TwoClass &counts,
                         BlockPeak *peaks);
    void (*peaks_wide)(const std::uint64_t *list, std::uint32_t n, const TwoClass &counts, BlockPeak *peaks);
    /// Goes on to the next stretch of cuts before `end` with a hit, all of them admissible by their sides;
    /// false where there is none.
    bool (*hits_narrow)(const std::uint32_t *list, std::uint32_t end, const TwoClass &counts,
                        const ScoreBar &bar, Stretch &stretch);
    bool (*hits_wide)(const std::uint64_t *list, std::uint32_t end, const TwoClass &counts,
                      const ScoreBar &bar, Stretch &stretch);
    /// Which of at most scan_block cuts of a narrow list reach the bar: bit i % lane_width of
    /// hit[i / lane_width]. `running` has sum of l_k^2 and sum of l_k c_k (l on the left, c in the node)
    /// after each entry in the halves of a word, and room for whole vectors of them. Returns whether any
    /// does.
    bool (*class_hits)(const std::uint64_t *running, std::uint32_t cuts, const ClassCuts &against,
                       std::uint16_t *hit);
    /// The sums after each value of an AVC-set whose rows have `width` counts, a multiple of class_step;
    /// `left` holds what is on the left before, and is used up. `small`: the node has at most 2^16 - 1 rows.
    void (*value_sums)(const std::uint32_t *counts, std::uint32_t n_values, std::uint32_t width,
                       const std::uint32_t *node, std::uint32_t *left, bool small, ValueSums *sums);
    /// The blocks of a list of n entries that may hold a lane's best cut (room for one more than there are);
    /// returns how many. `reach` is the score that each lane's cuts have to reach, and rises with those at
    /// the ends of blocks (D^2 / (n_L n_R), as for peaks). An entry's pattern is that of its id; `steps` has
    /// for each pattern and class what an entry adds to the rows and to the ones of every lane.
    std::uint32_t (*lane_blocks_narrow)(const std::uint32_t *list, std::uint32_t n,
                                        const std::uint8_t *pattern, const std::uint8_t *steps,
                                        const LaneTotals &totals, float *reach, LaneBlock *blocks);
    std::uint32_t (*lane_blocks_wide)(const std::uint64_t *list, std::uint32_t n, const std::uint8_t *pattern,
                                      const std::uint8_t *steps, const LaneTotals &totals, float *reach,
                                      LaneBlock *blocks);
    /// Of the `n` entries of a block: seen[i] is what entries up to i add; hit[i] is not 0 where the cut
    /// after entry i is admissible for some lane whose score there may come up to its `reach`. Returns
    /// whether any is. The entry behind the block is read.
    bool (*lane_hits_narrow)(const std::uint32_t *list, std::uint32_t n, const std::uint8_t *pattern,
                             const std::uint8_t *steps, const LaneTotals &totals, const LaneBlock &before,
                             const float *reach, LaneSeen *seen, std::int32_t *hit);
    bool (*lane_hits_wide)(const std::uint64_t *list, std::uint32_t n, const std::uint8_t *pattern,
                           const std::uint8_t *steps, const LaneTotals &totals, const LaneBlock &before,
                           const float *reach, LaneSeen *seen, std::int32_t *hit);
    /// Goes on with the cuts of a narrow many-class list from entry `begin`; returns the entry to go on with
    /// once the doubts are settled, n - 1 at the end. No cut before entry `first` is admissible.
    std::uint32_t (*lane_classes)(const std::uint32_t *list, std::uint32_t begin, std::uint32_t first,
                                  std::uint32_t n, const std::uint8_t *pattern, const LanePattern *patterns,
                                  const std::uint16_t *classes, LaneClass *by_class, LaneCuts &cuts);
    /// The same over the values [begin, n_values) of a counted attribute; returns the value to go on from.
    std::uint32_t (*lane_values)(const LaneCells &cells, std::uint32_t begin, std::uint32_t n_values,
                                 LaneClass *by_class, LaneCuts &cuts);
    /// Of each lane, the sum over n_values of (sum of squares of the class counts) / rows.
    void (*lane_contents)(const LaneCells &cells, std::uint32_t n_values, LaneFloats &sum);
    /// Takes `less`, a number for each of the `columns` (whole vectors of them), off n cells of counts.
    void (*take_off)(std::uint32_t *counts, const std::uint16_t *cell, std::size_t n, std::size_t columns,
                     const std::uint32_t *less);
    /// out[i] = a[i] log2 a[i] + b[i] log2 b[i] for 0 <= a, b <= 2, off by at most 2^-42; numbers that should
    /// be 0 may be a little below.
    void (*contents)(const double *a, const double *b, std::uint32_t n, double *out);
    InformationKernels information;
};

/// "plain", "avx2", "avx512"; null where this machine or this build lacks it. "auto" is the best there is.
const Kernels *kernels_named(std::string_view name);
std::vector<std::string_view> kernels_available();

} // namespace hornbeam
