// Growth for Python.
#include "bind.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "grow_options.hpp"
#include "grown.hpp"
#include "growth/grow.hpp"
#include "numbers/xlog.hpp"
#include "reporting_cancel.hpp"
#include "tree_arrays.hpp"

namespace hornbeam {
namespace {

using Classes = nb::ndarray<const ClassCode, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Multiplicity = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::device::cpu>;

GrowTarget target_of(const nb::object &target, std::size_t n_classes, std::size_t n_rows) {
    GrowTarget t;
    std::size_t rows = 0;
    if (n_classes != 0) {
        auto a = nb::cast<Classes>(target);
        t.classes = {a.data(), a.shape(0)};
        t.n_classes = n_classes;
        rows = a.shape(0);
        for (ClassCode c : t.classes)
            if (c >= n_classes) throw std::invalid_argument("a class code is not below n_classes");
    } else {
        auto a = nb::cast<Values>(target);
        t.values = {a.data(), a.shape(0) * a.shape(1)};
        t.n_targets = a.shape(1);
        rows = a.shape(0);
    }
    if (rows != n_rows) throw std::invalid_argument("target and table differ in their number of rows");
    return t;
}

/// Weights of rows. A row of weight 0 is in no training set; weights of 1 are no weights, unless these rows
/// are `part` of a set in which others weigh something else.
void add_weights(GrowTarget &t, std::vector<TrainingSets> &parts, const nb::object &weights,
                 std::size_t n_rows, bool part) {
    if (weights.is_none()) return;
    auto a = nb::cast<Weights>(weights);
    if (a.shape(0) != n_rows) throw std::invalid_argument("weights and table differ in their number of rows");
    std::span<const double> given{a.data(), a.shape(0)};
    bool needed = part;
    for (std::size_t row = 0; row < n_rows; ++row) {
        if (!(given[row] >= 0.0) || std::isinf(given[row]))
            throw std::invalid_argument("a weight is negative or not finite");
        needed = needed || (given[row] != 0.0 && given[row] != 1.0);
        if (given[row] != 0.0) continue;
        for (TrainingSets &sets : parts) sets.leave_out(row, n_rows);
    }
    for (const TrainingSets &sets : parts)
        if (!sets.all_have_rows())
            throw std::invalid_argument(
                "a training set has no rows of weight above 0; every set needs at least one");
    if (needed) t.weights = given;
}

/// How many sets whose rows repeat grow together. Lists would have to be copied for each of them: what they
/// share is counting by value.
std::size_t repeating_sets(const EncodedTable &table, const GrowTarget &t, const GrowParameters &p,
                           bool weighed) {
    if (p.sharing != Sharing::automatic) return TrainingSets::most;
    if (t.n_classes == 0 || weighed || !t.costs.equal() || !p.accelerate) return 1;
    return AvcLayout(table, t.n_classes, 1, p.counting).sets_together(table);
}

/// The training sets, so many at a time as grow together: those whose rows repeat `repeating` at most.
std::vector<TrainingSets> sets_of(const nb::object &multiplicity, std::size_t n_rows, Sharing sharing,
                                  std::size_t repeating) {
    if (multiplicity.is_none()) return {TrainingSets()};
    auto a = nb::cast<Multiplicity>(multiplicity);
    if (a.shape(0) != n_rows || a.shape(1) == 0)
        throw std::invalid_argument(
            "multiplicity must have a row per row of the table and a column per training set");
    const RowTimes given{a.data(), n_rows, a.shape(1), a.stride(0), a.stride(1)};
    auto parts_of = [&](std::size_t together) {
        std::vector<TrainingSets> parts;
        for (std::size_t begin = 0; begin < given.n_sets; begin += together)
            parts.emplace_back(given, begin, std::min(begin + together, given.n_sets), sharing);
        return parts;
    };
    const std::size_t most = sharing == Sharing::serial ? 1 : TrainingSets::most;
    std::vector<TrainingSets> parts = parts_of(most);
    if (repeating < most &&
        std::any_of(parts.begin(), parts.end(), [](const TrainingSets &s) { return s.repeats(); }))
        parts = parts_of(repeating);
    for (const TrainingSets &sets : parts)
        if (!sets.all_have_rows())
            throw std::invalid_argument("a training set has no rows; every set needs at least one");
    return parts;
}

/// (min_samples_leaf, min_objs) for each setting.
std::vector<SizeSetting> size_settings(const nb::list &given) {
    std::vector<SizeSetting> settings;
    for (nb::handle one : given) {
        auto pair = nb::cast<nb::tuple>(one);
        if (pair.size() != 2) throw std::invalid_argument("a setting is not a pair");
        settings.push_back({size_rule(pair[0]), pair[1].is_none() ? -1.0 : nb::cast<double>(pair[1])});
        if (settings.size() == 1) continue;
        const SizeSetting &before = settings[settings.size() - 2], &now = settings.back();
        if (now.min_samples_leaf.fraction != before.min_samples_leaf.fraction ||
            now.min_samples_leaf.value < before.min_samples_leaf.value || now.min_objs < before.min_objs)
            throw std::invalid_argument("a setting asks for less than the one before it");
    }
    if (settings.empty()) throw std::invalid_argument("there is no setting");
    return settings;
}

CountValues count_values(const std::string &name) {
    if (name == "auto") return CountValues::where_it_pays;
    if (name == "always") return CountValues::always;
    if (name == "never") return CountValues::never;
    throw std::invalid_argument("counting is '" + name + "'; allowed are auto, always, never");
}

/// (mass, weight, many_valued, factors of classes or nothing) for each training set.
std::vector<WholeSet> whole_sets(const nb::list &given, std::size_t n_columns, std::size_t n_classes) {
    std::vector<WholeSet> wholes;
    for (nb::handle one : given) {
        auto fields = nb::cast<nb::tuple>(one);
        if (fields.size() != 4)
            throw std::invalid_argument("a whole set is not (mass, weight, many_valued, factors)");
        WholeSet set{nb::cast<double>(fields[0]), nb::cast<double>(fields[1]),
                     nb::cast<std::vector<std::uint8_t>>(fields[2]),
                     nb::cast<std::vector<double>>(fields[3])};
        if (!set.factor.empty() && set.factor.size() != n_classes)
            throw std::invalid_argument("there is a factor for each class, or none");
        if (set.many_valued.size() != n_columns)
            throw std::invalid_argument("many_valued has a flag for each column");
        wholes.push_back(std::move(set));
    }
    return wholes;
}

std::size_t all_sets(const std::vector<TrainingSets> &parts) {
    return std::accumulate(parts.begin(), parts.end(), std::size_t{0}, [](std::size_t n, const auto &part) {
        return n + static_cast<std::size_t>(part.n_sets);
    });
}

Grown grow_bound(EncodedTable &table, const nb::object &target, std::size_t n_classes,
                 const std::string &criterion, const std::string &nominal, std::int64_t max_depth,
                 const nb::object &min_samples_split, const nb::list &settings, double min_impurity_decrease,
                 const nb::object &multiplicity, int threads, const std::string &kernels, bool accelerate,
                 bool joint, bool twigs, const std::string &counting, const std::string &algorithm,
                 bool consume, const nb::object &report, const nb::object &weights,
                 const nb::object &class_weight, const nb::object &costs, std::size_t competitors,
                 const nb::list &whole) {
    GrowParameters p;
    std::vector<WholeSet> wholes = whole_sets(whole, table.columns.size(), n_classes);
    p.counting = count_values(counting);
    p.sharing = sharing_named(algorithm);
    GrowTarget t = target_of(target, n_classes, table.n_rows);
    t.costs = class_costs(class_weight, costs, n_classes);
    p.nominal = nominal_mode(nominal);
    p.max_depth = max_depth;
    p.min_samples_split = size_rule(min_samples_split);
    p.settings = size_settings(settings);
    p.min_impurity_decrease = min_impurity_decrease;
    p.competitors = competitors;
    p.accelerate = accelerate;
    p.joint = joint;
    p.twigs = twigs;
    std::vector<TrainingSets> sets =
        sets_of(multiplicity, table.n_rows, p.sharing, repeating_sets(table, t, p, !weights.is_none()));
    add_weights(t, sets, weights, table.n_rows, !wholes.empty());
    p.threads = std::max(threads, 1);
    p.kernels = kernels_named(kernels);
    if (p.kernels == nullptr)
        throw std::invalid_argument("kernels '" + kernels + "' are not available on this machine");
    GrowProgress progress;
    ReportingCancel cancel(progress, report);
    std::span<const WholeSet> left = wholes;
    if (!left.empty() && left.size() != all_sets(sets))
        throw std::invalid_argument("there are as many whole sets as training sets, or none");
    WithoutGil released(cancel);
    Grown grown;
    grown.together = static_cast<std::size_t>(sets.front().n_sets);
    const auto begin = std::chrono::steady_clock::now();
    for (const TrainingSets &part : sets) {
        const auto here = left.first(std::min(left.size(), static_cast<std::size_t>(part.n_sets)));
        left = left.subspan(here.size());
        grown.parts.push_back(
            grow(criterion, {table, t, part, p, consume && &part == &sets.back(), progress, cancel, here}));
    }
    grown.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return grown;
}

} // namespace

void bind_grow(nb::module_ &m) {
    nb::class_<Grown>(m, "Forest")
        .def_prop_ro("n_sets", &Grown::n_sets)
        .def_prop_ro("n_nodes", &Grown::n_nodes)
        .def(
            "take_order", [](Grown &g) { return own_array(g.take_order()); },
            "The rows of the only set, leaf after leaf in preorder; can be taken once.")
        .def(
            "tree",
            [](Grown &g, std::int32_t set, std::uint32_t setting) {
                auto [forest, at] = g.find(set);
                if (setting >= forest.n_settings) throw nb::index_error("no such setting");
                SignalCancel cancel;
                return to_arrays(forest.extract(at, setting, cancel));
            },
            nb::arg("set"), nb::arg("setting") = 0)
        .def(
            "nodes",
            [](Grown &g, std::int32_t set) {
                auto [forest, at] = g.find(set);
                SignalCancel cancel;
                return to_arrays(forest.nodes(at, cancel));
            },
            nb::arg("set"), "The nodes of a training set's trees under all settings, as so many leaves.")
        .def(
            "ends",
            [](Grown &g, std::int32_t set, const RoutedTable &table, const RowNumbers &rows) {
                return own_array(g.ends(set, table, table.checked(rows)));
            },
            nb::arg("set"), nb::arg("table"), nb::arg("rows"),
            "[setting * rows + row]: which of the training set's nodes answers each of some rows.")
        .def(
            "class_weight",
            [](Grown &g, std::int32_t set) {
                auto [forest, at] = g.find(set);
                return forest.class_weight.empty() ? std::vector<double>()
                                                   : forest.class_weight[static_cast<std::size_t>(at)];
            },
            "What each class weighs in a training set; nothing where all weigh the same.")
        .def(
            "release",
            [](Grown &g, std::int32_t set) {
                auto [forest, at] = g.find(set);
                forest.release(at);
            },
            "Forget the trees of a training set: they cannot be had again.")
        .def("levels", &Grown::levels,
             "By depth: seconds of tests, statistics, numeric and other work, nodes of the forest, entries "
             "read, entries that the sets would have read one by one, and how often several sets were looked "
             "at "
             "in one pass.");
    m.def("kernels", [] {
        std::vector<std::string> names;
        for (auto name : kernels_available()) names.emplace_back(name);
        return names;
    });
    m.def("xlog", [](double m) { return exact_xlog(m); }, nb::arg("m"), "m log2 m, correctly rounded.");
    m.def("grow", &grow_bound, nb::arg("table"), nb::arg("target"), nb::arg("n_classes"), nb::kw_only(),
          nb::arg("criterion"), nb::arg("nominal"), nb::arg("max_depth"), nb::arg("min_samples_split"),
          nb::arg("settings"), nb::arg("min_impurity_decrease"), nb::arg("multiplicity").none(),
          nb::arg("threads") = 1, nb::arg("kernels") = "auto", nb::arg("accelerate") = true,
          nb::arg("joint") = true, nb::arg("twigs") = true, nb::arg("counting") = "auto",
          nb::arg("algorithm") = "auto", nb::arg("consume") = false, nb::arg("report") = nb::none(),
          nb::arg("weights") = nb::none(), nb::arg("class_weight") = nb::none(),
          nb::arg("costs") = nb::none(), nb::arg("competitors") = 0, nb::arg("whole") = nb::list());
}

} // namespace hornbeam
