// Verifying trees and routing rows for Python.
#include <string>
#include <vector>

#include "bind.hpp"
#include "tree_arrays.hpp"

#include "hornbeam/route.hpp"
#include "hornbeam/verify.hpp"

namespace hornbeam {

namespace {

using Kinds = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Arrays = nb::typed<nb::dict, nb::str, nb::any>;
using Columns = nb::typed<nb::list, nb::any>;
using Paths = nb::typed<nb::tuple, nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>,
                        nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>>;
using Categories = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

[[noreturn]] void refuse_column(std::size_t i, const char *what) {
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

RouteColumn read_column(nb::handle item, std::size_t i, std::size_t n_rows, AttributeKind kind) {
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

/// The tuples keep the arrays alive for as long as the call lasts.
std::vector<RouteColumn> read_columns(const Router &router, const nb::list &columns, std::size_t n_rows) {
    if (nb::len(columns) != router.n_attributes())
        throw nb::value_error((std::to_string(nb::len(columns)) + " columns for the tree's " +
                               std::to_string(router.n_attributes()) + " attributes")
                                  .c_str());
    std::vector<RouteColumn> out;
    out.reserve(router.n_attributes());
    for (std::size_t i = 0; i < router.n_attributes(); ++i)
        out.push_back(read_column(columns[i], i, n_rows, router.attribute_kind(i)));
    return out;
}

std::vector<std::int32_t> find_leaves(const Router &router, const nb::list &columns, std::size_t n_rows,
                                      int threads) {
    std::vector<RouteColumn> read = read_columns(router, columns, n_rows);
    std::vector<std::int32_t> leaves(n_rows);
    SignalCancel cancel;
    nb::gil_scoped_release release;
    router.apply(read, n_rows, threads, leaves.data(), cancel);
    return leaves;
}

Paths find_paths(const Router &router, const Columns &columns, std::size_t n_rows, int threads) {
    std::vector<std::int32_t> leaves = find_leaves(router, columns, n_rows, threads);
    std::vector<std::int64_t> start(n_rows + 1);
    std::vector<std::int32_t> nodes;
    {
        SignalCancel cancel;
        nb::gil_scoped_release release;
        router.measure_paths(leaves.data(), n_rows, start.data(), cancel);
        nodes.resize(static_cast<std::size_t>(start.back()));
        router.write_paths(leaves.data(), n_rows, start.data(), nodes.data(), cancel);
    }
    return nb::make_tuple(own_array(std::move(start)), own_array(std::move(nodes)));
}

} // namespace

void bind_tree(nb::module_ &m) {
    nb::class_<Router>(m, "Router", "A tree made ready to send rows to their leaves.")
        .def(
            "__init__",
            [](Router *self, const Arrays &arrays, const Kinds &kinds) {
                new (self) Router(from_arrays(arrays), {kinds.data(), kinds.size()});
            },
            nb::arg("arrays"), nb::arg("attribute_kinds"))
        .def(
            "apply",
            [](const Router &self, const Columns &columns, std::size_t n_rows, int threads) {
                return own_array(find_leaves(self, columns, n_rows, threads));
            },
            nb::arg("columns"), nb::arg("n_rows"), nb::arg("threads") = 1,
            "The leaf (node index) of each row.")
        .def("path", &find_paths, nb::arg("columns"), nb::arg("n_rows"), nb::arg("threads") = 1,
             "The nodes on the path of each row: (indptr, indices).");
    m.def(
        "verify_tree",
        [](const Arrays &arrays, const Kinds &kinds, const Categories &n_categories) {
            if (kinds.size() != n_categories.size())
                throw nb::value_error("tree: attribute_kinds and n_categories differ in length");
            FlatTree tree = from_arrays(arrays);
            nb::gil_scoped_release release;
            verify_tree(tree, {kinds.data(), kinds.size()}, {n_categories.data(), n_categories.size()});
        },
        nb::arg("arrays"), nb::arg("attribute_kinds"), nb::arg("n_categories"),
        "Raises ValueError, in one line that names the node, where the arrays are no valid tree.");
}

} // namespace hornbeam
