// Pruning for Python: arrays of a tree in, arrays of another out. They are those of a Tree, which was
// verified when it was read, or grown here; they are not looked over again.
#include "bind.hpp"

#include <algorithm>
#include <cmath>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include "pruning/prune.hpp"
#include "route_columns.hpp"
#include "tree_arrays.hpp"

namespace hornbeam {

namespace {

using Classes = nb::ndarray<const ClassCode, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Steps = nb::typed<nb::tuple, nb::ndarray<nb::numpy, double, nb::ndim<1>>,
                        nb::ndarray<nb::numpy, double, nb::ndim<1>>>;

using Starts = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Said = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// The arrays of the tree, and `origin` besides.
nb::dict handed_out(Pruned &&pruned) {
    nb::dict out = to_arrays(std::move(pruned.tree));
    out["origin"] = own_array(std::move(pruned.origin)).cast();
    return out;
}

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Order = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Arrays of Python as PruneRows sees them; they stay alive while the call lasts.
struct Given {
    std::vector<RouteColumn> columns;
    Kinds kinds;
    Classes classes;
    Values values;
    Numbers weights;
    Order order;
    PruneRows rows;
};

/// A number for each class, or pair of classes; None: nothing.
std::span<const double> numbers(const nb::object &given, std::size_t size, Numbers &held) {
    if (given.is_none()) return {};
    held = nb::cast<Numbers>(given);
    if (held.size() != size) throw std::invalid_argument("weights or costs are of a wrong number");
    for (std::size_t i = 0; i < size; ++i)
        if (!(held.data()[i] >= 0.0) || std::isinf(held.data()[i]))
            throw std::invalid_argument("a weight or cost is negative or not finite");
    return {held.data(), held.size()};
}

/// (class_weight, losses, factors), each an array or None.
struct GivenCosts {
    Numbers weight, loss, factor;
    PruneCosts costs;
    GivenCosts(const nb::tuple &given, const FlatTree &tree) {
        if (given.size() != 3) throw std::invalid_argument("costs are not three");
        auto n = static_cast<std::size_t>(tree.n_classes);
        costs.weight = numbers(given[0], n, weight);
        costs.loss = numbers(given[1], n * n, loss);
        costs.factor = numbers(given[2], n, factor);
    }
};

std::span<const std::int32_t> classes_said(const Said &said, const FlatTree &tree) {
    if (said.size() != tree.n_nodes()) throw std::invalid_argument("not every node predicts a class");
    for (std::size_t i = 0; i < said.size(); ++i)
        if (said.data()[i] < 0 || said.data()[i] >= tree.n_classes)
            throw std::invalid_argument("a node predicts a class that is not there");
    return {said.data(), said.size()};
}

void read_rows(Given &given, const FlatTree &tree, const Kinds &kinds, const Columns &columns,
               const nb::object &target, const nb::object &weights) {
    given.kinds = kinds;
    PruneRows &rows = given.rows;
    rows.attribute_kinds = {kinds.data(), kinds.size()};
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
    rows.weights = numbers(weights, rows.n_rows, given.weights);
    given.columns = read_columns(rows.attribute_kinds, columns, rows.n_rows);
    rows.columns = given.columns;
}

nb::dict by_errors(const Arrays &arrays, const Kinds &kinds, const Columns &columns, const nb::object &target,
                   double confidence, const std::string &criterion, const nb::object &weights,
                   const nb::tuple &costs, const nb::object &order) {
    FlatTree tree = from_arrays(arrays);
    Pruned pruned;
    if (tree.n_classes == 0) throw std::invalid_argument("error-based pruning is for classes");
    if (!(confidence > 0.0 && confidence <= 1.0))
        throw std::invalid_argument("confidence is not above 0 and up to 1");
    Given given;
    SignalCancel cancel;
    read_rows(given, tree, kinds, columns, target, weights);
    GivenCosts paid(costs, tree);
    if (!order.is_none()) {
        given.order = nb::cast<Order>(order);
        given.rows.order = {given.order.data(), given.order.size()};
    }
    {
        WithoutGil released(cancel);
        pruned = prune_by_errors(tree, given.rows, paid.costs, confidence, criterion, cancel);
    }
    return handed_out(std::move(pruned));
}

nb::dict by_validation(const Arrays &arrays, const Kinds &kinds, const Columns &columns,
                       const nb::object &target, int threads, const nb::object &weights,
                       const nb::tuple &costs, const nb::object &said) {
    FlatTree tree = from_arrays(arrays);
    Pruned pruned;
    Given given;
    SignalCancel cancel;
    read_rows(given, tree, kinds, columns, target, weights);
    GivenCosts paid(costs, tree);
    Said held;
    std::span<const std::int32_t> classes;
    if (tree.n_classes > 0) classes = classes_said(held = nb::cast<Said>(said), tree);
    {
        WithoutGil released(cancel);
        pruned = prune_by_validation(tree, given.rows, paid.costs, classes, threads, cancel);
    }
    return handed_out(std::move(pruned));
}

std::span<const double> masses_of(const Numbers &mass, const FlatTree &tree) {
    if (mass.size() != tree.n_nodes()) throw std::invalid_argument("not every node has a mass");
    return {mass.data(), mass.size()};
}

nb::dict by_complexity(const Arrays &arrays, const Numbers &mass, double alpha) {
    SignalCancel cancel;
    FlatTree tree = from_arrays(arrays);
    Pruned pruned;
    std::span<const double> masses = masses_of(mass, tree);
    {
        WithoutGil released(cancel);
        pruned = prune_by_complexity(tree, masses, alpha, cancel);
    }
    return handed_out(std::move(pruned));
}

Steps complexity_path(const Arrays &arrays, const Numbers &mass) {
    SignalCancel cancel;
    FlatTree tree; // what the path asks for
    read_array(arrays, "kind", tree.kind);
    read_array(arrays, "first_child", tree.first_child);
    read_array(arrays, "n_children", tree.n_children);
    read_array(arrays, "impurity", tree.impurity);
    std::span<const double> masses = masses_of(mass, tree);
    CostPath path;
    {
        WithoutGil released(cancel);
        path = cost_complexity_path(tree, masses, cancel);
    }
    return nb::make_tuple(own_array(std::move(path.alpha)), own_array(std::move(path.impurity)));
}

nb::dict collapsed(const Arrays &arrays, const Said &said) {
    SignalCancel cancel;
    FlatTree tree = from_arrays(arrays);
    if (tree.n_classes == 0) throw std::invalid_argument("collapse is for classes");
    std::span<const std::int32_t> classes = classes_said(said, tree);
    Pruned pruned;
    {
        WithoutGil released(cancel);
        pruned = collapse(tree, classes, cancel);
    }
    return handed_out(std::move(pruned));
}

nb::ndarray<nb::numpy, double, nb::ndim<1>> masses_bound(const Starts &count_start, const Said &count_class,
                                                         const Numbers &count, const Numbers &factor) {
    const std::span start{count_start.data(), count_start.size()};
    const std::span codes{count_class.data(), count_class.size()};
    bool fits = !start.empty() && start[0] == 0 && codes.size() == count.size() &&
                start.back() == static_cast<std::int64_t>(count.size()) &&
                std::is_sorted(start.begin(), start.end());
    for (std::int32_t code : codes) fits &= code >= 0 && static_cast<std::size_t>(code) < factor.size();
    if (!fits) throw std::invalid_argument("the counts are not those of a tree");
    SignalCancel cancel;
    std::vector<double> mass;
    {
        WithoutGil released(cancel);
        mass = masses(start, codes, {count.data(), count.size()}, {factor.data(), factor.size()}, cancel);
    }
    return own_array(std::move(mass));
}

} // namespace

void bind_prune(nb::module_ &m) {
    m.def("prune_by_errors", &by_errors, nb::arg("arrays"), nb::arg("attribute_kinds"), nb::arg("columns"),
          nb::arg("target"), nb::arg("confidence"), nb::arg("criterion"), nb::arg("weights").none(),
          nb::arg("costs"), nb::arg("order").none(),
          "C4.5's error-based pruning; columns, target and weights are those that the tree was grown from. "
          "costs: what classes weigh, what mistakes cost, and the factors of qualities, each an array or "
          "None; order: the rows leaf after leaf, where known.");
    m.def("prune_by_validation", &by_validation, nb::arg("arrays"), nb::arg("attribute_kinds"),
          nb::arg("columns"), nb::arg("target"), nb::arg("threads"), nb::arg("weights").none(),
          nb::arg("costs"), nb::arg("said").none(),
          "Reduced-error pruning with rows that were kept out of growing; said: the class that each node "
          "predicts.");
    m.def("prune_by_complexity", &by_complexity, nb::arg("arrays"), nb::arg("mass"), nb::arg("alpha"),
          "Cost-complexity pruning: links up to alpha are cut.");
    m.def("complexity_path", &complexity_path, nb::arg("arrays"), nb::arg("mass"),
          "(alphas, impurities) of cost-complexity pruning, a pair for each tree of the path.");
    m.def("collapse", &collapsed, nb::arg("arrays"), nb::arg("said"),
          "C4.5's last step of growth: subtrees that make no fewer errors than a leaf become one.");
    m.def("masses", &masses_bound, nb::arg("count_start"), nb::arg("count_class"), nb::arg("count"),
          nb::arg("factor"), "The weight of each node with every class times its factor.");
    m.def("expected_errors", &expected_errors, nb::arg("n"), nb::arg("e"), nb::arg("confidence"),
          "What C4.5 expects n rows to get wrong of which e were.");
}

} // namespace hornbeam
