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
    /// Finds the best cut of every lane in every list and counted attribute where that is done for several
    /// lanes at once, and bounds what other attributes can give. Cuts are found as far as they may be the
    /// lane's best test; `apart`, as far as they may be the best of their attribute. False where nothing is
    /// found at once.
    virtual bool sweep(const Node &node, const Counting<E, Target> &counting, bool apart) = 0;

    /// Whether the lane's cut of an attribute is known.
    bool knows(std::size_t a, std::size_t lane) const { return found_[a * lanes_ + lane].known; }
    const FoundCut &cut(std::size_t a, std::size_t lane) const { return found_[a * lanes_ + lane].cut; }
    /// What no test of the attribute exceeds.
    double most(std::size_t a, std::size_t lane) const { return most_[a * lanes_ + lane]; }
    /// The lane's best cut is a little above.
    double floor(std::size_t lane) const { return floors_[lane].floor; }
    /// How often an attribute was gone through for several lanes.
    std::int64_t passes(std::size_t a) const { return passes_[a]; }

  protected:
    std::vector<LaneFloor> floors_;
    bool apart_ = false;

    void open(const Node &node, bool apart) {
        apart_ = apart;
        lanes_ = node.lanes.size();
        found_.assign(node.active.size() * lanes_, {});
        most_.assign(node.active.size() * lanes_, std::numeric_limits<double>::infinity());
        passes_.assign(node.active.size(), 0);
    }
    /// A lane's cut is known. An equal quality is found as well: another attribute may yet turn out to be in
    /// between.
    void found(std::size_t a, std::size_t lane, const FoundCut &cut) {
        found_[a * lanes_ + lane] = {cut, true};
        double &floor = floors_[lane].floor;
        if (!apart_ && cut.quality > floor) floor = std::nextafter(cut.quality, -1.0);
    }
    void passed(std::size_t a) { ++passes_[a]; }
    void bound(std::size_t a, std::size_t lane, double most) { most_[a * lanes_ + lane] = most; }

  private:
    struct Found {
        FoundCut cut;
        bool known = false;
    };
    std::size_t lanes_ = 0;
    std::vector<Found> found_;         // [attribute][lane]
    std::vector<double> most_;         // [attribute][lane]
    std::vector<std::int64_t> passes_; // by attribute
};

} // namespace hornbeam
