// Verifying trees and routing rows for Python.
#include <string>
#include <vector>

#include "bind.hpp"
#include "routed_table.hpp"
#include "tree_arrays.hpp"

#include "tree/route.hpp"
#include "tree/verify.hpp"

namespace hornbeam {

namespace {

using Paths = nb::typed<nb::tuple, nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>,
                        nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>>;
using Categories = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using Starts = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Of the classes of each node the one of the largest sum, among equals the first. Where all of them are 0,
/// being too small for a double, it is the first class of all.
std::vector<std::int32_t> heaviest_classes(const Starts &start, const Categories &classes, const Sums &sums) {
    const std::int64_t *at = start.data(), n = static_cast<std::int64_t>(sums.size());
    if (start.size() == 0 || classes.size() != sums.size() || at[0] != 0 || at[start.size() - 1] != n)
        throw nb::value_error("tree: count_start, count_class and count do not fit each other");
    std::vector<std::int32_t> out(start.size() - 1);
    for (std::size_t node = 0; node < out.size(); ++node) {
        if (at[node] >= at[node + 1] || at[node + 1] > n)
            throw nb::value_error(("tree: node " + std::to_string(node) + " has no classes").c_str());
        std::int64_t best = at[node];
        for (std::int64_t i = best + 1; i < at[node + 1]; ++i)
            if (sums.data()[i] > sums.data()[best]) best = i;
        out[node] = classes.data()[sums.data()[best] == 0.0 ? 0 : best];
    }
    return out;
}

std::vector<std::int32_t> find_leaves(const Router &router, const nb::list &columns, std::size_t n_rows,
                                      int threads) {
    std::vector<RouteColumn> read = read_columns(router.attribute_kinds(), columns, n_rows);
    std::vector<std::int32_t> leaves(n_rows);
    SignalCancel cancel;
    WithoutGil released(cancel);
    router.apply(read, n_rows, threads, leaves.data(), cancel);
    return leaves;
}

Paths find_paths(const Router &router, const Columns &columns, std::size_t n_rows, int threads) {
    std::vector<std::int32_t> leaves = find_leaves(router, columns, n_rows, threads);
    std::vector<std::int64_t> start(n_rows + 1);
    std::vector<std::int32_t> nodes;
    {
        SignalCancel cancel;
        WithoutGil released(cancel);
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
                SignalCancel cancel;
                new (self) Router(from_arrays(arrays), {kinds.data(), kinds.size()}, cancel);
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
    nb::class_<RoutedTable>(m, "RoutedTable", "A table whose rows are sent down many trees.")
        .def(nb::init<const Columns &, std::size_t, const Kinds &>(), nb::arg("columns"), nb::arg("n_rows"),
             nb::arg("attribute_kinds"))
        .def(
            "leaves",
            [](const RoutedTable &self, const Arrays &arrays, const RowNumbers &rows, int threads) {
                return own_array(self.leaves(tests_from_arrays(arrays), self.checked(rows), threads));
            },
            nb::arg("arrays"), nb::arg("rows"), nb::arg("threads") = 1,
            "The leaf of each of some rows in a tree that the core has grown: it is not verified.");
    m.def(
        "heaviest_classes",
        [](const Starts &start, const Categories &classes, const Sums &sums) {
            return own_as<const std::int32_t>(heaviest_classes(start, classes, sums));
        },
        nb::arg("count_start"), nb::arg("count_class"), nb::arg("count"),
        "The class of the largest sum at each node, among equals the first.");
    m.def(
        "verify_tree",
        [](const Arrays &arrays, const Kinds &kinds, const Categories &n_categories) {
            if (kinds.size() != n_categories.size())
                throw nb::value_error("tree: attribute_kinds and n_categories differ in length");
            FlatTree tree = from_arrays(arrays);
            SignalCancel cancel;
            WithoutGil released(cancel);
            verify_tree(tree, {kinds.data(), kinds.size()}, {n_categories.data(), n_categories.size()},
                        cancel);
        },
        nb::arg("arrays"), nb::arg("attribute_kinds"), nb::arg("n_categories"),
        "Raises ValueError, in one line that names the node, where the arrays are no valid tree.");
}

} // namespace hornbeam
