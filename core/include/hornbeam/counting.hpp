// AVC-groups go down the tree while they pay; where they end, sorted lists are written in their place.
#pragma once

#include "hornbeam/parallel.hpp"
#include "hornbeam/pending.hpp"

namespace hornbeam {

/// The group of a node with several lanes has parts. By complement: part 0 has every row, part i + 1 those
/// that lane i leaves out; a lane has the whole less its part. Otherwise: a part for each lane.
template <class E, class Target> class Counting {
  public:
    using Node = Pending<E, typename Target::Stats>;
    using Lanes = decltype(Node::lanes);
    using Counts = std::span<const std::uint32_t>;

    /// `together`: whether the lists of a node are scanned once for all its lanes.
    Counting(Frame<E> &frame, const Target &target, NodePool<E, Target> &pool, bool together)
        : frame_(frame), target_(target), pool_(pool), together_(together) {}

    /// Gives a root its group, unless it comes with one, or its lists.
    void begin(Node &root, Workers *workers) {
        if (frame_.avc == nullptr) return;
        if (!pays(root)) {
            pool_.recycle_group(std::move(root.avc));
            write_lists(root);
        } else if (root.avc.empty()) {
            root.avc = count(root.rows, root.lanes, solo(root), workers);
        }
    }

    /// Gives each growing child its group or its lists. All but the largest child are counted; the largest
    /// has what they leave.
    void hand_down(Node &node, std::span<Node> child, Workers *workers) {
        if (node.avc.empty()) return;
        std::size_t largest = 0;
        for (std::size_t c = 1; c < child.size(); ++c)
            if (child[c].rows.size() > child[largest].rows.size()) largest = c;
        const bool rest = grows(child[largest]) && pays(child[largest]);
        for (std::size_t c = 0; c < child.size(); ++c) {
            const bool own = grows(child[c]) && pays(child[c]);
            if (c == largest || !(own || rest)) continue;
            if (own) child[c].avc = count(child[c].rows, node.lanes, node.lanes.size() == 1, workers);
            if (rest) take_away(node, child[c], workers);
        }
        if (rest) std::swap(child[largest].avc, node.avc);
        for (Node &c : child) {
            if (!grows(c)) continue;
            if (c.avc.empty())
                write_lists(c);
            else if (c.lanes.size() != node.lanes.size())
                keep_growing(c, node.lanes);
        }
    }

    /// What one lane of the node counts for itself, until the next lane is asked for; empty where nothing is
    /// counted.
    Counts own(const Node &node, std::size_t lane) {
        if (node.avc.empty()) return {};
        const std::size_t n = frame_.avc->n_cells;
        if (node.lanes.size() == 1 || !by_complement()) return Counts(node.avc).subspan(lane * n, n);
        own_counts_.resize(n);
        const std::uint32_t *whole = node.avc.data(), *out = whole + (lane + 1) * n;
        for (std::size_t j = 0; j < n; ++j) own_counts_[j] = whole[j] - out[j];
        return own_counts_;
    }

    /// Whether a lane has rows without a value of the attribute.
    bool has_missing(const Node &node, std::size_t lane, const AvcSlot &slot) const {
        const std::size_t n = frame_.avc->n_cells, row = slot.begin + slot.n_values * frame_.avc->width;
        const bool complement = node.lanes.size() > 1 && by_complement();
        for (std::size_t k = row; k < row + frame_.avc->n_classes; ++k)
            if (complement ? node.avc[k] != node.avc[(lane + 1) * n + k] : node.avc[lane * n + k] != 0)
                return true;
        return false;
    }

    /// Whether a lane that is alone with so many rows is better counted by value.
    bool pays_alone(std::size_t rows) const { return frame_.avc->pays(rows, 1, together_); }
    AvcGroup count_alone(std::span<const E> rows) { return count(rows, {}, true, nullptr); }

    /// The group of some lanes out of `lanes`; `members` are their places.
    AvcGroup kept(const AvcGroup &group, std::size_t lanes, std::span<const std::size_t> members) {
        if (group.empty()) return {};
        const std::size_t n = frame_.avc->n_cells;
        AvcGroup made = pool_.fresh_group(n * n_parts(members.size()));
        auto part = [&](std::size_t p) { return group.begin() + static_cast<std::ptrdiff_t>(p * n); };
        auto to = [&](std::size_t p) { return made.begin() + static_cast<std::ptrdiff_t>(p * n); };
        if (!by_complement() || lanes == 1) {
            for (std::size_t i = 0; i < members.size(); ++i) std::copy_n(part(members[i]), n, to(i));
            return made;
        }
        std::copy_n(part(0), n, to(0));
        for (std::size_t i = 0; i < members.size(); ++i) {
            const auto out = part(members[i] + 1);
            if (members.size() > 1)
                std::copy_n(out, n, to(i + 1));
            else
                for (std::size_t j = 0; j < n; ++j) made[j] -= out[static_cast<std::ptrdiff_t>(j)];
        }
        return made;
    }

    /// Calls `visit(id, value)` for the rows that have a value of the counted numeric attribute.
    template <class Visit>
    void each_value(std::span<const E> rows, std::int32_t attribute, Visit visit) const {
        const AvcSlot &slot = *frame_.avc->find(attribute);
        const std::size_t n_slots = frame_.avc->slots.size();
        const std::uint16_t *cell = frame_.cells.data() + (&slot - frame_.avc->slots.data());
        for (E e : rows) {
            const std::uint32_t id = Packed<E>::id(e), value = frame_.avc->value_at[cell[id * n_slots]];
            if (value != slot.n_values) visit(id, value);
        }
    }
    std::size_t rows_between(const Node &node, std::int32_t attribute, std::uint32_t low,
                             std::uint32_t high) const {
        std::size_t n = 0;
        each_value(node.rows, attribute,
                   [&](std::uint32_t, std::uint32_t value) { n += value > low && value <= high; });
        return n;
    }

    /// Sets the flag of every row to its child, by the value of the tested numeric attribute.
    void flag_rows(std::span<const E> rows, const Choice &test) {
        const AvcSlot &slot = *frame_.avc->find(test.attribute);
        const std::size_t n_slots = frame_.avc->slots.size();
        const std::uint16_t *cell = frame_.cells.data() + (&slot - frame_.avc->slots.data());
        const std::uint32_t width = frame_.avc->width, last_left = slot.begin + test.lo * width,
                            missing = slot.begin + slot.n_values * width;
        const auto missing_flag = static_cast<std::uint8_t>(test.default_child);
        for (E e : rows) {
            const std::uint32_t id = Packed<E>::id(e), of_row = cell[id * n_slots];
            frame_.flag[id] = of_row == missing ? missing_flag : of_row > last_left;
        }
    }

  private:
    Frame<E> &frame_;
    const Target &target_;
    NodePool<E, Target> &pool_;
    bool together_;
    std::vector<std::uint32_t> own_counts_;

    bool by_complement() const { return frame_.sets.by_complement; }
    std::size_t n_parts(std::size_t lanes) const {
        return lanes == 1 || !by_complement() ? lanes : lanes + 1;
    }
    static bool grows(const Node &node) { return !node.lanes.empty(); }
    /// Nodes of a wide frame have no room for lists of counted attributes, and are large.
    bool pays(const Node &node) const {
        return node.room.first == nullptr || frame_.avc->pays(node.rows.size(), node.lanes.size(), together_);
    }

    /// Leaves in the node's group what is not the child's: by the child's own counts, or row by row where
    /// that touches less.
    void take_away(Node &node, Node &child, Workers *workers) {
        constexpr std::size_t cells_a_row = 8; // a count of a row takes as long as so many of a group
        const std::size_t cells = child.rows.size() * frame_.avc->slots.size() * 2 * cells_a_row;
        if (node.lanes.size() > 1 && by_complement() && cells < node.avc.size()) {
            add_by_complement(node.avc, child.rows, LanePlaces(node.lanes), ~std::uint32_t{0});
        } else if (!child.avc.empty()) {
            subtract(node.avc, child.avc);
        } else {
            AvcGroup group = count(child.rows, node.lanes, node.lanes.size() == 1, workers);
            subtract(node.avc, group);
            pool_.recycle_group(std::move(group));
        }
    }

    /// Lanes that ended leave the group of a child that was counted for all lanes of its parent.
    void keep_growing(Node &child, const Lanes &lanes) {
        std::vector<std::size_t> members;
        for (std::size_t i = 0; i < lanes.size(); ++i)
            if (members.size() < child.lanes.size() && child.lanes[members.size()].set == lanes[i].set)
                members.push_back(i);
        AvcGroup group = kept(child.avc, lanes.size(), members);
        std::swap(child.avc, group);
        pool_.recycle_group(std::move(group));
    }

    AvcGroup count(std::span<const E> rows, const Lanes &lanes, bool alone, Workers *workers) {
        if (alone) return count_with(rows, 1, workers, [](std::uint32_t, auto add) { add(0, 1); });
        const std::size_t n = frame_.avc->n_cells, parts = n_parts(lanes.size());
        if (by_complement() && lanes.size() > 1) {
            const LanePlaces places(lanes);
            return count_with(rows, parts, workers, by_complement_of(places, 1));
        }
        return count_with(rows, parts, workers, [&](std::uint32_t id, auto add) {
            for (std::size_t i = 0; i < lanes.size(); ++i)
                if (std::uint32_t times = frame_.sets.count(id, lanes[i].set)) add(n * i, times);
        });
    }

    /// Adds a row, `times` once, to the whole and to the parts of the lanes that leave it out.
    auto by_complement_of(const LanePlaces &places, std::uint32_t times) const {
        return [this, &places, times](std::uint32_t id, auto add) {
            add(std::size_t{0}, times);
            places.each(~frame_.sets.of(id),
                        [&](std::size_t lane) { add(frame_.avc->n_cells * (lane + 1), times); });
        };
    }
    void add_by_complement(AvcGroup &group, std::span<const E> rows, const LanePlaces &places,
                           std::uint32_t times) const {
        if constexpr (requires { target_.code; })
            add_rows(group, *frame_.avc, frame_.cells, rows, target_.code, by_complement_of(places, times));
    }

    /// `place(id, add)` adds a row to the parts it belongs to, by their first cells.
    template <class Place>
    AvcGroup count_with(std::span<const E> rows, std::size_t parts, Workers *workers, Place place) {
        AvcGroup group = pool_.fresh_group(frame_.avc->n_cells * parts);
        if constexpr (requires { target_.code; }) {
            constexpr std::size_t chunk = 32768; // rows between two looks for a stop
            const std::size_t chunks = (rows.size() + chunk - 1) / chunk;
            auto add = [&](std::size_t c, AvcGroup &to) {
                add_rows(to, *frame_.avc, frame_.cells,
                         rows.subspan(c * chunk, std::min(chunk, rows.size() - c * chunk)), target_.code,
                         place);
            };
            if (workers == nullptr) {
                for (std::size_t c = 0; c < chunks; ++c) add(c, group);
                return group;
            }
            std::vector<AvcGroup> others; // of the workers but the first
            while (others.size() + 1 < workers->places()) others.push_back(pool_.fresh_group(group.size()));
            workers->share(chunks,
                           [&](std::size_t c, unsigned w) { add(c, w == 0 ? group : others[w - 1]); });
            for (AvcGroup &other : others) {
                for (std::size_t i = 0; i < group.size(); ++i) group[i] += other[i];
                pool_.recycle_group(std::move(other));
            }
        }
        return group;
    }

    void write_lists(Node &node) {
        const std::size_t at = static_cast<std::size_t>(node.rows.data() - node.room.rows);
        for (Segment<E> &s : node.active) {
            const AvcSlot *slot = frame_.avc->find(s.attribute);
            if (s.listed() || slot == nullptr || slot->nominal) continue;
            const auto place = static_cast<std::size_t>(slot - frame_.avc->slots.data());
            s.begin = node.room.first + place * node.room.stride + at;
            s.size = write_list<E>(*frame_.avc, frame_.cells, *slot, node.rows, s.begin);
        }
    }
};

} // namespace hornbeam
