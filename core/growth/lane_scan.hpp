// Gini cuts of a two-class list for all lanes of a node in one pass: counts and bounds of every lane block by
// block, then the few blocks that may hold a lane's best cut entry by entry.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "choice/scan.hpp"
#include "growth/joint_sweep.hpp"
#include "growth/lane_patterns.hpp"

namespace hornbeam {

/// The best cut of each lane in one list after the other.
template <class E> class LaneScan {
  public:
    LaneScan(const LanePatterns<E> &patterns, std::span<const LaneFloor> lanes, const Kernels &kernels)
        : patterns_(patterns), lanes_(lanes), kernels_(kernels) {
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            totals_.n[i] = as_double(lanes[i].n);
            totals_.ones[i] = as_double(lanes[i].ones);
            totals_.min_left[i] = as_double(lanes[i].least.left);
            totals_.min_right[i] = as_double(lanes[i].least.right);
        }
        for (std::size_t i = lanes.size(); i < lane_width; ++i) totals_.min_left[i] = 1.0; // never reached
    }

    /// `blocks` is room that is used again.
    void cuts(std::span<const E> list, std::vector<LaneBlock> &blocks, std::span<Cut> cuts) {
        const auto size = static_cast<std::uint32_t>(list.size());
        blocks.resize(size / lane_block<E> + 2);
        aim();
        std::uint32_t found;
        if constexpr (sizeof(E) == 4)
            found = kernels_.lane_blocks_narrow(list.data(), size, patterns_.of_id(), patterns_.steps(),
                                                totals_, reach_, blocks.data());
        else
            found = kernels_.lane_blocks_wide(list.data(), size, patterns_.of_id(), patterns_.steps(),
                                              totals_, reach_, blocks.data());
        for (std::uint32_t b = 0; b < found; ++b)
            if (promising(blocks[b])) look_into(list, blocks[b]);
        for (std::size_t i = 0; i < lanes_.size(); ++i) {
            Cut &best = sweeps_[i].best;
            cuts[i] = best.quality == lanes_[i].floor ? Cut{} : patterns_.own_ends(list, i, best);
        }
    }

  private:
    static constexpr double single = 1e-6; // a few roundings to single precision
    const LanePatterns<E> &patterns_;
    std::span<const LaneFloor> lanes_;
    const Kernels &kernels_;
    LaneTotals totals_{};
    std::vector<TwoClassSweep> sweeps_;
    float reach_[lane_width];

    void aim() {
        sweeps_.clear();
        std::fill(std::begin(reach_), std::end(reach_), std::numeric_limits<float>::max());
        for (std::size_t i = 0; i < lanes_.size(); ++i) {
            const LaneFloor &lane = lanes_[i];
            TwoClassSweep &sweep = sweeps_.emplace_back(lane.n, lane.ones, lane.squares, lane.floor);
            totals_.margin[i] = static_cast<float>((negligible_gain + gain_slack) * sweep.half_nn() * 1.001);
            reach_[i] = to_reach(sweep);
        }
    }
    static float to_reach(const TwoClassSweep &sweep) {
        return static_cast<float>(sweep.reach * (1.0 - 2.0 * single));
    }

    bool promising(const LaneBlock &block) const {
        for (std::size_t i = 0; i < lanes_.size(); ++i)
            if (block.bound[i] >= reach_[i]) return true;
        return false;
    }

    void look_into(std::span<const E> list, const LaneBlock &before) {
        const auto last = static_cast<std::uint32_t>(list.size()) - 1; // there is no cut behind it
        const std::uint32_t begin = before.begin;
        const std::uint32_t n = std::min(lane_block<E>, last - std::min(begin, last));
        LaneSeen seen[lane_block<E>];
        std::int32_t hit[lane_block<E>];
        bool any = false;
        if constexpr (sizeof(E) == 4)
            any = kernels_.lane_hits_narrow(list.data() + begin, n, patterns_.of_id(), patterns_.steps(),
                                            totals_, before, reach_, seen, hit);
        else
            any = kernels_.lane_hits_wide(list.data() + begin, n, patterns_.of_id(), patterns_.steps(),
                                          totals_, before, reach_, seen, hit);
        if (!any) return;
        for (std::uint32_t i = 0; i < n; ++i)
            if (hit[i] != 0)
                for (std::size_t l = 0; l < lanes_.size(); ++l) {
                    const std::int64_t left = before.n[l] + seen[i].n[l];
                    if (!lanes_[l].least.admits(left, lanes_[l].n - left)) continue;
                    const double best = sweeps_[l].best.quality;
                    sweeps_[l].look(begin + i, left, before.ones[l] + seen[i].ones[l]);
                    if (sweeps_[l].best.quality != best)
                        reach_[l] = std::max(reach_[l], to_reach(sweeps_[l]));
                }
    }
};

} // namespace hornbeam
