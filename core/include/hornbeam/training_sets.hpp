// k training sets over the rows of one table: how often each row counts in each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hornbeam {

/// Invariant: `multiplicity` is row-major [n_rows][n_sets]; it is empty where there is one set and every row
/// counts once.
struct TrainingSets {
    std::int32_t n_sets = 1;
    std::vector<std::uint8_t> multiplicity;

    bool plain() const { return multiplicity.empty(); }
    std::uint8_t count(std::size_t row, std::int32_t set) const {
        return plain() ? 1
                       : multiplicity[row * static_cast<std::size_t>(n_sets) + static_cast<std::size_t>(set)];
    }
};

} // namespace hornbeam
