// Nodes settled from what scans found, for Python.
#include "bind.hpp"

#include <functional>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "grow_options.hpp"
#include "grown.hpp"
#include "source_plan.hpp"
#include "tree/tree_graft.hpp"

namespace hornbeam {
namespace {

/// What is known of all attributes at a place, for a training set that leaves a fold out and has these rows
/// there.
class SetsAt final : public SetReader {
  public:
    SetsAt(SourceScan &scan, std::int32_t place, std::int32_t left_out, const ClassCounts &rows,
           Cancel &cancel)
        : scan_(scan), place_(place), rows_(rows), cancel_(cancel), refining_(scan, place, left_out) {
        const Place &here = scan.place(place);
        for (std::size_t a = 0; a < scan.layout().attributes.size(); ++a) {
            const auto attribute = static_cast<std::int32_t>(a);
            const auto counted = std::find(here.counted.begin(), here.counted.end(), attribute);
            const bool listed = std::any_of(here.watches.begin(), here.watches.end(), [&](const Watch &w) {
                return w.attribute == attribute && w.wanted.empty();
            });
            if (counted != here.counted.end())
                known_.push_back({attribute, counted - here.counted.begin()});
            else if (listed)
                known_.push_back({attribute, -1});
        }
    }
    std::size_t size() const override { return known_.size(); }
    RefinedSet read(std::size_t i) const override {
        const KeyTable keys = scan_.keys_of(place_, known_[i].attribute, cancel_);
        RefinedSet set = known_[i].counted < 0
                             ? refining_.listed(known_[i].attribute, keys)
                             : refining_.counted(static_cast<std::size_t>(known_[i].counted), keys);
        // Cuts are sought until all rows of the node are on the left.
        if (!set.adds_up_to(rows_))
            throw DamagedBytes("an attribute was counted in other rows than those of its node: run it again, "
                               "or look at disk and network");
        return set;
    }
    std::int32_t attribute(std::size_t i) const { return known_[i].attribute; }
    bool exact(std::size_t i) const override {
        return known_[i].counted < 0 || scan_.buckets(known_[i].attribute).all_single();
    }

  private:
    struct Known {
        std::int32_t attribute;
        std::ptrdiff_t counted; // which of the counted attributes; -1: all of its keys are kept
    };
    SourceScan &scan_;
    std::int32_t place_;
    const ClassCounts &rows_;
    Cancel &cancel_;
    Refining refining_;
    std::vector<Known> known_;
};

LookedInto looked_into_of(const Grid &grid, const nb::list &watches, const Settled *best) {
    LookedInto before{best, {}};
    for (nb::handle given : watches) {
        Watch watch = watch_of(grid, given);
        before.buckets.resize(grid.of.size());
        before.buckets[static_cast<std::size_t>(watch.attribute)] = std::move(watch.wanted);
    }
    return before;
}

ClassCounts counts_of(const std::vector<std::int64_t> &given) {
    ClassCounts counts(given.size());
    counts.c = given;
    for (std::int64_t c : given) counts.n += c;
    return counts;
}

SettleTask task_of(const std::string &criterion, const std::string &nominal,
                   std::shared_ptr<RowLayout> layout, const nb::list &wholes, std::int64_t max_depth,
                   const nb::object &min_samples_split, const nb::object &min_samples_leaf,
                   const nb::object &min_objs, double min_impurity_decrease,
                   const std::vector<std::vector<std::uint8_t>> &many_valued, const std::string &kernels,
                   const nb::list &sums, const nb::object &class_weight, const nb::object &costs) {
    SettleTask task;
    task.criterion = criterion;
    task.layout = std::move(layout);
    GrowParameters &p = task.parameters;
    p.nominal = nominal_mode(nominal);
    p.max_depth = max_depth;
    p.min_samples_split = size_rule(min_samples_split);
    p.settings = {{size_rule(min_samples_leaf), min_objs.is_none() ? -1.0 : nb::cast<double>(min_objs)}};
    p.min_impurity_decrease = min_impurity_decrease;
    p.kernels = kernels_named(kernels);
    if (p.kernels == nullptr)
        throw std::invalid_argument("kernels '" + kernels + "' are not available on this machine");
    for (nb::handle whole : wholes) {
        const auto given = nb::cast<std::vector<std::int64_t>>(whole);
        if (given.size() != task.layout->n_classes)
            throw std::invalid_argument("a set has a count for each class");
        task.wholes.push_back(counts_of(given));
    }
    task.many_valued = many_valued;
    for (nb::handle of_set : sums) {
        const auto given = nb::cast<Words>(of_set);
        task.whole_sums.emplace_back(given.data(), given.data() + given.size());
        if (given.size() != task.layout->n_classes * task.layout->sums.words())
            throw std::invalid_argument("the sums of a set are of another layout");
    }
    if (!task.layout->sums.empty() && task.whole_sums.size() != task.wholes.size())
        throw std::invalid_argument("there are sums for each set");
    task.costs = class_costs(class_weight, costs, task.layout->n_classes);
    return task;
}

} // namespace

void bind_settling(nb::module_ &m) {
    nb::class_<Settled>(m, "Settled")
        .def_prop_ro("state",
                     [](const Settled &s) {
                         return s.state == Settled::State::leaf   ? "leaf"
                                : s.state == Settled::State::test ? "test"
                                                                  : "open";
                     })
        .def_prop_ro("attribute", [](const Settled &s) { return s.choice.attribute; })
        .def_prop_ro("numeric", [](const Settled &s) { return s.choice.kind == TestKind::numeric; })
        .def_ro("lo", &Settled::lo)
        .def_ro("hi", &Settled::hi)
        .def_prop_ro("default_child", [](const Settled &s) { return s.choice.default_child; })
        .def_prop_ro("branches", [](const Settled &s) { return s.choice.branches; })
        .def_prop_ro("quality", [](const Settled &s) { return s.choice.quality; })
        .def_prop_ro("gain", [](const Settled &s) { return s.choice.gain; })
        .def_ro("bound", &Settled::bound)
        .def_prop_ro(
            "exact", [](const Settled &s) { return s.choice.found() && s.ends.empty(); },
            "Whether there is a test, and the values on both sides of its cut are known.")
        .def_prop_ro("n_children", [](const Settled &s) { return s.children.size(); })
        .def_prop_ro("alive",
                     [](const Settled &s) {
                         std::vector<std::pair<std::int32_t, std::uint32_t>> out;
                         for (const AliveBucket &b : s.alive) out.emplace_back(b.attribute, b.bucket);
                         return out;
                     })
        .def("child_counts",
             [](const Settled &s, std::size_t child) {
                 return own_array(std::vector<std::int64_t>(s.children.at(child).c));
             })
        .def("child_sums",
             [](const Settled &s, std::size_t child) {
                 return own_array(s.child_sums.empty() ? SumWords() : SumWords(s.child_sums.at(child)));
             })
        .def("route", [](const Settled &s, const std::shared_ptr<RowLayout> &layout,
                         const std::vector<std::int32_t> &children) {
            return as_dict(route_of(s, *layout, children));
        });
    nb::class_<Settling>(m, "Settling")
        .def(
            nb::new_([](const std::string &criterion, const std::string &nominal,
                        std::shared_ptr<RowLayout> layout, const nb::list &wholes, std::int64_t max_depth,
                        const nb::object &min_samples_split, const nb::object &min_samples_leaf,
                        const nb::object &min_objs, double min_impurity_decrease,
                        const std::vector<std::vector<std::uint8_t>> &many_valued, const std::string &kernels,
                        const nb::list &sums, const nb::object &class_weight, const nb::object &costs) {
                SignalCancel cancel;
                return Settling::make(task_of(criterion, nominal, std::move(layout), wholes, max_depth,
                                              min_samples_split, min_samples_leaf, min_objs,
                                              min_impurity_decrease, many_valued, kernels, sums, class_weight,
                                              costs),
                                      cancel);
            }),
            nb::kw_only(), nb::arg("criterion"), nb::arg("nominal"), nb::arg("layout"), nb::arg("wholes"),
            nb::arg("max_depth"), nb::arg("min_samples_split"), nb::arg("min_samples_leaf"),
            nb::arg("min_objs").none(), nb::arg("min_impurity_decrease"), nb::arg("many_valued"),
            nb::arg("kernels") = "auto", nb::arg("sums") = nb::list(),
            nb::arg("class_weight").none() = nb::none(), nb::arg("costs").none() = nb::none())
        .def(
            "whole",
            [](const Settling &s, std::int32_t set) {
                WholeSet whole = s.whole(set);
                return nb::make_tuple(whole.mass, whole.weight, whole.many_valued, whole.factor);
            },
            nb::arg("set"), "(mass, weight, many_valued, factors of classes) of a training set.")
        .def("set_many_valued", &Settling::set_many_valued, nb::arg("set"), nb::arg("many_valued"))
        .def(
            "class_weight",
            [](Settling &s, std::int32_t set) {
                const auto &weights = s.forest().class_weight;
                return weights.empty() ? std::vector<double>() : weights.at(static_cast<std::size_t>(set));
            },
            nb::arg("set"), "What each class weighs in a training set; nothing where all weigh the same.")
        .def(
            "open_apart",
            [](Settling &s, std::int32_t set, const std::vector<std::int64_t> &counts, const Words &sums) {
                return s.open_apart(set, counts_of(counts), {sums.data(), sums.data() + sums.size()});
            },
            nb::arg("set"), nb::arg("counts"), nb::arg("sums"),
            "A node that is only judged, by its rows of each class and their sums.")
        .def("open_root", &Settling::open_root, nb::arg("set"), "The node of a set's root; -1 for a leaf.")
        .def(
            "settle",
            [](Settling &s, std::int64_t node, BoundScan &scan, std::int32_t place, std::int32_t left_out,
               double margin, const nb::list &looked_into, const Settled *best) {
                scan.checked(place);
                const LookedInto before = looked_into_of(*scan.grid, looked_into, best);
                SignalCancel cancel;
                WithoutGil released(cancel);
                return s.settle(node, SetsAt(scan.scan, place, left_out, s.node(node).total, cancel), before,
                                margin, cancel);
            },
            nb::arg("node"), nb::arg("scan"), nb::arg("place"), nb::arg("left_out") = -1,
            nb::arg("margin") = 0.0, nb::arg("looked_into") = nb::list(), nb::arg("best").none() = nb::none(),
            "Judges a node by what a scan knows of its place. Buckets that were looked into before, as "
            "watches, do not leave it open; the best test until then, if given, is one of those to choose "
            "from.")
        .def(
            "look",
            [](Settling &s, std::int64_t node, BoundScan &scan, std::int32_t place, std::int32_t attribute,
               std::int32_t left_out) {
                scan.checked(place);
                SignalCancel cancel;
                WithoutGil released(cancel);
                const SetsAt sets(scan.scan, place, left_out, s.node(node).total, cancel);
                for (std::size_t i = 0; i < sets.size(); ++i)
                    if (sets.attribute(i) == attribute) return s.look(node, sets.read(i), cancel);
                throw std::invalid_argument("the scan knows nothing of this attribute");
            },
            nb::arg("node"), nb::arg("scan"), nb::arg("place"), nb::arg("attribute"),
            nb::arg("left_out") = -1, "The best test of one attribute.")
        .def(
            "choose",
            [](Settling &s, std::int64_t node, const nb::list &found) {
                std::vector<Settled> given;
                for (nb::handle one : found) given.push_back(nb::cast<Settled>(one));
                return s.choose(node, given);
            },
            "The test of a node from those of its attributes, in their order.")
        .def(
            "keep",
            [](const Settling &s, std::int64_t node, int kind, std::int32_t attribute,
               std::int32_t default_child, std::pair<double, std::int64_t> threshold,
               std::vector<std::pair<std::int32_t, std::int32_t>> branches,
               const std::vector<std::vector<std::int64_t>> &counts, const std::vector<Words> &sums) {
                std::vector<ClassCounts> children;
                std::vector<SumWords> child_sums;
                for (const auto &of_child : counts) children.push_back(counts_of(of_child));
                for (const Words &of_child : sums)
                    child_sums.emplace_back(of_child.data(), of_child.data() + of_child.size());
                Choice test;
                test.kind = static_cast<TestKind>(kind);
                test.attribute = attribute, test.default_child = default_child;
                test.n_children = static_cast<std::int32_t>(counts.size());
                test.branches = std::move(branches);
                return s.keep(node, std::move(test), {threshold.first, threshold.second}, std::move(children),
                              std::move(child_sums));
            },
            nb::kw_only(), nb::arg("node"), nb::arg("kind"), nb::arg("attribute"), nb::arg("default_child"),
            nb::arg("threshold"), nb::arg("branches"), nb::arg("counts"), nb::arg("sums"),
            "The test that a node has already, by the rows of each class in its branches and their sums: a "
            "threshold as (number, whole number), or the branches of the categories present.")
        .def("split", &Settling::split,
             "Writes the test of a node down; its children's nodes, -1 for leaves.")
        .def("depth", [](const Settling &s, std::int64_t node) { return s.node(node).depth; })
        .def("counts",
             [](const Settling &s, std::int64_t node) {
                 return own_array(std::vector<std::int64_t>(s.node(node).total.c));
             })
        .def(
            "graft",
            [](Settling &s, std::int64_t node, Grown &grown, std::int32_t set) {
                auto [forest, at] = grown.find(set);
                s.graft(node, forest, at);
            },
            nb::arg("node"), nb::arg("forest"), nb::arg("set") = 0,
            "Puts a tree grown from the rows of a node in its place.")
        .def(
            "graft_kept",
            [](Settling &s, const nb::dict &arrays,
               const std::vector<std::pair<std::int64_t, std::int32_t>> &kept) {
                const TreeGraft from(from_arrays(arrays));
                for (auto [node, number] : kept)
                    if (number < 0 || static_cast<std::size_t>(number) >= from.n_nodes())
                        throw nb::index_error("no such node");
                SignalCancel cancel;
                WithoutGil released(cancel);
                for (auto [node, number] : kept) s.graft(node, from, number, cancel);
            },
            nb::arg("tree"), nb::arg("kept"),
            "Puts subtrees of another tree in the place of nodes that have the same rows: (node, number "
            "there).")
        .def("tree", [](Settling &s, std::int32_t set) {
            SignalCancel cancel;
            return to_arrays(s.forest().extract(set, 0, cancel));
        });
}

} // namespace hornbeam
