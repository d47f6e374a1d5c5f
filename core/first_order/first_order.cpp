// Growth by criterion, the trees of single sets, and routing.
#include "first_order/first_order.hpp"

#include <bit>

#include "criteria/entropy.hpp"
#include "criteria/gain_ratio.hpp"
#include "criteria/variance.hpp"
#include "criteria/widths.hpp"
#include "first_order/grower.hpp"

namespace hornbeam {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

template <class C> void grow_by(const FirstOrderTask &task, const C &criterion,
                                const typename C::Target &target, FirstOrderForest &forest) {
    FirstOrderGrower<typename C::Target>(task, ScorerOf<C>(criterion), target, forest).grow();
}

template <int W> void grow_numbers(const FirstOrderTask &task, int exponent, FirstOrderForest &forest) {
    grow_by(task, Variance<W>{exponent}, NumericTarget<W>{task.target.values, 1, exponent}, forest);
}

bool repeats(const FirstOrderTask &task) {
    return std::any_of(task.parts.begin(), task.parts.end(),
                       [](const TrainingSets &s) { return s.repeats(); });
}

void grow_variance(const FirstOrderTask &task, FirstOrderForest &forest) {
    ExponentSpan span;
    Pace pace(task.cancel, 5);
    for (double v : task.target.values) {
        pace.step();
        span.add(v);
    }
    const std::uint64_t most = task.database.n_examples * (repeats(task) ? 255 : 1);
    const int bits = span.bits() + 2 * static_cast<int>(std::bit_width(most)) + 2;
    holds(narrow_numbers, bits) ? grow_numbers<narrow_numbers>(task, span.lowest, forest)
                                : grow_numbers<wide_numbers>(task, span.lowest, forest);
}

void grow_classes(const FirstOrderTask &task, FirstOrderForest &forest) {
    const XlogTable own(task.database.xlog ? 0 : task.database.n_examples, task.cancel);
    const XlogTable &xlog = task.database.xlog ? *task.database.xlog : own;
    const ClassTarget target{task.target.classes, task.target.n_classes};
    const Entropy entropy{&xlog};
    if (task.parameters.criterion == FirstOrderCriterion::entropy)
        return grow_by(task, entropy, target, forest);
    grow_by(task, GainRatio{entropy}, target, forest);
}

std::size_t place_of(SetMask sets, std::size_t set) {
    return static_cast<std::size_t>(std::popcount(sets & ((SetMask{1} << set) - 1)));
}

} // namespace

FirstOrderForest grow_first_order(const FirstOrderTask &task, std::int32_t n_named) {
    FirstOrderForest forest;
    forest.first_threshold = n_named;
    const bool numbers = task.parameters.criterion == FirstOrderCriterion::variance;
    forest.n_counts = numbers ? 3 : task.target.n_classes;
    if (task.progress != nullptr)
        for (const TrainingSets &sets : task.parts)
            for (std::size_t e = 0; e < task.database.n_examples; ++e)
                for (std::int32_t s = 0; s < sets.n_sets; ++s) task.progress->all += sets.count(e, s);
    if (numbers)
        grow_variance(task, forest);
    else
        grow_classes(task, forest);
    return forest;
}

SetTree tree_of(const FirstOrderForest &forest, std::size_t set) {
    std::size_t p = 0;
    while (set >= at(forest.parts[p].n_sets)) set -= at(forest.parts[p++].n_sets);
    const FirstOrderPart &part = forest.parts[p];
    SetTree tree;
    std::vector<std::int32_t> number(part.nodes.size(), -1);
    struct Open {
        std::int32_t node, parent;
        bool yes;
    };
    std::vector<Open> open{{0, -1, false}};
    while (!open.empty()) {
        const Open here = open.back();
        open.pop_back();
        const FirstOrderNode &node = part.nodes[at(here.node)];
        const auto n = static_cast<std::int32_t>(tree.test.size());
        number[at(here.node)] = n;
        if (here.parent >= 0) (here.yes ? tree.yes : tree.no)[at(here.parent)] = n;
        const double *counts = node.counts.data() + place_of(node.sets, set) * forest.n_counts;
        tree.counts.insert(tree.counts.end(), counts, counts + forest.n_counts);
        tree.test.push_back(-1), tree.yes.push_back(-1), tree.no.push_back(-1);
        for (const Outcome &outcome : node.outcomes) {
            if ((outcome.sets >> set & 1) == 0) continue;
            tree.test.back() = outcome.test;
            open.push_back({outcome.no, n, false});
            open.push_back({outcome.yes, n, true});
        }
    }
    auto out = part.held_out[set];
    std::sort(out.begin(), out.end());
    for (const auto &[example, node] : out) {
        tree.held_out.push_back(example);
        tree.leaf.push_back(number[at(node)]);
    }
    return tree;
}

std::vector<std::int32_t> route_first_order(const RelationalDatabase &database, const RoutedTree &tree,
                                            std::span<const std::uint32_t> examples, Cancel &cancel) {
    std::vector<std::int32_t> leaf(examples.size(), 0);
    struct Open {
        std::int32_t node;
        Query query;
        std::vector<std::uint32_t> places;
    };
    std::vector<Open> open(1);
    open[0].node = 0;
    for (std::uint32_t i = 0; i < examples.size(); ++i) open[0].places.push_back(i);
    Pace pace(cancel, 1000);
    while (!open.empty()) {
        const Open here = std::move(open.back());
        open.pop_back();
        if (here.places.empty()) continue;
        const Query &test = tree.tests[at(here.node)];
        if (test.empty()) {
            for (std::uint32_t i : here.places) leaf[i] = here.node;
            continue;
        }
        Query whole = connected_part(here.query, test);
        whole.insert(whole.end(), test.begin(), test.end());
        Solver solver(database, whole);
        solver.watch(cancel);
        Open yes{tree.yes[at(here.node)], here.query, {}}, no{tree.no[at(here.node)], here.query, {}};
        yes.query.insert(yes.query.end(), test.begin(), test.end());
        for (std::uint32_t i : here.places) {
            pace.step();
            (solver.exists(examples[i]) ? yes : no).places.push_back(i);
        }
        open.push_back(std::move(yes));
        open.push_back(std::move(no));
    }
    return leaf;
}

} // namespace hornbeam
