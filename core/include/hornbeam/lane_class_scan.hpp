// Gini cuts of many-class lists for all lanes of a node in one pass: single precision tells most cuts apart,
// and the literal gain decides the others.
#pragma once

#include "hornbeam/lane_scan.hpp"

namespace hornbeam {

class LaneClassScan {
  public:
    using E = std::uint32_t;

    /// Turns to the lanes of a node; `floors` are kept by the caller, and rise.
    template <class Stats> void open(const LanePatterns<E> &patterns, std::span<const Lane<Stats>> lanes,
                                     std::span<const LaneFloor> floors) {
        patterns_ = &patterns;
        floors_ = floors;
        const std::size_t n_classes = lanes[0].total.c.size();
        by_class_.resize(n_classes);
        for (std::size_t i = 0; i < lane_width; ++i) {
            const bool used = i < lanes.size();
            cuts_.whole[i] = used ? static_cast<std::int32_t>(floors[i].n) : 0;
            cuts_.all_squares[i] = used ? static_cast<std::int32_t>(floors[i].squares) : 0;
            cuts_.min_left[i] = used ? static_cast<std::int32_t>(floors[i].least.left) : 1; // never reached
            cuts_.most_left[i] = used ? static_cast<std::int32_t>(floors[i].n - floors[i].least.right) : 0;
            for (std::size_t k = 0; k < n_classes; ++k)
                by_class_[k].all[i] = used ? static_cast<std::int32_t>(lanes[i].total.c[k]) : 0;
        }
    }

    /// The best cut of each lane in a list of all rows.
    void cuts(std::span<const E> list, std::span<const ClassCode> classes, const Kernels &kernels,
              std::span<Cut> cuts) {
        aim();
        const auto n = static_cast<std::uint32_t>(list.size());
        for (std::uint32_t at = 0; at + 1 < n;) {
            cuts_.doubt = LaneInts{};
            at = kernels.lane_classes(list.data(), at, n, patterns_->of_id(), patterns_->in(), classes.data(),
                                      by_class_.data(), cuts_);
            for (std::size_t i = 0; i < floors_.size(); ++i)
                if (cuts_.doubt[i] != 0) decide(i, static_cast<std::int32_t>(at) - 1);
        }
        for (std::size_t i = 0; i < floors_.size(); ++i) {
            cuts[i] = Cut{};
            if (cuts_.best_at[i] < 0) continue;
            const double gain = best_gain(i);
            const auto found = static_cast<std::uint32_t>(cuts_.best_at[i]);
            cuts[i] = patterns_->own_ends(list, i, {gain, gain, found, found + 1, cuts_.best_left[i]});
        }
    }

  private:
    const LanePatterns<E> *patterns_ = nullptr;
    std::span<const LaneFloor> floors_;
    std::vector<LaneClass> by_class_;
    LaneCuts cuts_{};

    void aim() {
        cuts_.squares = cuts_.products = cuts_.left = LaneInts{};
        for (LaneClass &k : by_class_) k.step = LaneInts{} + 1;
        cuts_.best_at = cuts_.best_left = LaneInts{} - 1;
        cuts_.best_top = LaneFloats{};
        cuts_.best_sides = LaneFloats{} + 1.0f;
        for (std::size_t i = 0; i < floors_.size(); ++i) {
            const LaneFloor &lane = floors_[i];
            if (lane.floor < 0.0) continue; // any cut will do
            const double n = as_double(lane.n);
            cuts_.best_top[i] = static_cast<float>(lane.floor * n + as_double(lane.squares) / n);
        }
    }

    double gain(std::size_t i, std::int32_t left, std::int32_t squares, std::int32_t products) const {
        const LaneFloor &lane = floors_[i];
        const double sum =
            as_double(squares) / as_double(left) +
            as_double(lane.squares - 2 * std::int64_t{products} + squares) / as_double(lane.n - left);
        return Gini::gain(sum, lane.squares, lane.n);
    }
    double best_gain(std::size_t i) const {
        if (cuts_.best_at[i] < 0) return floors_[i].floor;
        return gain(i, cuts_.best_left[i], cuts_.best_squares[i], cuts_.best_products[i]);
    }

    /// The literal gains of a lane's cut and of its best.
    void decide(std::size_t i, std::int32_t at) {
        if (!(gain(i, cuts_.left[i], cuts_.squares[i], cuts_.products[i]) > best_gain(i))) return;
        cuts_.best_top[i] = cuts_.top[i], cuts_.best_sides[i] = cuts_.sides[i];
        cuts_.best_at[i] = at, cuts_.best_left[i] = cuts_.left[i];
        cuts_.best_squares[i] = cuts_.squares[i], cuts_.best_products[i] = cuts_.products[i];
    }
};

} // namespace hornbeam
