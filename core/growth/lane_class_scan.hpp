// Gini cuts for all lanes of a node in one pass, through many-class lists and through counted values: single
// precision tells most cuts apart, and the literal gain decides the others.
#pragma once

#include "growth/lane_scan.hpp"

namespace hornbeam {

/// The lanes of one vector: where each of them sits, what a cut must leave there, and its best cut so far.
class LaneSweep {
  public:
    /// No lanes yet; `floors` are kept by the caller, and rise.
    void open(std::size_t n_classes, std::span<const LaneFloor> floors) {
        floors_ = floors;
        seats_.clear();
        by_class_.assign(n_classes, LaneClass{});
        cuts_ = LaneCuts{};
        cuts_.min_left = LaneInts{} + 1; // never reached where nobody sits
    }
    /// Lane `lane` of the node takes a place in the vector.
    void seat(std::size_t lane, std::size_t place, const ClassCounts &total) {
        const LaneFloor &floor = floors_[lane];
        seats_.push_back({lane, place});
        cuts_.seated[place] = -1;
        cuts_.whole[place] = static_cast<std::int32_t>(floor.n);
        cuts_.all_squares[place] = static_cast<std::int32_t>(floor.squares);
        cuts_.min_left[place] = static_cast<std::int32_t>(floor.least.left);
        cuts_.most_left[place] = static_cast<std::int32_t>(floor.n - floor.least.right);
        for (std::size_t k = 0; k < by_class_.size(); ++k)
            by_class_[k].all[place] = static_cast<std::int32_t>(total.c[k]);
    }
    bool empty() const { return seats_.empty(); }
    /// What every lane asks of a cut.
    Least least() const {
        Least least = floors_[seats_[0].lane].least;
        for (const Seat &s : seats_) {
            least.left = std::min(least.left, floors_[s.lane].least.left);
            least.right = std::min(least.right, floors_[s.lane].least.right);
        }
        return least;
    }

    /// The best cut of every lane among [0, n) of an attribute: `go_on(begin, by_class, cuts)` is the kernel,
    /// `found(lane, at, left, gain)` is told of each. An entry's `first_step` is the step of an empty side.
    template <class GoOn, class Found>
    void sweep(std::uint32_t n, std::int32_t first_step, GoOn go_on, Found found) {
        aim(first_step);
        for (std::uint32_t at = 0; at < n;) {
            cuts_.doubt = LaneInts{};
            at = go_on(at, by_class_.data(), cuts_);
            for (const Seat &s : seats_)
                if (cuts_.doubt[s.place] != 0) decide(s, static_cast<std::int32_t>(at) - 1);
        }
        for (const Seat &s : seats_)
            if (cuts_.best_at[s.place] >= 0)
                found(s.lane, static_cast<std::uint32_t>(cuts_.best_at[s.place]), cuts_.best_left[s.place],
                      best_gain(s));
    }

  private:
    struct Seat {
        std::size_t lane, place;
    };
    std::span<const LaneFloor> floors_;
    std::vector<Seat> seats_;
    std::vector<LaneClass> by_class_;
    LaneCuts cuts_{};

    void aim(std::int32_t first_step) {
        cuts_.squares = cuts_.products = cuts_.left = LaneInts{};
        for (LaneClass &k : by_class_) k.step = LaneInts{} + first_step;
        cuts_.best_at = cuts_.best_left = LaneInts{} - 1;
        cuts_.best_top = LaneFloats{};
        cuts_.best_sides = LaneFloats{} + 1.0f;
        for (const Seat &s : seats_) {
            const LaneFloor &lane = floors_[s.lane];
            if (lane.floor < 0.0) continue; // any cut will do
            const double n = as_double(lane.n);
            cuts_.best_top[s.place] = static_cast<float>(lane.floor * n + as_double(lane.squares) / n);
        }
    }

    double gain(const Seat &s, std::int32_t left, std::int32_t squares, std::int32_t products) const {
        const LaneFloor &lane = floors_[s.lane];
        const double sum =
            as_double(squares) / as_double(left) +
            as_double(lane.squares - 2 * std::int64_t{products} + squares) / as_double(lane.n - left);
        return Gini::gain(sum, lane.squares, lane.n);
    }
    double best_gain(const Seat &s) const {
        if (cuts_.best_at[s.place] < 0) return floors_[s.lane].floor;
        return gain(s, cuts_.best_left[s.place], cuts_.best_squares[s.place], cuts_.best_products[s.place]);
    }

    /// The literal gains of a lane's cut and of its best.
    void decide(const Seat &s, std::int32_t at) {
        const std::size_t i = s.place;
        if (!(gain(s, cuts_.left[i], cuts_.squares[i], cuts_.products[i]) > best_gain(s))) return;
        cuts_.best_top[i] = cuts_.top[i], cuts_.best_sides[i] = cuts_.sides[i];
        cuts_.best_at[i] = at, cuts_.best_left[i] = cuts_.left[i];
        cuts_.best_squares[i] = cuts_.squares[i], cuts_.best_products[i] = cuts_.products[i];
    }
};

/// The best cut of each lane in a narrow list of all rows.
inline void sweep_list(LaneSweep &lanes, std::span<const std::uint32_t> list,
                       const LanePatterns<std::uint32_t> &patterns, std::span<const ClassCode> classes,
                       const Kernels &kernels, std::span<Cut> cuts) {
    // A side has as many rows of any lane as entries, at most: nobody's cut is so near an end.
    const Least least = lanes.least();
    const auto size = static_cast<std::int64_t>(list.size()), last = size - least.right;
    if (least.left > last) return;
    const auto first = static_cast<std::uint32_t>(least.left - 1), n = static_cast<std::uint32_t>(last + 1);
    lanes.sweep(
        n - 1, 1,
        [&](std::uint32_t begin, LaneClass *by_class, LaneCuts &state) {
            return kernels.lane_classes(list.data(), begin, first, n, patterns.of_id(), patterns.in(),
                                        classes.data(), by_class, state);
        },
        [&](std::size_t lane, std::uint32_t at, std::int64_t left, double gain) {
            cuts[lane] = patterns.own_ends(list, lane, {gain, gain, at, at + 1, left});
        });
}

/// The best cut of each lane of one vector among the values of a counted attribute that nobody misses;
/// `has(lane, value)`: whether the lane has rows of the value.
template <class Has> void sweep_values(LaneSweep &lanes, const LaneCells &cells, std::uint32_t n_values,
                                       const Kernels &kernels, Has has, std::span<Cut> cuts) {
    lanes.sweep(
        n_values, 0,
        [&](std::uint32_t begin, LaneClass *by_class, LaneCuts &state) {
            return kernels.lane_values(cells, begin, n_values, by_class, state);
        },
        [&](std::size_t lane, std::uint32_t at, std::int64_t left, double gain) {
            Cut cut{gain, gain, at, at + 1, left};
            while (!has(lane, cut.at)) --cut.at;
            while (!has(lane, cut.next)) ++cut.next;
            cuts[lane] = cut;
        });
}

} // namespace hornbeam
