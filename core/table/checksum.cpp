// Rows are hashed in blocks that stay in the nearest cache while their columns are added one after another.
#include "table/checksum.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

namespace hornbeam {

namespace {

constexpr std::size_t block = 1024;

/// The end of SplitMix64.
std::uint64_t mixed(std::uint64_t word) {
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
    return word ^ (word >> 31);
}

template <class T> std::uint64_t word_of(T cell) {
    if constexpr (std::is_floating_point_v<T>) {
        const double value = static_cast<double>(cell) + 0.0;
        const auto bits = std::bit_cast<std::uint64_t>(value);
        return value == value ? bits ^ (bits >> 32) : missing_word; // small numbers differ in high bits only
    } else if constexpr (std::is_signed_v<T>) {
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(cell));
    } else {
        return cell;
    }
}

template <class T>
void add_column(const T *cells, const WordColumn &column, std::size_t begin, std::span<std::uint64_t> rows) {
    const std::uint64_t factor = column.factor;
    const std::size_t n = rows.size();
    cells += begin;
    if (!column.table.empty()) {
        const std::uint64_t *table = column.table.data();
        const std::uint64_t last = column.table.size() - 1;
        for (std::size_t i = 0; i < n; ++i) rows[i] += table[std::min(word_of(cells[i]), last)];
    } else if (column.missing) {
        const std::uint8_t *missing = column.missing + begin;
        for (std::size_t i = 0; i < n; ++i)
            rows[i] += (missing[i] ? missing_word : word_of(cells[i])) * factor;
    } else {
        for (std::size_t i = 0; i < n; ++i) rows[i] += word_of(cells[i]) * factor;
    }
}

/// Hands the sums of the words of each row to `use`, block by block, with the number of the first.
template <class Use> void visit_rows(std::span<const WordColumn> columns, std::size_t n_rows, Use use) {
    std::array<std::uint64_t, block> room;
    for (std::size_t begin = 0; begin < n_rows; begin += block) {
        const std::span<std::uint64_t> rows(room.data(), std::min(block, n_rows - begin));
        std::ranges::fill(rows, 0);
        for (const WordColumn &column : columns)
            std::visit([&](auto cells) { add_column(cells, column, begin, rows); }, column.cells);
        use(begin, rows);
    }
}

} // namespace

std::uint64_t checksum(std::span<const WordColumn> columns, std::size_t n_rows) {
    std::uint64_t sum = 0;
    visit_rows(columns, n_rows, [&](std::size_t, std::span<const std::uint64_t> rows) {
        for (std::uint64_t row : rows) sum += mixed(row);
    });
    return sum;
}

void hash_rows(std::span<const WordColumn> columns, std::span<std::uint64_t> hashes) {
    visit_rows(columns, hashes.size(), [&](std::size_t begin, std::span<const std::uint64_t> rows) {
        for (std::size_t i = 0; i < rows.size(); ++i) hashes[begin + i] = mixed(rows[i]);
    });
}

std::size_t deal_folds(const WordColumn &key, std::uint16_t k, std::uint64_t seed,
                       std::span<std::uint16_t> folds) {
    std::size_t missing = 0;
    visit_rows({&key, 1}, folds.size(), [&](std::size_t begin, std::span<const std::uint64_t> rows) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            missing += rows[i] == missing_word;
            folds[begin + i] = static_cast<std::uint16_t>(mixed(mixed(rows[i]) ^ seed) % k);
        }
    });
    return missing;
}

} // namespace hornbeam
