// Training sets, read from multiplicities and taken over to some of the rows.
#include "table/training_sets.hpp"

#include <algorithm>

namespace hornbeam {

TrainingSets::TrainingSets(const RowTimes &given, std::size_t begin, std::size_t end, Sharing sharing)
    : n_sets(static_cast<std::int32_t>(end - begin)) {
    const std::size_t n_rows = given.n_rows, k = end - begin;
    mask.resize(n_rows);
    std::uint8_t most = 0;
    std::size_t in = 0;
    auto each_row = [&](std::size_t s, auto body) {
        const std::uint8_t *times = given.of(begin + s);
        if (given.row_step == 1)
            for (std::size_t row = 0; row < n_rows; ++row) body(row, times[row]);
        else
            for (std::size_t row = 0; row < n_rows; ++row)
                body(row, times[static_cast<std::ptrdiff_t>(row) * given.row_step]);
    };
    for (std::size_t s = 0; s < k; ++s) {
        std::uint8_t most_here = 0; // in registers: the loop is one over vectors then
        std::size_t in_here = 0;
        each_row(s, [&, of_row = mask.data()](std::size_t row, std::uint8_t times) {
            of_row[row] |= SetMask{times != 0} << s;
            most_here = std::max(most_here, times);
            in_here += times != 0;
        });
        most = std::max(most, most_here);
        in += in_here;
    }
    by_complement = most <= 1 && k > 1 && sharing != Sharing::overlapping &&
                    (sharing == Sharing::folds || 2 * in > n_rows * k);
    if (most <= 1) return;
    multiplicity.resize(n_rows * k);
    for (std::size_t s = 0; s < k; ++s)
        each_row(s, [&](std::size_t row, std::uint8_t times) { multiplicity[row * k + s] = times; });
}

bool TrainingSets::all_have_rows() const {
    SetMask seen = plain() ? 1 : 0;
    for (SetMask of_row : mask) seen |= of_row;
    return seen == ~SetMask{0} >> (most - n_sets);
}

std::size_t TrainingSets::most_rows() const {
    std::vector<std::size_t> rows(static_cast<std::size_t>(n_sets));
    for (std::size_t i = 0; i < multiplicity.size(); ++i) rows[i % rows.size()] += multiplicity[i];
    return *std::max_element(rows.begin(), rows.end());
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
