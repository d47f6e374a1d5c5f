// Cuts of all training sets of a node, found in one pass through its lists and counts.
#pragma once

#include <limits>
#include <vector>

#include "growth/counting.hpp"
#include "growth/pending.hpp"

namespace hornbeam {

/// A lane before a sweep: its rows, those of its second class, the sum of its squared class counts, what cuts
/// must leave on both sides, and the quality that they have to exceed.
struct LaneFloor {
    std::int64_t n = 0, ones = 0, squares = 0;
    Least least;
    double floor = -1.0;
};

/// The slot of an attribute that is counted at the node.
template <class E, class Stats>
const AvcSlot *slot_of(const Frame<E> &frame, const Pending<E, Stats> &node, const Segment<E> &segment) {
    return node.avc.empty() || segment.listed() ? nullptr : frame.avc->find(segment.attribute);
}

/// Each criterion that has a sweep makes its own.
template <class E, class Target> class JointSweep {
  public:
    using Node = Pending<E, typename Target::Stats>;

    virtual ~JointSweep() = default;
    /// Finds the best cut of every lane in every list and counted attribute where that is done for all lanes
    /// at once, as far as it may be the lane's best test, and bounds what other attributes can give. False
    /// where nothing is.
    virtual bool sweep(const Node &node, const Counting<E, Target> &counting) = 0;

    /// Whether the cuts of an attribute are known.
    bool knows(std::size_t a) const { return swept_[a] != 0; }
    const Cut &cut(std::size_t a, std::size_t lane) const { return cuts_[a * lanes_ + lane]; }
    /// What no test of the attribute exceeds.
    double most(std::size_t a, std::size_t lane) const { return most_[a * lanes_ + lane]; }
    /// The lane's best cut is a little above.
    double floor(std::size_t lane) const { return floors_[lane].floor; }

  protected:
    std::vector<LaneFloor> floors_;

    void open(const Node &node) {
        lanes_ = node.lanes.size();
        cuts_.assign(node.active.size() * lanes_, Cut{});
        most_.assign(node.active.size() * lanes_, std::numeric_limits<double>::infinity());
        swept_.assign(node.active.size(), 0);
    }
    std::span<Cut> cuts_of(std::size_t a) { return std::span(cuts_).subspan(a * lanes_, lanes_); }
    /// An attribute's cuts are known. Equal qualities are found as well: another attribute may yet turn out
    /// to be in between.
    void close(std::size_t a) {
        swept_[a] = 1;
        for (std::size_t i = 0; i < lanes_; ++i)
            if (const double quality = cut(a, i).quality; quality > floors_[i].floor)
                floors_[i].floor = std::nextafter(quality, -1.0);
    }
    void bound(std::size_t a, std::size_t lane, double most) { most_[a * lanes_ + lane] = most; }

  private:
    std::size_t lanes_ = 0;
    std::vector<Cut> cuts_;           // [attribute][lane]
    std::vector<double> most_;        // [attribute][lane]
    std::vector<std::uint8_t> swept_; // by attribute
};

} // namespace hornbeam
