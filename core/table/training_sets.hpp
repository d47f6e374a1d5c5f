// k training sets over the rows of one table: how often each row counts in each of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hornbeam {

/// A set of training sets: bit s is set s.
using SetMask = std::uint64_t;

/// How trees of several sets are grown: one after the other (S of paper 000), rows counted for the sets they
/// are in (OS, figure 3) or for those that leave them out (CV, figure 4), or whatever costs least. The trees
/// are the same.
enum class Sharing : std::uint8_t { automatic, serial, overlapping, folds };

/// How often each row counts in each of several sets, as they lie in memory.
struct RowTimes {
    const std::uint8_t *first = nullptr;
    std::size_t n_rows = 0, n_sets = 0;
    std::ptrdiff_t row_step = 0, set_step = 0;

    const std::uint8_t *of(std::size_t set) const {
        return first + static_cast<std::ptrdiff_t>(set) * set_step;
    }
};

/// Invariant: `mask` is empty where there is one set and every row counts once; `multiplicity` is row-major
/// [n_rows][n_sets] and empty where no row counts more than once.
struct TrainingSets {
    static constexpr std::int32_t most = 64; // that grow together

    std::int32_t n_sets = 1;
    std::vector<SetMask> mask; // by row: the sets in which it counts
    std::vector<std::uint8_t> multiplicity;
    /// Whether rows are counted for the sets that leave them out (figure 4 of paper 000) rather than for
    /// those they are in (figure 3). The trees are the same.
    bool by_complement = false;

    TrainingSets() = default;
    /// Sets [begin, end) of those given.
    TrainingSets(const RowTimes &given, std::size_t begin, std::size_t end, Sharing sharing);

    bool all_have_rows() const;
    /// The rows of the largest set, each as often as it counts; 0 where none counts more than once.
    std::size_t most_rows() const;
    bool plain() const { return mask.empty(); }
    bool repeats() const { return !multiplicity.empty(); }
    SetMask of(std::size_t row) const { return plain() ? 1 : mask[row]; }
    std::uint8_t count(std::size_t row, std::int32_t set) const {
        if (!repeats()) return static_cast<std::uint8_t>(of(row) >> set & 1);
        return multiplicity[row * static_cast<std::size_t>(n_sets) + static_cast<std::size_t>(set)];
    }
    /// How often a row counts in each set, multiplied; 0 behind the last.
    void write_counts(std::size_t row, std::uint32_t factor, std::span<std::uint32_t> to) const {
        const auto k = static_cast<std::size_t>(n_sets);
        if (repeats()) {
            const std::uint8_t *times = multiplicity.data() + row * k;
            for (std::size_t s = 0; s < k; ++s) to[s] = factor * times[s];
        } else {
            for (std::size_t s = 0; s < k; ++s) to[s] = factor * static_cast<std::uint32_t>(of(row) >> s & 1);
        }
        std::fill(to.begin() + static_cast<std::ptrdiff_t>(k), to.end(), 0u);
    }
    /// Takes a row out of every set.
    void leave_out(std::size_t row, std::size_t n_rows);
    /// The same sets over some of the rows, in their order.
    TrainingSets over(std::span<const std::uint32_t> rows) const;
};

} // namespace hornbeam
