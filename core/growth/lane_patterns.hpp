// The rows of a node by the lanes in which they count: what scans of all lanes look up for each entry.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "growth/pending.hpp"

namespace hornbeam {

/// For at most lane_width lanes. Folds give as many patterns as there are lanes, and one; near thresholds add
/// a few, and repeats multiply.
template <class E> class LanePatterns {
  public:
    /// False where the rows have more patterns than a byte can tell.
    template <class Stats>
    bool open(const Frame<E> &frame, std::span<const E> rows, std::span<const Lane<Stats>> lanes) {
        if (of_id_.size() < frame.capacity) of_id_.resize(frame.capacity);
        SetMask sets = 0;
        for (const Lane<Stats> &lane : lanes) sets |= SetMask{1} << lane.set;
        masks_.clear();
        places_.fill(none);
        for (E row : rows) {
            const std::uint32_t id = Packed<E>::id(row);
            const std::uint8_t number = number_of(frame.sets.of(id) & sets);
            if (number == none) return false;
            of_id_[id] = number;
        }
        write_steps(lanes);
        return true;
    }

    const std::uint8_t *of_id() const { return of_id_.data(); }
    /// By pattern and class: what an entry adds to the rows of each lane, and to their ones.
    const std::uint8_t *steps() const { return steps_.data(); }
    const LanePattern *in() const { return in_.data(); }
    std::size_t size() const { return masks_.size(); }
    bool counts(std::uint32_t id, std::size_t lane) const { return in_[of_id_[id]].in[lane] != 0; }

    /// The cut between the lane's own entries.
    Cut own_ends(std::span<const E> list, std::size_t lane, Cut cut) const {
        cut.next = cut.at + 1;
        while (!counts(Packed<E>::id(list[cut.at]), lane)) --cut.at;
        while (!counts(Packed<E>::id(list[cut.next]), lane)) ++cut.next;
        return cut;
    }

  private:
    static constexpr std::uint8_t none = 255;
    std::vector<std::uint8_t> of_id_;
    std::vector<SetMask> masks_;           // of each pattern
    std::array<std::uint8_t, 512> places_; // numbers of patterns, by the hash of their masks
    std::vector<LanePattern> in_;
    std::vector<std::uint8_t> steps_;

    /// The number of a pattern, a new one where it was not seen before; `none` where there are too many.
    std::uint8_t number_of(SetMask mask) {
        std::size_t place = (mask * 0x9E3779B97F4A7C15u) >> 55;
        for (; places_[place] != none; place = (place + 1) % places_.size())
            if (masks_[places_[place]] == mask) return places_[place];
        if (masks_.size() == none) return none;
        places_[place] = static_cast<std::uint8_t>(masks_.size());
        masks_.push_back(mask);
        return places_[place];
    }
    template <class Stats> void write_steps(std::span<const Lane<Stats>> lanes) {
        steps_.assign(masks_.size() * lane_steps, 0);
        in_.assign(masks_.size(), LanePattern{});
        for (std::size_t p = 0; p < masks_.size(); ++p)
            for (std::size_t i = 0; i < lanes.size(); ++i) {
                const auto in = static_cast<std::uint8_t>(masks_[p] >> lanes[i].set & 1);
                std::uint8_t *step = steps_.data() + p * lane_steps + i;
                step[0] = step[2 * lane_width] = step[3 * lane_width] = in;
                in_[p].in[i] = -in;
            }
    }
};

} // namespace hornbeam
