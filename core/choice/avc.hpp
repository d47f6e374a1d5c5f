// AVC-groups (RainForest): counts by value and class of the attributes that take few values. A group is
// counted once; below, a node's largest child has what its siblings leave, and no sorted list is touched.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "criteria/statistics.hpp"
#include "kernels/kernels.hpp"
#include "table/column.hpp"
#include "table/training_sets.hpp"

namespace hornbeam {

/// A row of class counts for each value of an attribute, in order; behind them one for missing.
struct AvcSlot {
    std::int32_t attribute = 0;
    bool nominal = false;
    std::uint32_t begin = 0; // its first cell
    std::uint32_t n_values = 0;
    std::uint32_t place = 0; // numeric: among the lists that may be written
};

/// Counts of a cell, where several lanes are counted: one for each set, one for the whole, and some to fill a
/// vector. Never 64: the cells of all attributes would then share a few lines of the cache.
inline constexpr std::size_t columns_for(std::size_t n_sets) {
    if (n_sets == 1) return 1;
    const std::size_t columns = (n_sets + lane_width) / lane_width * lane_width;
    return columns % 64 == 0 ? columns + lane_width : columns;
}
inline constexpr std::size_t most_columns = columns_for(TrainingSets::most);

/// When attributes of few values are counted by value rather than listed in order. The trees are the same.
enum class CountValues : std::uint8_t { where_it_pays, always, never };

/// Which attributes are counted, and in which cells.
struct AvcLayout {
    std::vector<AvcSlot> slots;
    std::vector<std::int32_t> slot_of; // by attribute; -1: not counted
    std::uint32_t n_classes = 0, n_cells = 0;
    std::uint32_t width = 0;             // cells of a row: the classes, and some to fill a vector
    std::size_t columns = 1;             // of a cell, where several lanes are counted
    std::vector<std::uint16_t> value_at; // of the attribute, by the first cell of its row
    double values_cost = 0.0;            // of looking at every value of every slot
    std::size_t n_numeric = 0;           // slots: their lists may be written
    bool always = false;

    AvcLayout() = default;
    AvcLayout(const EncodedTable &table, std::size_t n_classes, std::size_t n_sets, CountValues when);

    bool empty() const { return slots.empty(); }
    const AvcSlot *find(std::int32_t attribute) const {
        std::int32_t s = empty() ? -1 : slot_of[static_cast<std::size_t>(attribute)];
        return s < 0 ? nullptr : &slots[static_cast<std::size_t>(s)];
    }
    /// Whether a node of n rows is better looked at value by value than row by row. `together`: whether that
    /// is done once for all lanes, either way.
    bool pays(std::size_t n, std::size_t lanes, bool together) const {
        if (empty() || always) return !empty();
        const bool once = together && lanes > 1;
        const std::size_t lists = once ? n_numeric : 0;
        const double by_row = static_cast<double>((slots.size() - lists) * lanes) * row_cost() +
                              static_cast<double>(lists) * shared_row_cost();
        const double by_value = once ? static_cast<double>(n_cells * columns) * shared_cell_cost
                                     : static_cast<double>(lanes) * values_cost;
        return static_cast<double>(n) * by_row >= by_value;
    }
    /// Whether lanes whose rows repeat are better counted as one group than each by itself.
    bool pays_together(std::size_t n, std::size_t lanes) const {
        return always || n * lanes * slots.size() >= counts_a_row * n_cells * columns;
    }
    /// Whether sets whose rows repeat may stay together though so many attributes, of all, have lists: a list
    /// is copied for each of them.
    static constexpr bool nearly_all(std::size_t listed, std::size_t all) { return listed * 64 <= all; }
    /// How many sets may be counted as one group, the counts of this layout of one set for each of them; 1
    /// where too many attributes are not counted at all.
    std::size_t sets_together(const EncodedTable &table) const;

  private:
    // Nanoseconds, measured: a row of a sorted list (scan and partition), and a value of a slot.
    double row_cost() const { return n_classes == 2 ? 1.0 : 3.0; }
    double shared_row_cost() const { return n_classes == 2 ? 4.0 : 6.0; }
    static constexpr double shared_cell_cost = 1.0; // of a column
    // A row of a lane that is alone takes as long as so many counts of a group.
    static constexpr std::size_t counts_a_row = 2;
    double value_cost() const { return n_classes == 2 ? 4.0 : 8.0 + 0.25 * n_classes; }
};

/// For each row and slot, the cell where the counts of its value begin; row-major.
using AvcCells = std::vector<std::uint16_t>;
AvcCells read_cells(const AvcLayout &layout, const EncodedTable &table, Cancel &cancel);

/// The counts of a node; empty where it has none.
using AvcGroup = std::vector<std::uint32_t>;

/// The counts of a row's values and class: a cell of every slot, `columns` wide.
struct RowCells {
    std::uint32_t *of_class = nullptr;
    const std::uint16_t *cell = nullptr;
    std::size_t n_slots = 0, columns = 1;

    template <class Visit> void each(Visit visit) const {
        for (std::size_t s = 0; s < n_slots; ++s) visit(of_class + cell[s] * columns);
    }
};

/// Calls `add(id, counts)` for every row.
template <class E, class Add> void add_rows(AvcGroup &group, const AvcLayout &layout, std::size_t columns,
                                            std::span<const std::uint16_t> cells, std::span<const E> rows,
                                            std::span<const ClassCode> classes, Add add) {
    const std::size_t n_slots = layout.slots.size();
    for (E e : rows) {
        const std::uint32_t id = Packed<E>::id(e);
        add(id,
            RowCells{group.data() + classes[id] * columns, cells.data() + id * n_slots, n_slots, columns});
    }
}

inline void subtract(AvcGroup &group, const AvcGroup &part) {
    for (std::size_t i = 0; i < group.size(); ++i) group[i] -= part[i];
}

/// The sorted list of a counted attribute over the rows of a node, to be written where there is room for all
/// of them.
template <class E> struct ListToWrite {
    const AvcSlot *slot = nullptr;
    E *list = nullptr;
    std::uint32_t size = 0; // once it is written: of the rows that have a value
};

/// Writes the lists of a few attributes: many rows share a value, and a row would wait for the place that the
/// row before it wrote.
template <std::size_t few, class E>
void write_lists(const AvcLayout &layout, std::span<const std::uint16_t> cells, std::span<const E> rows,
                 std::span<ListToWrite<E>, few> lists) {
    const std::size_t n_slots = layout.slots.size();
    std::size_t column[few];
    std::uint32_t place[few][most_ranked_values + 1];
    for (std::size_t k = 0; k < few; ++k) {
        column[k] = static_cast<std::size_t>(lists[k].slot - layout.slots.data());
        std::fill_n(place[k], lists[k].slot->n_values + 1, 0u);
    }
    auto each_value = [&](auto visit) {
        for (E e : rows) {
            const std::uint16_t *cell = cells.data() + Packed<E>::id(e) * n_slots;
            for (std::size_t k = 0; k < few; ++k) visit(e, k, layout.value_at[cell[column[k]]]);
        }
    };
    each_value([&](E, std::size_t k, std::uint32_t v) { ++place[k][v]; });
    for (std::size_t k = 0; k < few; ++k) {
        // Rows without a value come behind the others, where nobody looks.
        std::uint32_t begin = 0;
        for (std::uint32_t v = 0; v <= lists[k].slot->n_values; ++v) {
            lists[k].size = begin;
            begin += std::exchange(place[k][v], begin);
        }
    }
    each_value([&](E e, std::size_t k, std::uint32_t v) {
        lists[k].list[place[k][v]++] = (E{v} << Packed<E>::rank_shift) | (e & Packed<E>::low);
    });
}

/// The same of one attribute, and of few rows.
template <class E> void insert_rows(const AvcLayout &layout, std::span<const std::uint16_t> cells,
                                    std::span<const E> rows, ListToWrite<E> &to) {
    const std::size_t n_slots = layout.slots.size();
    const std::uint16_t *cell = cells.data() + (to.slot - layout.slots.data());
    for (E e : rows) {
        const std::uint32_t v = layout.value_at[cell[Packed<E>::id(e) * n_slots]];
        if (v == to.slot->n_values) continue;
        std::uint32_t at = to.size++;
        for (; at > 0 && Packed<E>::rank(to.list[at - 1]) > v; --at) to.list[at] = to.list[at - 1];
        to.list[at] = (E{v} << Packed<E>::rank_shift) | (e & Packed<E>::low);
    }
}

} // namespace hornbeam
