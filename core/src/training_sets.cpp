// Training sets, read from multiplicities and taken over to some of the rows.
#include "hornbeam/training_sets.hpp"

#include <algorithm>

namespace hornbeam {

TrainingSets::TrainingSets(std::span<const std::uint8_t> given, std::size_t width, std::size_t begin,
                           std::size_t end, Sharing sharing)
    : n_sets(static_cast<std::int32_t>(end - begin)) {
    const std::size_t n_rows = given.size() / width, k = end - begin;
    mask.resize(n_rows);
    bool repeated = false;
    std::size_t in = 0;
    for (std::size_t row = 0; row < n_rows; ++row) {
        const std::uint8_t *times = given.data() + row * width + begin;
        SetMask sets = 0;
        std::uint8_t any = 0;
        for (std::size_t s = 0; s < k; ++s) {
            sets |= SetMask{times[s] != 0} << s;
            any |= times[s];
        }
        mask[row] = sets;
        repeated |= any > 1;
        in += static_cast<std::size_t>(std::popcount(sets));
    }
    by_complement = !repeated && k > 1 && sharing != Sharing::overlapping &&
                    (sharing == Sharing::folds || 2 * in > n_rows * k);
    if (!repeated) return;
    multiplicity.resize(n_rows * k);
    for (std::size_t row = 0; row < n_rows; ++row)
        std::copy_n(given.data() + row * width + begin, k, multiplicity.data() + row * k);
}

void TrainingSets::leave_out(std::size_t row, std::size_t n_rows) {
    if (plain()) mask.assign(n_rows, 1);
    mask[row] = 0;
    const auto k = static_cast<std::size_t>(n_sets);
    if (repeats()) std::fill_n(multiplicity.data() + row * k, k, std::uint8_t{0});
}

TrainingSets TrainingSets::over(std::span<const std::uint32_t> rows) const {
    TrainingSets part;
    part.n_sets = n_sets;
    part.by_complement = by_complement;
    const auto k = static_cast<std::size_t>(n_sets);
    if (!plain()) part.mask.resize(rows.size());
    if (repeats()) part.multiplicity.resize(rows.size() * k);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!plain()) part.mask[i] = mask[rows[i]];
        if (repeats()) std::copy_n(multiplicity.data() + rows[i] * k, k, part.multiplicity.data() + i * k);
    }
    return part;
}

} // namespace hornbeam
