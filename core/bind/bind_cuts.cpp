// Prefixes of a tree for Python. The arrays are those of a Tree, as in bind_prune.cpp.
#include "bind.hpp"

#include <nanobind/ndarray.h>

#include "pruning/cuts.hpp"
#include "route_columns.hpp"
#include "tree_arrays.hpp"

namespace hornbeam {

namespace {

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Wholes = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Nodes = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Found = nb::typed<nb::tuple, nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>,
                        nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>,
                        nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>>;

/// What prefixes ask of a tree.
FlatTree outline(const Arrays &arrays, const Numbers &mass) {
    FlatTree tree;
    read_array(arrays, "kind", tree.kind);
    read_array(arrays, "first_child", tree.first_child);
    read_array(arrays, "n_children", tree.n_children);
    read_array(arrays, "rows", tree.rows);
    read_array(arrays, "gain", tree.gain);
    read_array(arrays, "impurity", tree.impurity);
    if (mass.size() != tree.n_nodes()) throw std::invalid_argument("not every node has a mass");
    return tree;
}

Found handed_out(Ends &&ends) {
    return nb::make_tuple(own_array(std::move(ends.end)), own_array(std::move(ends.leaves)),
                          own_array(std::move(ends.depth)));
}

Found by_cuts(const Arrays &arrays, const Numbers &mass, const Wholes &max_depth, const Wholes &min_split,
              const Numbers &min_decrease) {
    if (max_depth.size() != min_split.size() || min_split.size() != min_decrease.size())
        throw std::invalid_argument("not every cut has a depth, a size and a gain");
    SignalCancel cancel;
    const FlatTree tree = outline(arrays, mass);
    std::vector<Cut> cuts;
    for (std::size_t k = 0; k < min_split.size(); ++k)
        cuts.push_back({max_depth.data()[k], min_split.data()[k], min_decrease.data()[k]});
    Ends ends;
    {
        WithoutGil released(cancel);
        ends = ends_of_cuts(tree, {mass.data(), mass.size()}, cuts, cancel);
    }
    return handed_out(std::move(ends));
}

Found by_alphas(const Arrays &arrays, const Numbers &mass, const Numbers &alphas) {
    SignalCancel cancel;
    const FlatTree tree = outline(arrays, mass);
    Ends ends;
    {
        WithoutGil released(cancel);
        ends = ends_of_alphas(tree, {mass.data(), mass.size()}, {alphas.data(), alphas.size()}, cancel);
    }
    return handed_out(std::move(ends));
}

nb::dict cut(const Arrays &arrays, const Nodes &end) {
    SignalCancel cancel;
    const FlatTree tree = from_arrays(arrays);
    if (end.size() != tree.n_nodes()) throw std::invalid_argument("not every node has an end");
    Pruned rest;
    {
        WithoutGil released(cancel);
        rest = cut_tree(tree, {end.data(), end.size()}, cancel);
    }
    nb::dict out = to_arrays(std::move(rest.tree));
    out["origin"] = own_array(std::move(rest.origin)).cast();
    return out;
}

} // namespace

void bind_cuts(nb::module_ &m) {
    m.def("ends_of_cuts", &by_cuts, nb::arg("arrays"), nb::arg("mass"), nb::arg("max_depth"),
          nb::arg("min_split"), nb::arg("min_decrease"),
          "(ends, leaves, depth) of the prefixes of a tree that each cut leaves: ends[cut * nodes + node] is "
          "where examples that reach a node end, -1 where they go on.");
    m.def("ends_of_alphas", &by_alphas, nb::arg("arrays"), nb::arg("mass"), nb::arg("alphas"),
          "The same for cost-complexity pruning with each of the alphas.");
    m.def(
        "leaf_places",
        [](const Arrays &arrays) {
            FlatTree tree;
            read_array(arrays, "kind", tree.kind);
            read_array(arrays, "first_child", tree.first_child);
            read_array(arrays, "n_children", tree.n_children);
            return own_array(leaf_places(tree));
        },
        nb::arg("arrays"), "How many leaves come before each node, from left to right.");
    m.def("cut_tree", &cut, nb::arg("arrays"), nb::arg("end"), "The tree of one prefix, given its ends.");
}

} // namespace hornbeam
