// Hashes of rows: a cell is a word, a row the mixed sum of its words, a checksum the sum of its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

namespace hornbeam {

/// The word of a missing cell.
inline constexpr std::uint64_t missing_word = 0x9E3779B97F4A7C15u;

using Cells = std::variant<const std::int8_t *, const std::int16_t *, const std::int32_t *,
                           const std::int64_t *, const std::uint8_t *, const std::uint16_t *,
                           const std::uint32_t *, const std::uint64_t *, const float *, const double *>;

/// The cells of a column and what their words are multiplied by. An integer is its own word; a float's are
/// its bits as a double, -0.0 being 0.0 and NaN missing. With a table, cells are places in it (one beyond is
/// the last), and its words are taken as they are.
struct WordColumn {
    Cells cells;
    const std::uint8_t *missing = nullptr; // not of floats and places
    std::uint64_t factor = 1;
    std::span<const std::uint64_t> table;
};

/// The sum of the mixed rows, modulo 2^64.
std::uint64_t checksum(std::span<const WordColumn> columns, std::size_t n_rows);

/// The mixed rows.
void hash_rows(std::span<const WordColumn> columns, std::span<std::uint64_t> hashes);

/// The fold of each row, 0 to k - 1, by its key and a word of the seed; how many keys are missing.
std::size_t deal_folds(const WordColumn &key, std::uint16_t k, std::uint64_t seed,
                       std::span<std::uint16_t> folds);

} // namespace hornbeam
