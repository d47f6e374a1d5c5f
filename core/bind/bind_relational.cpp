// First-order trees for Python: databases of coded relations, biases, growth, queries.
#include "bind.hpp"

#include <memory>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "first_order/first_order.hpp"
#include "grow_options.hpp"
#include "relational_given.hpp"
#include "reporting_cancel.hpp"
#include "tree_arrays.hpp"

namespace hornbeam {
namespace {

using Classes = nb::ndarray<const ClassCode, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Times = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::device::cpu>;
using Places = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void make_database(RelationalDatabase *self, const CodeArray &keys, const nb::list &domains,
                   const nb::list &relations) {
    SignalCancel cancel;
    RelationalDatabase made;
    made.n_examples = keys.size();
    made.keys.assign(keys.data(), keys.data() + keys.size());
    for (nb::handle one : domains) made.domains.push_back(domain_given(one));
    for (nb::handle one : relations) made.relations.push_back(relation_given(one, made, cancel));
    new (self) RelationalDatabase(std::move(made));
}

/// Whether some place takes all constants of a type.
bool lists_all(const LanguageBias &bias, std::int32_t type) {
    auto in = [&](const Pattern &pattern) {
        return std::any_of(pattern.places.begin(), pattern.places.end(), [&](const Place &p) {
            return p.sign == Sign::constant && !p.given && (p.type == type || p.type < 0);
        });
    };
    auto in_any = [&](const std::vector<Pattern> &patterns) {
        return std::any_of(patterns.begin(), patterns.end(), in);
    };
    return std::any_of(bias.modes.begin(), bias.modes.end(),
                       [&](const Mode &m) { return in_any(m.patterns); }) ||
           std::any_of(bias.lookaheads.begin(), bias.lookaheads.end(),
                       [&](const LookaheadRule &l) { return in_any(l.then); });
}

void make_bias(LanguageBias *self, const RelationalDatabase &database, std::int32_t key_type,
               const std::vector<std::int32_t> &domain_of, const nb::list &modes, const nb::list &lookaheads,
               std::int32_t max_lookahead, std::int32_t n_names) {
    LanguageBias made;
    made.key_type = key_type;
    made.domain_of = domain_of;
    made.max_lookahead = max_lookahead;
    made.n_names = n_names;
    for (nb::handle one : modes) {
        auto fields = nb::cast<nb::tuple>(one);
        made.modes.push_back({patterns_given(fields[0]), nb::cast<std::int64_t>(fields[1])});
    }
    for (nb::handle one : lookaheads) {
        auto fields = nb::cast<nb::tuple>(one);
        made.lookaheads.push_back({pattern_given(fields[0]), patterns_given(fields[1])});
    }
    made.values.resize(domain_of.size());
    for (std::size_t t = 0; t < domain_of.size(); ++t) {
        if (domain_of[t] < 0 || !lists_all(made, static_cast<std::int32_t>(t))) continue;
        const Code size = database.domains.at(static_cast<std::size_t>(domain_of[t])).size;
        for (Code c = 0; c < size; ++c) made.values[t].push_back({c, -1});
    }
    new (self) LanguageBias(std::move(made));
}

/// Arrays of how often each example counts in each of some sets, one after the other.
std::vector<TrainingSets> parts_given(const nb::object &arrays, std::size_t n_examples, Sharing sharing) {
    std::vector<TrainingSets> parts;
    for (nb::handle one : arrays) {
        auto a = nb::cast<Times>(one);
        if (a.shape(0) != n_examples || a.shape(1) == 0 || a.shape(1) > TrainingSets::most)
            throw std::invalid_argument("training sets: a row for each example, and 1 to 64 columns");
        const RowTimes given{a.data(), n_examples, a.shape(1), a.stride(0), a.stride(1)};
        parts.emplace_back(given, 0, a.shape(1), sharing);
        if (!parts.back().all_have_rows())
            throw std::invalid_argument("a training set has no examples; every set needs at least one");
    }
    return parts;
}

FirstOrderCriterion criterion_named(const std::string &name) {
    if (name == "entropy") return FirstOrderCriterion::entropy;
    if (name == "gain_ratio") return FirstOrderCriterion::gain_ratio;
    if (name == "variance") return FirstOrderCriterion::variance;
    throw std::invalid_argument("criterion '" + name + "' is not known");
}

GrowTarget target_given(const nb::object &target, std::size_t n_classes, std::size_t n_examples) {
    GrowTarget t;
    std::size_t n = 0;
    if (n_classes != 0) {
        auto a = nb::cast<Classes>(target);
        t.classes = {a.data(), n = a.size()};
        t.n_classes = n_classes;
        for (ClassCode c : t.classes)
            if (c >= n_classes) throw std::invalid_argument("a class code is not below n_classes");
    } else {
        auto a = nb::cast<Numbers>(target);
        t.values = {a.data(), n = a.size()};
        t.n_targets = 1;
    }
    if (n != n_examples) throw std::invalid_argument("target and examples differ in number");
    return t;
}

FirstOrderForest grow_given(RelationalDatabase &database, const LanguageBias &bias, const nb::object &target,
                            std::size_t n_classes, const nb::object &sets, const std::string &criterion,
                            std::int64_t min_samples_leaf, std::int64_t max_depth, double ftest,
                            double accuracy, const std::string &algorithm, bool pack, bool connected,
                            bool collect, bool cache, std::size_t cache_bytes, std::uint64_t budget,
                            int threads, std::int32_t n_named, const nb::object &report) {
    GrowProgress progress;
    ReportingCancel cancel(progress, report);
    FirstOrderTask task{database,
                        bias,
                        {criterion_named(criterion), min_samples_leaf, max_depth, ftest, accuracy},
                        target_given(target, n_classes, database.n_examples),
                        parts_given(sets, database.n_examples, sharing_named(algorithm)),
                        {pack, connected, collect, cache, cache_bytes},
                        budget,
                        static_cast<unsigned>(std::max(threads, 1)),
                        cancel,
                        report.is_none() ? nullptr : &progress};
    if (!database.xlog && n_classes != 0)
        database.xlog = std::make_shared<const XlogTable>(database.n_examples, cancel);
    WithoutGil released(cancel);
    return grow_first_order(task, n_named);
}

nb::dict tree_arrays(const FirstOrderForest &forest, std::size_t set) {
    std::size_t n = 0;
    for (const FirstOrderPart &part : forest.parts) n += static_cast<std::size_t>(part.n_sets);
    if (set >= n) throw nb::index_error("no such training set");
    SetTree tree = tree_of(forest, set);
    nb::dict out;
    out["test"] = own_array(std::move(tree.test));
    out["yes"] = own_array(std::move(tree.yes));
    out["no"] = own_array(std::move(tree.no));
    out["counts"] = own_array(std::move(tree.counts)); // [node][count]
    out["held_out"] = own_array(std::move(tree.held_out));
    out["leaf"] = own_array(std::move(tree.leaf));
    return out;
}

nb::dict levels_of(const FirstOrderForest &forest) {
    std::vector<double> seconds;
    std::vector<std::int64_t> nodes, entries, own, splits, tests;
    for (const FirstOrderLevel &level : forest.levels) {
        seconds.insert(seconds.end(), level.seconds.begin(), level.seconds.end());
        nodes.push_back(level.nodes), entries.push_back(level.entries), own.push_back(level.own_entries);
        splits.push_back(level.splits), tests.push_back(level.tests);
    }
    nb::dict out;
    out["seconds"] = own_array(std::move(seconds)); // [level][kind of work]
    out["nodes"] = own_array(std::move(nodes));
    out["entries"] = own_array(std::move(entries));
    out["own_entries"] = own_array(std::move(own));
    out["splits"] = own_array(std::move(splits));
    out["tests"] = own_array(std::move(tests));
    return out;
}

nb::dict counters_of(const FirstOrderForest &forest) {
    const EngineCounters &c = forest.counters;
    std::int64_t nodes = 0;
    for (const FirstOrderPart &part : forest.parts) nodes += static_cast<std::int64_t>(part.nodes.size());
    nb::dict out;
    out["tests"] = c.tests;
    out["answered"] = c.answered;
    out["steps"] = c.steps;
    out["fallbacks"] = c.fallbacks;
    out["cache_entries"] = c.cache_entries;
    out["cache_bytes"] = c.cache_bytes;
    out["nodes"] = nodes;
    out["bifurcations"] = forest.bifurcations;
    return out;
}

nb::list tests_of(const FirstOrderForest &forest) {
    nb::list out;
    for (const Query &test : forest.tests) out.append(query_list(test));
    return out;
}

nb::list thresholds_of(const FirstOrderForest &forest) {
    nb::list out;
    for (const Threshold &t : forest.thresholds) out.append(nb::make_tuple(t.domain, t.lo, t.hi));
    return out;
}

nb::list dropped_of(const FirstOrderForest &forest) {
    nb::list out;
    for (const DroppedTest &d : forest.dropped)
        out.append(nb::make_tuple(query_list(d.test), d.examples, d.sets));
    return out;
}

nb::list refinements(const RelationalDatabase &database, const LanguageBias &bias) {
    nb::list out;
    Path path;
    path.types = {bias.key_type};
    SignalCancel cancel;
    for (const TestGroup &group : refine(database, bias, path, true, cancel))
        out.append(query_list(group.test));
    return out;
}

std::span<const std::uint32_t> places_in(const Places &examples, const RelationalDatabase &database) {
    for (std::size_t i = 0; i < examples.size(); ++i)
        if (examples.data()[i] >= database.n_examples) throw nb::index_error("no such example");
    return {examples.data(), examples.size()};
}

auto solve_given(const RelationalDatabase &database, const nb::list &query, const Places &examples) {
    SignalCancel cancel;
    const Query literals = query_given(query, database);
    const auto places = places_in(examples, database);
    std::vector<std::uint8_t> holds;
    {
        WithoutGil released(cancel);
        Solver solver(database, literals);
        solver.watch(cancel);
        Pace pace(cancel, 500);
        for (std::uint32_t e : places) {
            pace.step();
            holds.push_back(solver.exists(e));
        }
    }
    return own_array(std::move(holds));
}

auto route_given(const RelationalDatabase &database, const nb::list &tests, const CodeArray &yes,
                 const CodeArray &no, const Places &examples) {
    SignalCancel cancel;
    RoutedTree tree;
    for (nb::handle one : tests) tree.tests.push_back(query_given(one, database));
    tree.yes.assign(yes.data(), yes.data() + yes.size());
    tree.no.assign(no.data(), no.data() + no.size());
    const auto n = static_cast<Code>(tree.tests.size());
    if (n == 0 || tree.yes.size() != tree.tests.size() || tree.no.size() != tree.tests.size())
        throw std::invalid_argument("a tree has a test, a yes and a no for each node");
    for (Code i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        auto below = [&](Code child) { return child > i && child < n; };
        if (!tree.tests[at].empty() && !(below(tree.yes[at]) && below(tree.no[at])))
            throw std::invalid_argument("a child does not come behind its node");
    }
    const auto places = places_in(examples, database);
    std::vector<std::int32_t> leaf;
    {
        WithoutGil released(cancel);
        leaf = route_first_order(database, tree, places, cancel);
    }
    return own_array(std::move(leaf));
}

} // namespace

void bind_relational(nb::module_ &m) {
    nb::class_<RelationalDatabase>(m, "RelationalDatabase",
                                   "Examples and the coded relations of their facts.")
        .def("__init__", &make_database, nb::arg("keys"), nb::arg("domains"), nb::arg("relations"))
        .def_prop_ro("bytes", [](const RelationalDatabase &d) {
            std::size_t all = d.keys.capacity() * sizeof(Code);
            for (const Relation &r : d.relations) all += r.bytes();
            return all;
        });
    nb::class_<LanguageBias>(m, "LanguageBias", "Which tests there are, by numbers of types and predicates.")
        .def("__init__", &make_bias, nb::arg("database"), nb::arg("key_type"), nb::arg("domain_of"),
             nb::arg("modes"), nb::arg("lookaheads"), nb::arg("max_lookahead"), nb::arg("n_names"));
    nb::class_<FirstOrderForest>(m, "FirstOrderForest", "The first-order trees of several training sets.")
        .def_prop_ro("n_counts", [](const FirstOrderForest &f) { return f.n_counts; })
        .def("tree", &tree_arrays, nb::arg("set"), "A set's tree as arrays in preorder.")
        .def("tests", &tests_of, "Every test: (predicate, terms, named) for each literal.")
        .def("thresholds", &thresholds_of, "(domain, lo, hi) for each.")
        .def("levels", &levels_of, "By depth: seconds of evaluating, statistics, partition, other; counts.")
        .def("counters", &counters_of)
        .def("dropped", &dropped_of, "(test, examples, sets) for each test that cost more than the budget.");
    m.def("grow_first_order", &grow_given, nb::keep_alive<0, 1>(), nb::arg("database"), nb::arg("bias"),
          nb::arg("target"), nb::arg("n_classes"), nb::arg("sets"), nb::kw_only(), nb::arg("criterion"),
          nb::arg("min_samples_leaf"), nb::arg("max_depth"), nb::arg("ftest"), nb::arg("accuracy"),
          nb::arg("algorithm"), nb::arg("pack"), nb::arg("connected"), nb::arg("collect"), nb::arg("cache"),
          nb::arg("cache_bytes"), nb::arg("budget"), nb::arg("threads"), nb::arg("n_named"),
          nb::arg("report").none());
    m.def("first_refinements", &refinements, nb::arg("database"), nb::arg("bias"),
          "The tests offered at the root, in their order, every constant written out.");
    m.def("solve_query", &solve_given, nb::arg("database"), nb::arg("query"), nb::arg("examples"));
    m.def(
        "query_witness",
        [](const RelationalDatabase &database, const nb::list &query, std::size_t example) {
            if (example >= database.n_examples) throw nb::index_error("no such example");
            Solver solver(database, query_given(query, database));
            return solver.witness(example);
        },
        nb::arg("database"), nb::arg("query"), nb::arg("example"),
        "The rows of the first solution, -1 for comparisons; nothing where there is none.");
    m.def("route_first_order", &route_given, nb::arg("database"), nb::arg("tests"), nb::arg("yes"),
          nb::arg("no"), nb::arg("examples"));
}

} // namespace hornbeam
