// Native columns, tuples (kind, values, missing, n_categories), as the core walks them: never copied.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "tree/route.hpp"

namespace hornbeam {

namespace nb = nanobind;

using Kinds = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Arrays = nb::typed<nb::dict, nb::str, nb::any>;
using Columns = nb::typed<nb::list, nb::any>;

[[noreturn]] inline void refuse_column(std::size_t i, const char *what) {
    throw nb::value_error(("column " + std::to_string(i) + ": " + what).c_str());
}

template <class T> void point_at(RouteColumn &out, nb::handle values, std::size_t i, std::size_t n_rows) {
    nb::ndarray<const T, nb::ndim<1>, nb::device::cpu> array;
    if (!nb::try_cast(values, array, false))
        refuse_column(i, "the values are not a one-dimensional array of its type");
    if (array.shape(0) != n_rows) refuse_column(i, "the values are not as long as the table");
    out.data = reinterpret_cast<const char *>(array.data());
    out.stride = static_cast<std::ptrdiff_t>(array.stride(0) * sizeof(T));
}

inline RouteColumn read_column(nb::handle item, std::size_t i, std::size_t n_rows, AttributeKind kind) {
    if (!nb::isinstance<nb::tuple>(item) || nb::len(item) != 4)
        refuse_column(i, "not a tuple (kind, values, missing, n_categories)");
    auto column = nb::borrow<nb::tuple>(item);
    int given = -1;
    if (!nb::try_cast(column[0], given, false) || given != static_cast<int>(kind))
        refuse_column(i, "its kind is not that of the tree's attribute");
    RouteColumn out;
    out.kind = kind;
    if (kind == AttributeKind::floating) point_at<double>(out, column[1], i, n_rows);
    if (kind == AttributeKind::nominal) point_at<std::int32_t>(out, column[1], i, n_rows);
    if (kind != AttributeKind::integer) return out;
    point_at<std::int64_t>(out, column[1], i, n_rows);
    if (column[2].is_none()) return out;
    RouteColumn mask;
    point_at<std::uint8_t>(mask, column[2], i, n_rows);
    out.missing = reinterpret_cast<const std::uint8_t *>(mask.data);
    out.missing_stride = mask.stride;
    return out;
}

/// One column for each attribute, of its kind. The tuples keep the arrays alive for as long as the call
/// lasts.
inline std::vector<RouteColumn> read_columns(std::span<const std::uint8_t> kinds, const nb::list &columns,
                                             std::size_t n_rows) {
    if (nb::len(columns) != kinds.size())
        throw nb::value_error((std::to_string(nb::len(columns)) + " columns for the tree's " +
                               std::to_string(kinds.size()) + " attributes")
                                  .c_str());
    std::vector<RouteColumn> out;
    out.reserve(kinds.size());
    for (std::size_t i = 0; i < kinds.size(); ++i)
        out.push_back(read_column(columns[i], i, n_rows, static_cast<AttributeKind>(kinds[i])));
    return out;
}

} // namespace hornbeam
