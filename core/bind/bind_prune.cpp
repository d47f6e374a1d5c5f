// Pruning for Python: arrays of a tree in, arrays of another out.
#include "bind.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include "hornbeam/prune.hpp"
#include "hornbeam/verify.hpp"
#include "route_columns.hpp"
#include "tree_arrays.hpp"

namespace hornbeam {

namespace {

using Classes = nb::ndarray<const ClassCode, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Steps = nb::typed<nb::tuple, nb::ndarray<nb::numpy, double, nb::ndim<1>>,
                        nb::ndarray<nb::numpy, double, nb::ndim<1>>>;

using Said = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// The arrays of the tree, and `origin` besides.
nb::dict handed_out(Pruned &&pruned) {
    nb::dict out = to_arrays(std::move(pruned.tree));
    out["origin"] = own_array(std::move(pruned.origin)).cast();
    return out;
}

/// Arrays of Python as PruneRows sees them; they stay alive while the call lasts.
struct Given {
    std::vector<RouteColumn> columns;
    Kinds kinds;
    Classes classes;
    Values values;
    PruneRows rows;
};

void read_rows(Given &given, const FlatTree &tree, const Kinds &kinds, const Columns &columns,
               const nb::object &target) {
    given.kinds = kinds;
    PruneRows &rows = given.rows;
    rows.attribute_kinds = {kinds.data(), kinds.size()};
    SignalCancel cancel;
    verify_tree(tree, rows.attribute_kinds, {}, cancel);
    if (tree.n_classes > 0) {
        given.classes = nb::cast<Classes>(target);
        rows.classes = {given.classes.data(), given.classes.size()};
        rows.n_rows = rows.classes.size();
        for (ClassCode code : rows.classes)
            if (code >= tree.n_classes) throw std::invalid_argument("a class code is not below n_classes");
    } else {
        given.values = nb::cast<Values>(target);
        rows.values = {given.values.data(), given.values.size()};
        rows.n_rows = given.values.shape(0);
        if (given.values.shape(1) != static_cast<std::size_t>(tree.n_targets))
            throw std::invalid_argument("the target has not as many columns as the tree has targets");
    }
    given.columns = read_columns(rows.attribute_kinds, columns, rows.n_rows);
    rows.columns = given.columns;
}

nb::dict by_errors(const Arrays &arrays, const Kinds &kinds, const Columns &columns, const nb::object &target,
                   double confidence, const std::string &criterion) {
    FlatTree tree = from_arrays(arrays);
    Pruned pruned;
    if (tree.n_classes == 0) throw std::invalid_argument("error-based pruning is for classes");
    if (!(confidence > 0.0 && confidence <= 1.0))
        throw std::invalid_argument("confidence is not above 0 and up to 1");
    Given given;
    read_rows(given, tree, kinds, columns, target);
    SignalCancel cancel;
    {
        nb::gil_scoped_release release;
        pruned = prune_by_errors(tree, given.rows, confidence, criterion, cancel);
    }
    return handed_out(std::move(pruned));
}

nb::dict by_validation(const Arrays &arrays, const Kinds &kinds, const Columns &columns,
                       const nb::object &target, int threads) {
    FlatTree tree = from_arrays(arrays);
    Pruned pruned;
    Given given;
    read_rows(given, tree, kinds, columns, target);
    SignalCancel cancel;
    {
        nb::gil_scoped_release release;
        pruned = prune_by_validation(tree, given.rows, threads, cancel);
    }
    return handed_out(std::move(pruned));
}

/// The tree, known to be one; of its attributes only their number is looked at.
FlatTree verified(const Arrays &arrays, const Kinds &kinds) {
    FlatTree tree = from_arrays(arrays);
    SignalCancel cancel;
    verify_tree(tree, {kinds.data(), kinds.size()}, {}, cancel);
    return tree;
}

nb::dict by_complexity(const Arrays &arrays, const Kinds &kinds, double alpha) {
    FlatTree tree = verified(arrays, kinds);
    Pruned pruned;
    SignalCancel cancel;
    {
        nb::gil_scoped_release release;
        pruned = prune_by_complexity(tree, {}, alpha, cancel);
    }
    return handed_out(std::move(pruned));
}

Steps complexity_path(const Arrays &arrays, const Kinds &kinds) {
    FlatTree tree = verified(arrays, kinds);
    CostPath path;
    SignalCancel cancel;
    {
        nb::gil_scoped_release release;
        path = cost_complexity_path(tree, {}, cancel);
    }
    return nb::make_tuple(own_array(std::move(path.alpha)), own_array(std::move(path.impurity)));
}

nb::dict collapsed(const Arrays &arrays, const Kinds &kinds, const Said &said) {
    FlatTree tree = verified(arrays, kinds);
    if (tree.n_classes == 0) throw std::invalid_argument("collapse is for classes");
    if (said.size() != tree.n_nodes()) throw std::invalid_argument("not every node predicts a class");
    return handed_out(collapse(tree, {said.data(), said.size()}));
}

} // namespace

void bind_prune(nb::module_ &m) {
    m.def("prune_by_errors", &by_errors, nb::arg("arrays"), nb::arg("attribute_kinds"), nb::arg("columns"),
          nb::arg("target"), nb::arg("confidence"), nb::arg("criterion"),
          "C4.5's error-based pruning; columns and target are those that the tree was grown from.");
    m.def("prune_by_validation", &by_validation, nb::arg("arrays"), nb::arg("attribute_kinds"),
          nb::arg("columns"), nb::arg("target"), nb::arg("threads") = 1,
          "Reduced-error pruning with rows that were kept out of growing.");
    m.def("prune_by_complexity", &by_complexity, nb::arg("arrays"), nb::arg("attribute_kinds"),
          nb::arg("alpha"), "Cost-complexity pruning: links up to alpha are cut.");
    m.def("complexity_path", &complexity_path, nb::arg("arrays"), nb::arg("attribute_kinds"),
          "(alphas, impurities) of cost-complexity pruning, a pair for each tree of the path.");
    m.def("collapse", &collapsed, nb::arg("arrays"), nb::arg("attribute_kinds"), nb::arg("said"),
          "C4.5's last step of growth: subtrees that make no fewer errors than a leaf become one.");
    m.def("expected_errors", &expected_errors, nb::arg("n"), nb::arg("e"), nb::arg("confidence"),
          "What C4.5 expects n rows to get wrong of which e were.");
}

} // namespace hornbeam
