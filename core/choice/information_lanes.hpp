// The best cut by information of every lane of a vector, in one pass over the list that they share.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "choice/information_score.hpp"
#include "choice/test.hpp"
#include "criteria/sizes.hpp"
#include "kernels/kernels.hpp"

namespace hornbeam {

/// What a lane asks of the cuts of one list. `start` is already on the left: the missing rows, where they are
/// tried there. A cut has to beat `floor`.
struct InformationAsk {
    const ClassCounts *start = nullptr; // nothing
    std::int64_t known = 0;             // its rows in the list
    Least least;
    double floor = -1.0;
    bool wanted = true;
};

/// Whether one pass for several lanes takes less time than one scan for each, where the lanes count so many
/// entries in all.
bool worth_a_pass(std::size_t n, std::size_t n_classes, std::int64_t entries);
/// The entries of a block that suit a list, found by measuring; 0: it is better looked at entry by entry.
std::uint32_t suitable_block(std::uint32_t n, std::size_t n_classes);

/// Whole numbers tell which cuts may be the best; the literal gain decides among those, in order. The cuts
/// are those that plain_scan finds for each lane.
class InformationLanes {
  public:
    InformationLanes(const Entropy &entropy, InformationRule rule, const Kernels &kernels)
        : entropy_(entropy), fixed_(*entropy.fixed), rule_(rule), kernels_(kernels) {}

    /// Turns to at most lane_width lanes of a node: their rows, and what a gain is divided by. A place may be
    /// empty.
    void open(std::span<const ClassCounts *const> nodes, std::span<const double> wholes);
    /// The best cut of each lane that wants one, in blocks of `block` entries. `counted`: how many admissible
    /// cuts each lane has is counted as well.
    template <class E> void cuts(const LaneList<E> &list, std::span<const InformationAsk> asks,
                                 std::uint32_t block, bool counted, std::span<Cut> best);
    /// The same for the values of a counted attribute; a cut's ends are values.
    void cuts(const LaneCells &cells, std::uint32_t n_values, std::span<const InformationAsk> asks,
              std::span<Cut> best);

  private:
    struct Seat {
        InformationNode node; // not used where nobody sits
        Cut best;
        std::int64_t seen; // rows on the left of the cut that was scored last
    };
    const Entropy &entropy_;
    const FixedXlog &fixed_;
    InformationRule rule_;
    const Kernels &kernels_;

    std::vector<Seat> seats_;
    LaneInts whole_;
    std::vector<LaneRow> all_; // rows of each class in the node
    InformationBar bar_;
    InformationHits hits_;
    std::vector<LaneRow> left_; // rows of each class on the left, before the next entry that is looked at
    // Block by block.
    std::vector<InformationBlock> blocks_;
    std::vector<LaneRow> lefts_, phis_, chords_;
    // Entry by entry.
    bool has_tables_ = false;
    std::vector<std::int32_t> steps_, phi_;
    std::vector<LaneRow> step_begin_, at_, begin_;
    LaneInts phi_begin_;

    void aim(std::span<const InformationAsk> asks, std::size_t n_classes);
    void raise(std::size_t lane);
    void write_tables();
    template <class E> void scan_blocks(const LaneList<E> &list, std::uint32_t size);
    template <class E> void scan_entries(const LaneList<E> &list);
    template <class Move> void look_at_hits(Move move);
    void look(std::size_t lane, std::uint32_t at);
};

} // namespace hornbeam
