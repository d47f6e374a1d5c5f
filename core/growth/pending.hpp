// Nodes that wait to be grown, and a pool of them.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "choice/chooser.hpp"

namespace hornbeam {

/// Where lists of counted attributes may be written, should counting no longer pay: the part of slot s that
/// belongs to rows from `rows + i` on begins at first + s * stride + i.
template <class E> struct ListRoom {
    const E *rows = nullptr;
    E *first = nullptr;
    std::size_t stride = 0;
};

/// The lanes of a node as a mask, and the lanes that leave a row out.
class LanePlaces {
  public:
    template <class Stats> explicit LanePlaces(const std::vector<Lane<Stats>> &lanes) {
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            sets |= SetMask{1} << lanes[i].set;
            place_[static_cast<std::size_t>(lanes[i].set)] = static_cast<std::uint8_t>(i);
        }
    }
    SetMask sets = 0;

    /// Calls `visit` with the place of every lane of a mask.
    template <class Visit> void each(SetMask some, Visit visit) const {
        for (some &= sets; some != 0; some &= some - 1)
            visit(static_cast<std::size_t>(place_[static_cast<std::size_t>(std::countr_zero(some))]));
    }

  private:
    std::array<std::uint8_t, TrainingSets::most> place_{};
};

/// A node whose lanes are still growing. Its lists live in the frame, or in `owner` where sets parted and
/// needed a copy.
template <class E, class Stats> struct Pending {
    std::int64_t depth = 0;
    std::span<E> rows;
    std::vector<Segment<E>> active;
    std::vector<Lane<Stats>> lanes;
    AvcGroup avc; // where attributes of few values are counted here
    std::shared_ptr<E[]> owner;
    ListRoom<E> room;
    bool stale = false;    // a lane ended here: rows that only it had are still in the lists
    std::size_t n_ids = 0; // in use once it was made
};

/// Whether a single lane is there and every entry counts once for it. In a stale node there may be as many
/// rows of lanes that ended as rows that count twice.
template <class E, class Stats> bool solo(const Pending<E, Stats> &node) {
    return node.lanes.size() == 1 && !node.stale &&
           node.lanes[0].total.n == static_cast<std::int64_t>(node.rows.size());
}

/// Whether a narrow frame has ids for the rows, and 32 bits hold the squares of what each lane counts.
template <class E, class Stats> bool fits_narrow(const Pending<E, Stats> &node) {
    return node.rows.size() <= narrow_rows &&
           std::all_of(node.lanes.begin(), node.lanes.end(), [](const Lane<Stats> &lane) {
               return lane.total.n <= static_cast<std::int64_t>(narrow_rows);
           });
}

template <class E, class Stats> SetMask sets_of(const Pending<E, Stats> &node) {
    SetMask sets = 0;
    for (const Lane<Stats> &lane : node.lanes) sets |= SetMask{1} << lane.set;
    return sets;
}

/// Between two attributes of a node, where that may be long.
template <class E, class Stats> void poll_if_large(const Pending<E, Stats> &node, Cancel &cancel) {
    if (node.rows.size() > 2048) cancel.poll();
}

/// Calls body(entry) for each, looking for a stop now and then.
template <class E, class Body> void for_entries(std::span<E> entries, Cancel &cancel, Body body) {
    in_stretches(entries.size(), cancel, [&](std::size_t lo, std::size_t hi) {
        for (std::size_t i = lo; i < hi; ++i) body(entries[i]);
    });
}

/// Nodes and statistics go round: small nodes are many, and would spend their time in the allocator.
template <class E, class Target> class NodePool {
  public:
    using Stats = typename Target::Stats;
    using Node = Pending<E, Stats>;

    explicit NodePool(const Target &target) : target_(target) {}

    Node fresh() {
        if (nodes_.empty()) return {};
        Node node = std::move(nodes_.back());
        nodes_.pop_back();
        return node;
    }
    void recycle(Node &&node) {
        for (auto &lane : node.lanes) recycle_stats(std::move(lane.total));
        node.lanes.clear();
        node.active.clear();
        recycle_group(std::move(node.avc));
        node.owner.reset();
        node.room = {};
        node.stale = false;
        nodes_.push_back(std::move(node));
    }
    Stats fresh_stats() {
        if (stats_.empty()) return target_.zero();
        Stats s = std::move(stats_.back());
        stats_.pop_back();
        s.clear();
        return s;
    }
    Lane<Stats> copy_of(const Lane<Stats> &lane) {
        Lane<Stats> copy{lane.set, lane.record, fresh_stats(), lane.open, lane.settings};
        copy.total = lane.total;
        return copy;
    }
    void recycle_stats(Stats &&s) { stats_.push_back(std::move(s)); }
    AvcGroup fresh_group(std::size_t n_cells) {
        AvcGroup group = known_group(n_cells);
        group.assign(n_cells, 0);
        return group;
    }
    /// The same, where every number will be written.
    AvcGroup room_for_group(std::size_t n_cells) {
        AvcGroup group = known_group(n_cells);
        group.resize(n_cells);
        return group;
    }
    void recycle_group(AvcGroup &&group) {
        if (!group.empty()) groups_.push_back(std::move(group));
        group.clear();
    }

  private:
    const Target &target_;
    std::vector<Node> nodes_;
    std::vector<Stats> stats_;
    std::vector<AvcGroup> groups_;

    /// One that was about as large, or an empty one: the counts of one set would keep the room of many.
    AvcGroup known_group(std::size_t n_cells) {
        for (std::size_t i = groups_.size(); i-- > 0;) {
            const std::size_t had = groups_[i].capacity();
            if (had < n_cells || had > 2 * n_cells) continue;
            std::swap(groups_[i], groups_.back());
            AvcGroup group = std::move(groups_.back());
            groups_.pop_back();
            return group;
        }
        return {};
    }
};

} // namespace hornbeam
