// The few loops that touch every entry, in one version per instruction set; all give equal results.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

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

/// What the cuts of a block of a many-class list are held against: n^2 s - 2 n l x + l^2 S (s and x in the
/// halves of a running word, l rows on the left) has to reach `reach` times l (n - l), up to `slack`.
struct ClassCuts {
    double n = 0, squares = 0;
    double left = 0; // rows on the left after the first entry of the block
    double min_left = 1, min_right = 1;
    double reach = 0, slack = 0;
};

/// A numeric attribute's counts up to and including one of its values, over the classes: sum of l_k^2 and sum
/// of l_k c_k (l on the left, c in the node); and the rows of the value itself.
inline constexpr std::uint32_t class_step = 8;
struct ValueSums {
    std::int64_t squares, products;
    std::uint32_t rows;
};

struct Kernels {
    const char *name;
    /// Stable: entries with flag 0 move to the front in place, the others to `right` (room for n + 16);
    /// returns how many stayed. `flag` is indexed by id and readable 4 bytes past its end.
    std::uint32_t (*part_narrow)(std::uint32_t *list, std::uint32_t n, const std::uint8_t *flag,
                                 std::uint32_t *right);
    std::uint32_t (*part_wide)(std::uint64_t *list, std::uint32_t n, const std::uint8_t *flag,
                               std::uint64_t *right);
    /// Per block of the n - 1 cuts of the list, the largest D^2 / (n_L n_R), D = n ones_L - n_L ones, in
    /// single precision.
    void (*peaks_narrow)(const std::uint32_t *list, std::uint32_t n, const TwoClass &counts,
                         BlockPeak *peaks);
    void (*peaks_wide)(const std::uint64_t *list, std::uint32_t n, const TwoClass &counts, BlockPeak *peaks);
    /// Which of at most scan_block cuts of a narrow list are worth a look: hit[i] is not 0. Returns whether
    /// any is.
    bool (*class_hits)(const std::uint32_t *list, const std::uint64_t *running, std::uint32_t cuts,
                       const ClassCuts &against, std::int64_t *hit);
    /// The sums after each value of an AVC-set whose rows have `width` counts, a multiple of class_step;
    /// `left` holds what is on the left before, and is used up. `small`: the node has at most 2^16 - 1 rows.
    void (*value_sums)(const std::uint32_t *counts, std::uint32_t n_values, std::uint32_t width,
                       const std::uint32_t *node, std::uint32_t *left, bool small, ValueSums *sums);
    /// out[i] = a[i] log2 a[i] + b[i] log2 b[i] for 0 <= a, b <= 2, off by at most 2^-42; numbers that should
    /// be 0 may be a little below.
    void (*contents)(const double *a, const double *b, std::uint32_t n, double *out);
};

/// "plain", "avx2", "avx512"; null where this machine or this build lacks it. "auto" is the best there is.
const Kernels *kernels_named(std::string_view name);
std::vector<std::string_view> kernels_available();

} // namespace hornbeam
