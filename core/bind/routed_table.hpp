// A table whose rows go down many trees: its columns are looked at once.
#pragma once

#include <span>
#include <vector>

#include "bind.hpp"
#include "route_columns.hpp"

#include "tree/route.hpp"

namespace hornbeam {

using RowNumbers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

class RoutedTable {
  public:
    RoutedTable(const nb::list &columns, std::size_t n_rows, const Kinds &kinds)
        : held_(columns), kinds_(kinds.data(), kinds.data() + kinds.size()),
          columns_(read_columns(kinds_, columns, n_rows)), n_rows_(n_rows) {}

    /// Row numbers of the table.
    std::span<const std::int64_t> checked(const RowNumbers &rows) const {
        std::span<const std::int64_t> named{rows.data(), rows.size()};
        for (std::int64_t row : named)
            if (row < 0 || static_cast<std::size_t>(row) >= n_rows_)
                throw nb::index_error("a row is not one of the table's");
        return named;
    }

    /// The leaf of each of some checked rows, in a tree that the core has grown.
    std::vector<std::int32_t> leaves(const FlatTree &tree, std::span<const std::int64_t> rows,
                                     int threads) const {
        std::vector<std::int32_t> found(rows.size());
        SignalCancel cancel;
        WithoutGil released(cancel);
        Router::trusting(tree, kinds_, cancel).apply_to(columns_, rows, threads, found.data(), cancel);
        return found;
    }

  private:
    nb::tuple held_; // a copy of the list: nobody takes the columns away
    std::vector<std::uint8_t> kinds_;
    std::vector<RouteColumn> columns_;
    std::size_t n_rows_;
};

} // namespace hornbeam
