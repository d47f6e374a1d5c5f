// An attribute as the grower sees it: encoded once, never sorted again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "running/cancel.hpp"

namespace hornbeam {

/// One entry of a presorted list: dense rank of the value in the upper half, row in the lower.
using Entry = std::uint64_t;
inline Entry make_entry(std::uint32_t rank, std::uint32_t row) { return (Entry{rank} << 32) | row; }
inline std::uint32_t rank_of(Entry e) { return static_cast<std::uint32_t>(e >> 32); }
inline std::uint32_t row_of(Entry e) { return static_cast<std::uint32_t>(e); }

/// Columns of no more different values are encoded as ranks by row, and listed only on demand.
inline constexpr std::uint32_t most_ranked_values = 512;

/// `entries`: rows in ascending order of value, equal values in ascending order of row; missing rows left
/// out. `ranks`, where values are few: the rank of each row, n_ranks() where it is missing; then `entries`
/// may be empty. Invariant: ranks are dense from 0, and `floats` or `integers` (never both) holds the value
/// of each rank.
struct NumericColumn {
    std::vector<Entry> entries;
    std::vector<std::uint16_t> ranks;
    std::vector<double> floats;
    std::vector<std::int64_t> integers;
    bool is_integer = false;
    std::size_t n_ranks() const { return is_integer ? integers.size() : floats.size(); }
    /// Fills `entries` where so far there are only `ranks`.
    void list_rows(Cancel &cancel);
};

/// Category code per row in the order of the labels' UTF-8 bytes; -1 is missing.
struct NominalColumn {
    std::vector<std::int32_t> codes;
    std::int32_t n_categories = 0;
};

using Column = std::variant<NumericColumn, NominalColumn>;

struct EncodedTable {
    std::size_t n_rows = 0;
    std::vector<Column> columns;
};

/// A numeric array as it arrives: any stride, no copy.
template <class T> struct Strided {
    const T *data = nullptr;
    std::ptrdiff_t stride = 1; // in elements
    const T &operator[](std::size_t i) const { return data[static_cast<std::ptrdiff_t>(i) * stride]; }
};

/// NaN is missing; -0.0 and 0.0 share a rank; infinities are ordinary values.
NumericColumn encode_floats(Strided<double> values, std::size_t n, Cancel &cancel);
/// `missing`, where given, is nonzero for a missing row.
NumericColumn encode_integers(Strided<std::int64_t> values, const std::uint8_t *missing, std::size_t n,
                              Cancel &cancel);

/// What `encode` reads: memory of the caller, untouched while the call lasts.
struct IntegerSource {
    Strided<std::int64_t> values;
    const std::uint8_t *missing = nullptr;
};
struct NominalSource {
    const std::int32_t *codes = nullptr;
    std::int32_t n_categories = 0;
};
using Source = std::variant<Strided<double>, IntegerSource, NominalSource>;

/// Encodes columns of `n_rows` (below 2^31) rows on `threads` threads, which do not change the result.
/// Polls `cancel` from the calling thread. Throws std::invalid_argument for a code out of range.
EncodedTable encode(std::span<const Source> sources, std::size_t n_rows, unsigned threads, Cancel &cancel);

} // namespace hornbeam
