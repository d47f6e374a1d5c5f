// Partitioning relations by example, and finding their rows by value.
#include "first_order/relation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hornbeam {

double ValueDomain::float_threshold(Code lo, Code hi) const {
    const double low = floats[static_cast<std::size_t>(lo)], high = floats[static_cast<std::size_t>(hi)];
    const double t = low / 2 + high / 2;
    return t == high || !std::isfinite(t) ? low : t;
}

std::int64_t ValueDomain::integer_threshold(Code lo, Code hi) const {
    const __int128 sum = static_cast<__int128>(integers[static_cast<std::size_t>(lo)]) +
                         integers[static_cast<std::size_t>(hi)];
    return static_cast<std::int64_t>(sum >> 1); // floor
}

Code ValueDomain::cut_between(Code lo, Code hi) const {
    auto last_of = [&](const auto &values, auto t) {
        auto end = values.begin() + hi;
        return static_cast<Code>(std::upper_bound(values.begin() + lo, end, t) - values.begin()) - 1;
    };
    return kind == Kind::integers ? last_of(integers, integer_threshold(lo, hi))
                                  : last_of(floats, float_threshold(lo, hi));
}

namespace {

constexpr std::uint32_t counted = 1u << 16; // rows; more take long to sort, and no stop is seen meanwhile

/// The rows from `begin` to `end` by (code, row), in time that their number and that of the codes say.
void sort_by_counting(const std::vector<Code> &column, std::uint32_t begin, std::uint32_t end,
                      std::vector<std::uint32_t> &order, Cancel &cancel) {
    Pace pace(cancel, 5);
    Code most = null_code;
    for (std::uint32_t row = begin; row < end; ++row) most = std::max(most, column[row]);
    auto place = [&](std::uint32_t row) { return static_cast<std::size_t>(column[row] - null_code); };
    std::vector<std::uint32_t> next(static_cast<std::size_t>(most - null_code) + 2, 0);
    for (std::uint32_t row = begin; row < end; ++row) {
        pace.step();
        ++next[place(row) + 1];
    }
    next[0] = begin;
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (std::uint32_t row = begin; row < end; ++row) {
        pace.step();
        order[next[place(row)]++] = row;
    }
}

} // namespace

Relation::Relation(std::span<const std::span<const Code>> columns, std::span<const Code> owner, bool shared,
                   std::size_t n_examples, int key, Cancel &cancel)
    : shared_(shared), key_(key) {
    if (shared) {
        for (std::span<const Code> column : columns) columns_.emplace_back(column.begin(), column.end());
        n_rows_ = columns.empty() ? 0 : columns[0].size();
    } else {
        partition(columns, owner, n_examples, cancel);
    }
    index(n_examples, cancel);
}

void Relation::partition(std::span<const std::span<const Code>> columns, std::span<const Code> owner,
                         std::size_t n_examples, Cancel &cancel) {
    start_.assign(n_examples + 1, 0);
    bool in_order = true;
    for (std::size_t row = 0; row < owner.size(); ++row) {
        if (owner[row] >= 0) ++start_[static_cast<std::size_t>(owner[row]) + 1];
        in_order = in_order && owner[row] >= 0 && (row == 0 || owner[row - 1] <= owner[row]);
    }
    std::partial_sum(start_.begin(), start_.end(), start_.begin());
    n_rows_ = start_.back();
    cancel.poll();
    if (!in_order) {
        source_.resize(n_rows_);
        std::vector<std::uint32_t> next(start_.begin(), start_.end() - 1);
        for (std::size_t row = 0; row < owner.size(); ++row)
            if (owner[row] >= 0)
                source_[next[static_cast<std::size_t>(owner[row])]++] = static_cast<std::uint32_t>(row);
    }
    for (std::span<const Code> column : columns) {
        cancel.poll();
        std::vector<Code> &to = columns_.emplace_back(n_rows_);
        for (std::uint32_t row = 0; row < n_rows_; ++row) to[row] = column[source_of(row)];
    }
}

void Relation::index(std::size_t n_examples, Cancel &cancel) {
    const std::size_t parts = shared_ ? 1 : n_examples;
    bool needed = false;
    for (std::size_t e = 0; e < parts && !needed; ++e) {
        const RowRange rows = rows_of(e);
        needed = rows.end - rows.begin > scanned;
    }
    if (!needed) return;
    Pace pace(cancel, 500);
    for (const std::vector<Code> &column : columns_) {
        std::vector<std::uint32_t> &order = index_.emplace_back(n_rows_);
        std::iota(order.begin(), order.end(), 0u);
        for (std::size_t e = 0; e < parts; ++e) {
            pace.step();
            const RowRange rows = rows_of(e);
            if (rows.end - rows.begin <= scanned) continue;
            if (rows.end - rows.begin > counted) {
                sort_by_counting(column, rows.begin, rows.end, order, cancel);
                continue;
            }
            std::sort(order.begin() + rows.begin, order.begin() + rows.end,
                      [&](std::uint32_t a, std::uint32_t b) {
                          return column[a] != column[b] ? column[a] < column[b] : a < b;
                      });
        }
    }
}

RowRange Relation::searched(RowRange all, std::size_t column, Code value) const {
    const std::vector<std::uint32_t> &order = index_[column];
    const Code *cells = columns_[column].data();
    auto first = order.begin() + all.begin, last = order.begin() + all.end;
    auto low = std::lower_bound(first, last, value, [&](std::uint32_t r, Code v) { return cells[r] < v; });
    auto high = std::upper_bound(low, last, value, [&](Code v, std::uint32_t r) { return v < cells[r]; });
    return {static_cast<std::uint32_t>(low - order.begin()), static_cast<std::uint32_t>(high - order.begin()),
            order.data()};
}

std::size_t Relation::bytes() const {
    std::size_t all = (start_.capacity() + source_.capacity()) * sizeof(std::uint32_t);
    for (const auto &column : columns_) all += column.capacity() * sizeof(Code);
    for (const auto &order : index_) all += order.capacity() * sizeof(std::uint32_t);
    return all;
}

} // namespace hornbeam
