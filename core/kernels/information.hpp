// Cuts of a list by information, for all lanes of a vector in one pass: what the kernels read and write.
//
// A score is -(content of the left side + content of the right side) in whole units of FixedXlog: with
// phi_k(l) = xlog(l) + xlog(c_k - l) of class k and phi(l) = xlog(l) + xlog(n - l) of the node, it is the sum
// of phi_k(l_k) less phi(n_L). Its 2K + 2 terms are each off by half a unit, so a score is off by K + 1 units
// at most, however many entries were added one after the other: whole numbers telescope. The double that the
// literal expression gives is off by much less than one unit more.
//
// Between two points of a list phi_k lies below its chord, for it is convex, and -phi lies below its tangent
// anywhere. What is left is linear in the entries that moved to the left. Along the list itself it bounds
// every score (the walk of a block), and over all orders of the block's entries it is largest where each
// class has either none or all of its entries on the left (the bound of a block).
#pragma once

#include <cstddef>
#include <cstdint>

namespace hornbeam {

/// Lanes of one vector, and a number of each.
inline constexpr std::size_t lane_width = 16;
typedef std::int32_t LaneInts __attribute__((vector_size(4 * lane_width), aligned(64)));
typedef float LaneFloats __attribute__((vector_size(4 * lane_width), aligned(64)));
/// The same where it is an element of a container: those forget the alignment of a bare vector.
struct alignas(64) LaneRow {
    LaneInts of;
};

/// The lanes that count the rows of one pattern: all bits of theirs are set.
struct alignas(64) LanePattern {
    LaneInts in;
};

/// A sorted list of rows that the lanes of one vector share. An entry's pattern is that of its id; `steps`
/// begins for each pattern with what an entry adds to the rows of every lane, a byte each.
template <class E> struct LaneList {
    const E *entries = nullptr;
    std::uint32_t n = 0;
    const std::uint8_t *pattern = nullptr;
    const LanePattern *in = nullptr;
    const std::uint8_t *steps = nullptr;
    const std::uint16_t *classes = nullptr; // by id; not read where there are two: entries tell
    std::uint32_t n_classes = 0;
};
inline constexpr std::size_t lane_steps = 4 * lane_width; // bytes of a pattern

/// What several lanes count by value, a row of columns for each cell: a lane has the whole less its own
/// column. `sparse`: where the whole is 0, so is every lane.
struct LaneCells {
    const std::uint32_t *own = nullptr, *whole = nullptr; // of the first cell
    std::size_t columns = 0;
    std::uint32_t width = 0, n_classes = 0; // cells of a value, those in use
};
/// Scores outside of what lists give. A block changes a bound by less than 2^25.
inline constexpr std::int32_t never_reached = 1 << 28, always_reached = -(1 << 30) + 1,
                              not_admitted = -(1 << 30);

/// What all lanes ask of a cut. By `ratio` a score is held against the quality that its own split asks for.
struct alignas(64) InformationBar {
    LaneInts least, most;   // rows that a cut may have on the left
    LaneInts reach;         // score of a cut that may be the best; `never_reached` where nobody sits
    LaneFloats quality;     // by ratio, of a cut that may be the best
    LaneInts content;       // by ratio, of the node
    LaneInts whole_log;     // by ratio, xlog of the node's rows
    std::int32_t doubt = 0; // K + 1: how far a score may be off
    bool ratio = false;
};

/// A block of entries: what bounds the scores in it.
struct alignas(64) InformationBlock {
    LaneInts bound; // of all cuts in it
    LaneInts rise;  // of the score, where the walk begins
    LaneInts slope; // of phi in its middle
    LaneInts split; // by ratio, the least information of a split in it
};
inline constexpr std::uint32_t most_block_entries = 128; // counts of a block fit a byte
inline constexpr std::uint32_t most_block_classes = 64;

/// The scan of one list block by block; arrays have a vector for each class, and those of blocks one set of
/// them for each block and one behind the last.
struct InformationBlocks {
    const std::int32_t *xlog = nullptr, *rises = nullptr; // of FixedXlog
    const LaneRow *all = nullptr;                         // rows of each class in the node
    LaneInts whole;                                       // rows of the node
    std::uint32_t size = 64;                              // entries of a block
    InformationBlock *blocks = nullptr;
    LaneRow *left = nullptr;  // rows of each class before a block
    LaneRow *phi = nullptr;   // of each class before a block
    LaneRow *steps = nullptr; // of each class: room for the walk
};

/// The scan of one short list entry by entry, by tables of the node: what the next entry of a class changes,
/// by its rows on the left; and phi by the rows on the left.
struct InformationEntries {
    const std::int32_t *steps = nullptr, *phi = nullptr;
    LaneInts phi_at;          // where the lane's phi begins
    LaneInts left;            // rows before the next entry
    LaneInts sum;             // of phi_k before the next entry
    LaneRow *at = nullptr;    // of each class: where its next step is
    LaneRow *begin = nullptr; // of each class: the same before the entries that were looked at last
};

/// The scan of the values of a counted attribute; a lane sits where the column of its set lies.
struct InformationValues {
    LaneCells cells;
    std::uint32_t n_values = 0;
    const std::int32_t *xlog = nullptr;
    const LaneRow *all = nullptr; // rows of each class in the node
    LaneInts whole, seated;       // rows of the node; the lanes that are there
    LaneInts left, sum;           // rows before the next value, and the sum of phi_k there
    LaneRow *now = nullptr;       // of each class: its rows before the next value
    LaneRow *phi = nullptr;       // of each class, there
    LaneRow *begin = nullptr;     // of each class: its rows before the values that were looked at last
    LaneInts cuts;                // how many admissible ones there were
};

/// Consecutive entries or values behind which cuts may be the best of some lanes.
inline constexpr std::uint32_t most_hit_entries = 256;
struct InformationHits {
    std::uint32_t begin = 0, end = 0;
    std::uint16_t lanes[most_hit_entries]; // behind each entry
};

/// Consecutive cuts of one lane, all lanes of a bar being that lane: bit i % lane_width of hit i / lane_width
/// is cut i. Whole vectors are read of all arrays.
struct InformationRun {
    const std::int32_t *sums = nullptr; // of phi_k, behind each entry
    const std::int32_t *cut = nullptr;  // -1 behind an entry with which its value ends, else 0
    const std::int32_t *phi = nullptr;  // of the node, behind each entry
    std::uint32_t n = 0;                // at most most_run_cuts
};
/// The same of two classes, in the list itself: phi of each class and of the node by what is on the left,
/// from what is there before the first entry. All are moved past the entries that were looked at.
template <class E> struct TwoClassRun {
    const E *entries = nullptr; // one more is read
    const std::int32_t *zeros = nullptr, *ones = nullptr, *rows = nullptr;
};
inline constexpr std::uint32_t most_run_cuts = 256;

struct InformationKernels {
    /// Bounds all blocks of a list, whose rows on the left before it are `blocks.left`; raises the bar by the
    /// cuts at the ends of blocks.
    void (*bound_narrow)(const LaneList<std::uint32_t> &list, const InformationBlocks &blocks,
                         InformationBar &bar);
    void (*bound_wide)(const LaneList<std::uint64_t> &list, const InformationBlocks &blocks,
                       InformationBar &bar);
    /// The next block from `block` on that has hits, and raises the bar by them; the number of blocks where
    /// none has.
    std::uint32_t (*walk_narrow)(const LaneList<std::uint32_t> &list, const InformationBlocks &blocks,
                                 InformationBar &bar, std::uint32_t block, InformationHits &hits);
    std::uint32_t (*walk_wide)(const LaneList<std::uint64_t> &list, const InformationBlocks &blocks,
                               InformationBar &bar, std::uint32_t block, InformationHits &hits);
    /// Goes on behind `hits.end` to the next entries with hits, and raises the bar; false where there are
    /// none.
    bool (*entries_narrow)(const LaneList<std::uint32_t> &list, InformationEntries &entries,
                           InformationBar &bar, InformationHits &hits);
    bool (*entries_wide)(const LaneList<std::uint64_t> &list, InformationEntries &entries,
                         InformationBar &bar, InformationHits &hits);
    /// The same for the values of a counted attribute.
    bool (*values)(InformationValues &values, InformationBar &bar, InformationHits &hits);
    /// Of each lane, how many of its cuts leave enough rows. The entries of one value belong together.
    void (*count_narrow)(const LaneList<std::uint32_t> &list, const LaneInts &left, const InformationBar &bar,
                         LaneInts &cuts);
    void (*count_wide)(const LaneList<std::uint64_t> &list, const LaneInts &left, const InformationBar &bar,
                       LaneInts &cuts);
    /// Which cuts of a run reach the bar, which they raise; false where none does.
    bool (*run)(const InformationRun &run, InformationBar &bar, InformationHits &hits);
    bool (*two_class_run_narrow)(TwoClassRun<std::uint32_t> &run, std::uint32_t n, InformationBar &bar,
                                 InformationHits &hits);
    bool (*two_class_run_wide)(TwoClassRun<std::uint64_t> &run, std::uint32_t n, InformationBar &bar,
                               InformationHits &hits);
};

} // namespace hornbeam
