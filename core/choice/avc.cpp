// Which attributes are counted by value, and the cells of their rows.
#include "choice/avc.hpp"

namespace hornbeam {

namespace {

constexpr std::size_t most_cells = std::size_t{1} << 16;  // cells are numbered by 16 bits
constexpr std::size_t most_counts = std::size_t{1} << 18; // of a node: they should stay in a cache

/// How many values a column has, where they may be counted.
std::size_t values_of(const Column &column) {
    if (const auto *numeric = std::get_if<NumericColumn>(&column))
        return numeric->ranks.empty() ? 0 : numeric->n_ranks();
    return static_cast<std::size_t>(std::get<NominalColumn>(column).n_categories);
}

/// Rows of counts fill whole vectors, where there are more than two classes. Of several sets a cell is a
/// vector by itself: what fills a row of few classes would be most of the memory.
std::uint32_t width_for(std::uint32_t classes, std::size_t n_sets) {
    const std::uint32_t vector = classes <= 2 ? 2 : n_sets > 1 && classes <= 16 ? 4 : classes <= 8 ? 8 : 16;
    return (classes + vector - 1) / vector * vector;
}

} // namespace

AvcLayout::AvcLayout(const EncodedTable &table, std::size_t classes, std::size_t n_sets, CountValues when)
    : slot_of(table.columns.size(), -1), n_classes(static_cast<std::uint32_t>(classes)),
      width(width_for(n_classes, n_sets)), columns(columns_for(n_sets)), always(when == CountValues::always) {
    if (when == CountValues::never) return;
    for (std::size_t a = 0; a < table.columns.size(); ++a) {
        const std::size_t values = values_of(table.columns[a]), cells = (values + 1) * width;
        const double cost = static_cast<double>(values) * value_cost();
        const bool few = values >= 2 && values <= most_ranked_values && n_cells + cells <= most_cells &&
                         (n_cells + cells) * columns <= most_counts;
        if (!few || !(always || static_cast<double>(table.n_rows) * row_cost() >= cost)) continue;
        slot_of[a] = static_cast<std::int32_t>(slots.size());
        slots.push_back({static_cast<std::int32_t>(a),
                         std::holds_alternative<NominalColumn>(table.columns[a]), n_cells,
                         static_cast<std::uint32_t>(values), static_cast<std::uint32_t>(n_numeric)});
        value_at.resize(n_cells + cells);
        for (std::size_t v = 0; v <= values; ++v)
            value_at[n_cells + v * width] = static_cast<std::uint16_t>(v);
        n_cells += static_cast<std::uint32_t>(cells);
        values_cost += cost;
        n_numeric += std::holds_alternative<NumericColumn>(table.columns[a]);
    }
}

std::size_t AvcLayout::sets_together(const EncodedTable &table) const {
    std::size_t listed = 0;
    for (std::size_t a = 0; a < table.columns.size(); ++a)
        listed += values_of(table.columns[a]) != 1 && find(static_cast<std::int32_t>(a)) == nullptr;
    if (!nearly_all(listed, table.columns.size())) return 1;
    std::size_t sets = TrainingSets::most;
    while (sets > 1 && columns_for(sets) * n_cells > most_counts) --sets;
    return sets;
}

AvcCells read_cells(const AvcLayout &layout, const EncodedTable &table, Cancel &cancel) {
    const std::size_t n_slots = layout.slots.size();
    AvcCells cells(table.n_rows * n_slots);
    // A few rows of all slots at a time: their cells share cache lines.
    constexpr std::size_t few = 512;
    for (std::size_t lo = 0; lo < table.n_rows; lo += few) {
        const std::size_t hi = std::min(lo + few, table.n_rows);
        cancel.poll();
        for (std::size_t s = 0; s < n_slots; ++s) {
            const AvcSlot &slot = layout.slots[s];
            auto write = [&](auto value) {
                for (std::size_t row = lo; row < hi; ++row)
                    cells[row * n_slots + s] =
                        static_cast<std::uint16_t>(slot.begin + value(row) * layout.width);
            };
            const Column &column = table.columns[static_cast<std::size_t>(slot.attribute)];
            if (const auto *numeric = std::get_if<NumericColumn>(&column)) {
                write([ranks = numeric->ranks.data()](std::size_t row) { return std::uint32_t{ranks[row]}; });
            } else {
                write([codes = std::get<NominalColumn>(column).codes.data(), &slot](std::size_t row) {
                    return codes[row] < 0 ? slot.n_values : static_cast<std::uint32_t>(codes[row]);
                });
            }
        }
    }
    return cells;
}

} // namespace hornbeam
