// AVC-groups go down the tree while they pay; where they end, sorted lists are written in their place.
#pragma once

#include <numeric>

#include "growth/pending.hpp"
#include "running/parallel.hpp"

namespace hornbeam {

/// The group of a single lane has a number for each cell. That of several lanes has a row of columns, the
/// last of them the whole: a set has the whole less its own column. By complement the whole are all rows, and
/// the column those that the set leaves out; else the whole is 0, and the column has the rows of the set
/// below it.
template <class E, class Target> class Counting {
  public:
    using Node = Pending<E, typename Target::Stats>;
    using Lanes = decltype(Node::lanes);
    using Counts = std::span<const std::uint32_t>;

    /// `together`: whether the lists of a node are scanned once for all its lanes. Nodes of up to `listed`
    /// rows have lists.
    Counting(Frame<E> &frame, const Target &target, NodePool<E, Target> &pool, const Kernels &kernels,
             bool together, std::size_t listed)
        : frame_(frame), target_(target), pool_(pool), kernels_(kernels), together_(together),
          listed_(listed) {}

    /// Gives a root its group, unless it comes with one, or its lists.
    void begin(Node &root, Workers *workers) {
        if (frame_.avc == nullptr) return;
        if (!pays(root)) {
            pool_.recycle_group(std::move(root.avc));
            write_lists(root);
        } else if (root.avc.empty()) {
            root.avc =
                root.lanes.size() == 1 ? count_own(root, workers) : count(root.rows, sets_of(root), workers);
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
            if (own) child[c].avc = count(child[c].rows, sets_of(node), workers);
            if (rest) take_away(node, child[c], workers);
        }
        if (rest) std::swap(child[largest].avc, node.avc);
        for (Node &c : child) {
            if (!grows(c)) continue;
            if (c.avc.empty())
                write_lists(c);
            else if (c.lanes.size() == 1 && !alone(c.avc))
                leave_alone(c);
        }
    }

    /// The counts that one lane of the node has of a slot, and of the rows without a value; `room` is used
    /// where they are not there as such.
    const std::uint32_t *own(const Node &node, std::size_t lane, const AvcSlot &slot,
                             std::vector<std::uint32_t> &room) const {
        if (alone(node.avc)) return node.avc.data() + slot.begin;
        room.resize((slot.n_values + 1) * frame_.avc->width);
        take_own(node.avc, node.lanes[lane].set, slot.begin, room);
        return room.data();
    }
    /// A slot as the lanes of several sets see it, those of one vector.
    LaneCells cells(const Node &node, const AvcSlot &slot, std::size_t first_set) const {
        const std::uint32_t *row = node.avc.data() + slot.begin * frame_.avc->columns;
        return {row + first_set, row + frame_.avc->columns - 1, frame_.avc->columns, frame_.avc->width,
                frame_.avc->n_classes};
    }

    /// Whether a lane has rows without a value of the attribute.
    bool has_missing(const Node &node, std::size_t lane, const AvcSlot &slot) const {
        return has_value(node, lane, slot, slot.n_values);
    }
    bool has_value(const Node &node, std::size_t lane, const AvcSlot &slot, std::uint32_t value) const {
        const std::size_t columns = alone(node.avc) ? 1 : frame_.avc->columns;
        const std::size_t row = slot.begin + value * frame_.avc->width;
        for (std::size_t k = row; k < row + frame_.avc->n_classes; ++k) {
            const std::uint32_t *cell = node.avc.data() + k * columns;
            const std::uint32_t own = columns == 1 ? 0 : cell[set_of(node.lanes[lane])];
            if (cell[columns - 1] != own) return true;
        }
        return false;
    }

    /// Whether nearly all attributes are counted here, and rows are many for the counts of all sets.
    bool pays_together(const Node &node) const {
        if (node.avc.empty() || !frame_.avc->pays_together(node.rows.size(), node.lanes.size())) return false;
        const auto listed = static_cast<std::size_t>(
            std::count_if(node.active.begin(), node.active.end(),
                          [&](const Segment<E> &s) { return frame_.avc->find(s.attribute) == nullptr; }));
        return AvcLayout::nearly_all(listed, node.active.size());
    }
    /// Whether a lane that is alone with so many rows is better counted by value.
    bool pays_alone(std::size_t rows) const { return rows > listed_ && frame_.avc->pays(rows, 1, together_); }
    AvcGroup count_alone(std::span<const E> rows, Workers *workers = nullptr) {
        return count_with(rows, 1, workers, [](std::uint32_t, const RowCells &counts) {
            counts.each([](std::uint32_t *cell) { ++*cell; });
        });
    }

    /// The group of some lanes of a node; `last`: nobody asks for the node's own any more.
    AvcGroup kept(Node &node, std::span<const std::size_t> members, bool last) {
        if (node.avc.empty()) return {};
        if (members.size() == 1 && !alone(node.avc)) {
            AvcGroup made = own_group(node.avc, node.lanes[members[0]].set);
            if (last) pool_.recycle_group(std::move(node.avc));
            return made;
        }
        if (last) return std::move(node.avc);
        AvcGroup made = pool_.room_for_group(node.avc.size());
        std::copy(node.avc.begin(), node.avc.end(), made.begin());
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
    /// About how many rows of the node have a value above `low`, up to `high`; by complement from the whole,
    /// which may have rows that no lane counts any more, and misses those that are on both sides already.
    std::size_t nearly_between(const Node &node, std::int32_t attribute, std::uint32_t low,
                               std::uint32_t high) const {
        if (by_complement()) {
            std::size_t n = 0;
            const AvcSlot &slot = *frame_.avc->find(attribute);
            const std::size_t columns = frame_.avc->columns, width = frame_.avc->width;
            for (std::size_t cell = slot.begin + (low + 1) * width; cell < slot.begin + (high + 1) * width;
                 ++cell)
                n += node.avc[cell * columns + columns - 1];
            return n;
        }
        return rows_between(node, attribute, low, high);
    }
    /// The same row by row.
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
    const Kernels &kernels_;
    bool together_;
    std::size_t listed_;
    std::vector<ListToWrite<E>> to_write_;

    bool by_complement() const { return frame_.sets.by_complement; }
    bool alone(const AvcGroup &group) const { return group.size() == frame_.avc->n_cells; }
    template <class Lane> static std::size_t set_of(const Lane &lane) {
        return static_cast<std::size_t>(lane.set);
    }
    static bool grows(const Node &node) { return !node.lanes.empty(); }
    /// Nodes of a wide frame have no room for lists of counted attributes, and are large.
    bool pays(const Node &node) const {
        return node.room.first == nullptr ||
               (node.rows.size() > listed_ &&
                frame_.avc->pays(node.rows.size(), node.lanes.size(), together_));
    }

    /// Leaves in the node's group what is not the child's: by the child's own counts, or row by row where
    /// that touches less.
    void take_away(Node &node, Node &child, Workers *workers) {
        constexpr std::size_t cells_a_row = 8; // a count of a row takes as long as so many of a group
        const std::size_t cells = child.rows.size() * frame_.avc->slots.size() * 2 * cells_a_row;
        if (!alone(node.avc) && cells < node.avc.size()) {
            if constexpr (requires { target_.code; })
                add_rows(node.avc, *frame_.avc, frame_.avc->columns, frame_.cells,
                         std::span<const E>(child.rows), target_.code,
                         add_for(sets_of(node), ~std::uint32_t{0}));
        } else if (!child.avc.empty()) {
            subtract(node.avc, child.avc);
        } else {
            AvcGroup group = count(child.rows, sets_of(node), workers);
            subtract(node.avc, group);
            pool_.recycle_group(std::move(group));
        }
    }

    /// What one set has of the cells from `first` on.
    void take_own(const AvcGroup &group, std::int32_t set, std::size_t first,
                  std::span<std::uint32_t> to) const {
        const std::size_t columns = frame_.avc->columns;
        const std::uint32_t *cell = group.data() + first * columns, *out = cell + set;
        cell += columns - 1;
        for (std::size_t j = 0; j < to.size(); ++j) to[j] = cell[j * columns] - out[j * columns];
    }
    AvcGroup own_group(const AvcGroup &group, std::int32_t set) {
        AvcGroup made = pool_.room_for_group(frame_.avc->n_cells);
        take_own(group, set, 0, made);
        return made;
    }
    /// A child that was counted for all lanes of its parent has but one.
    void leave_alone(Node &child) {
        AvcGroup group = own_group(child.avc, child.lanes[0].set);
        std::swap(child.avc, group);
        pool_.recycle_group(std::move(group));
    }

    /// Of a root that has one lane, where rows may count several times, or not at all.
    AvcGroup count_own(const Node &root, Workers *workers) {
        if (solo(root)) return count_alone(root.rows, workers);
        return count_with(root.rows, 1, workers,
                          [&, set = root.lanes[0].set](std::uint32_t id, const RowCells &counts) {
                              const std::uint32_t times = frame_.sets.count(id, set);
                              counts.each([&](std::uint32_t *cell) { *cell += times; });
                          });
    }

    AvcGroup count(std::span<const E> rows, SetMask sets, Workers *workers) {
        if (std::has_single_bit(sets)) return count_alone(rows, workers);
        if (!by_complement()) return count_with(rows, frame_.avc->columns, workers, add_for(sets, 1));
        AvcGroup group = count_with(rows, frame_.avc->columns, workers, add_to_one(sets));
        add_up(group);
        return group;
    }

    /// Adds a row to a single column, that of the set that leaves it out or the whole: `add_up` makes the
    /// rest of the whole. Where several sets leave it out, that counts the row too often, and the whole gets
    /// less.
    auto add_to_one(SetMask sets) const {
        return [this, sets, whole = frame_.avc->columns - 1](std::uint32_t id, const RowCells &counts) {
            const SetMask out = sets & ~frame_.sets.of(id);
            std::size_t column = whole;
            if (out != 0) {
                column = static_cast<std::size_t>(std::countr_zero(out));
                each_set(out & (out - 1), [&](std::size_t set) {
                    counts.each([&](std::uint32_t *cell) { ++cell[set], --cell[whole]; });
                });
            }
            counts.each([column](std::uint32_t *cell) { ++cell[column]; });
        };
    }
    void add_up(AvcGroup &group) const {
        const std::size_t columns = frame_.avc->columns;
        for (std::uint32_t *cell = group.data(); cell != group.data() + group.size(); cell += columns)
            cell[columns - 1] = std::accumulate(cell, cell + columns, std::uint32_t{0});
    }

    /// Adds a row, `times` once, to the whole and to the columns of the sets that leave it out; or takes it
    /// off those that have it.
    auto add_for(SetMask sets, std::uint32_t times) const {
        return [this, sets, times, whole = frame_.avc->columns - 1](std::uint32_t id,
                                                                    const RowCells &counts) {
            const SetMask out = sets & ~frame_.sets.of(id);
            if (!by_complement()) {
                std::array<std::uint32_t, most_columns> less;
                frame_.sets.write_counts(id, times, std::span(less).first(counts.columns));
                kernels_.take_off(counts.of_class, counts.cell, counts.n_slots, counts.columns, less.data());
            } else if (out != 0 && (out & (out - 1)) == 0) { // as among folds
                const auto set = static_cast<std::size_t>(std::countr_zero(out));
                counts.each([&](std::uint32_t *cell) { cell[whole] += times, cell[set] += times; });
            } else {
                counts.each([&](std::uint32_t *cell) { cell[whole] += times; });
                each_set(out, [&](std::size_t set) {
                    counts.each([&](std::uint32_t *cell) { cell[set] += times; });
                });
            }
        };
    }
    template <class Visit> static void each_set(SetMask sets, Visit visit) {
        for (; sets != 0; sets &= sets - 1) visit(static_cast<std::size_t>(std::countr_zero(sets)));
    }

    template <class Add>
    AvcGroup count_with(std::span<const E> rows, std::size_t columns, Workers *workers, Add add_row) {
        AvcGroup group = pool_.fresh_group(frame_.avc->n_cells * columns);
        if constexpr (requires { target_.code; }) {
            constexpr std::size_t chunk = 32768; // rows between two looks for a stop
            const std::size_t chunks = (rows.size() + chunk - 1) / chunk;
            auto add = [&](std::size_t c, AvcGroup &to) {
                add_rows(to, *frame_.avc, columns, frame_.cells,
                         rows.subspan(c * chunk, std::min(chunk, rows.size() - c * chunk)), target_.code,
                         add_row);
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
        to_write_.clear();
        for (const Segment<E> &s : node.active) {
            const AvcSlot *slot = frame_.avc->find(s.attribute);
            if (s.listed() || slot == nullptr || slot->nominal) continue;
            to_write_.push_back({slot, node.room.first + slot->place * node.room.stride + at});
        }
        write(node.rows);
        auto written = to_write_.begin();
        for (Segment<E> &s : node.active)
            if (written != to_write_.end() && written->slot->attribute == s.attribute) {
                s.begin = written->list, s.size = written->size;
                ++written;
            }
    }
    void write(std::span<const E> rows) {
        constexpr std::size_t insertable = 24, few = 4;
        std::span<ListToWrite<E>> lists = to_write_;
        if (rows.size() <= insertable) {
            for (ListToWrite<E> &to : lists) insert_rows(*frame_.avc, frame_.cells, rows, to);
            return;
        }
        for (; lists.size() >= few; lists = lists.subspan(few))
            hornbeam::write_lists<few>(*frame_.avc, frame_.cells, rows, lists.template first<few>());
        for (; !lists.empty(); lists = lists.subspan(1))
            hornbeam::write_lists<1>(*frame_.avc, frame_.cells, rows, lists.template first<1>());
    }
};

} // namespace hornbeam
