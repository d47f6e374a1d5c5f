// Every test of a node is judged by the smallest trees sampled below its branches.
#include "lookahead/choice.hpp"

#include <algorithm>
#include <cmath>

namespace hornbeam {
namespace {

/// Sizes above, place among the trials by gain below: the smaller number is the better test.
std::uint64_t rank_of_total(std::uint32_t total, std::uint32_t place) {
    return std::uint64_t{total} << 32 | place;
}

} // namespace

TestChoice::TestChoice(const Lookahead &lookahead, const Effort &effort, Cancel &cancel)
    : options_(lookahead.options()), effort_(effort), cancel_(cancel),
      workers_(effort.repetitions == 0 ? 1u : static_cast<unsigned>(std::max(options_.threads, 1)), cancel) {
    masks_.resize(workers_.places());
    for (std::size_t w = 0; w < workers_.places(); ++w) samplers_.push_back(lookahead.sampler(cancel));
}

void TestChoice::read_tests(const NodeView &node, TestRange range) {
    Sampler &s = sampler();
    const std::size_t n = s.tests(node, range);
    tests_ = {s.found(), n};
    sides_.assign(s.sides(), s.sides() + s.n_sides());
}

ChosenTest TestChoice::choose(const NodeView &node, std::uint64_t key) {
    if (effort_.repetitions == 0) {
        read_tests(node, TestRange::candidates);
        auto best = std::max_element(tests_.begin(), tests_.end(),
                                     [](const NodeTest &a, const NodeTest &b) { return a.gain < b.gain; });
        return {*best, sides_};
    }
    read_tests(node, TestRange::all);
    plan(node, key);
    order();
    best_ = ~std::uint64_t{0};
    run(node, key);
    return {tests_[trials_[static_cast<std::uint32_t>(best_.load())].test], sides_};
}

std::vector<SeenTest> TestChoice::totals(const NodeView &node, std::uint64_t key) {
    read_tests(node, TestRange::all);
    plan(node, key);
    sampler().open(node);
    std::vector<std::uint32_t> least(tests_.size(), no_limit);
    for (const Trial &trial : trials_)
        least[trial.test] = std::min(least[trial.test], total(node, trial, key, no_limit, 0));
    std::vector<SeenTest> seen;
    for (std::size_t j = 0; j < tests_.size(); ++j)
        if (least[j] != no_limit) seen.push_back({tests_[j], static_cast<std::int64_t>(j), least[j]});
    return seen;
}

/// Which tests are evaluated, with which keys.
void TestChoice::plan(const NodeView &node, std::uint64_t key) {
    trials_.clear();
    trials_.reserve(trials_of_cuts(node));
    for (std::uint32_t begin = 0; begin < tests_.size();) {
        cancel_.poll();
        const NodeAttribute &a = node.attributes[tests_[begin].place];
        std::uint32_t end = begin + (a.nominal ? 0 : a.values - 1);
        while (end < tests_.size() && tests_[end].place == tests_[begin].place) ++end;
        if (!a.nominal && draws(node, end - begin) != 0)
            plan_cuts(node, key, begin, end);
        else
            plan_all(begin, end);
        begin = end;
    }
}

/// Of numeric attributes, so that millions of trials are not moved as their room grows.
std::size_t TestChoice::trials_of_cuts(const NodeView &node) const {
    std::size_t n = 0;
    for (std::uint32_t a = 0; a < node.n_attributes; ++a) {
        if (node.attributes[a].nominal) continue;
        const std::uint32_t cuts = node.attributes[a].values - 1;
        const std::uint64_t drawn = draws(node, cuts);
        n += drawn == 0 ? cuts : drawn;
    }
    return n;
}

void TestChoice::plan_all(std::uint32_t begin, std::uint32_t end) {
    in_stretches(end - begin, cancel_, [&](std::size_t from, std::size_t to) {
        for (std::size_t j = begin + from; j < begin + to; ++j)
            trials_.push_back({tests_[j].gain, 0, static_cast<std::uint32_t>(j)});
    });
}

/// How often a cut is drawn; 0: every cut is looked at.
std::uint64_t TestChoice::draws(const NodeView &node, std::uint32_t cuts) const {
    if (effort_.draws) return cuts > *effort_.draws ? *effort_.draws : 0;
    if (!effort_.sample_fraction || cuts < 2) return 0;
    return static_cast<std::uint64_t>(
        std::max(1.0, std::ceil(*effort_.sample_fraction * static_cast<double>(node.n))));
}

void TestChoice::plan_cuts(const NodeView &node, std::uint64_t key, std::uint32_t begin, std::uint32_t end) {
    std::vector<double> sums;
    double total = 0.0;
    for (std::uint32_t j = begin; j < end; ++j) sums.push_back(total += tests_[j].gain + draw_weight);
    const auto attribute = static_cast<std::uint64_t>(node.attributes[tests_[begin].place].attribute);
    const std::uint64_t place = mix(key, (std::uint64_t{1} << 32) + attribute);
    const std::uint64_t many = draws(node, end - begin);
    Pace pace(cancel_, 100);
    for (std::uint64_t q = 0; q < many; ++q) {
        pace.step();
        const double x = unit(mix(place, q)) * total;
        const auto at =
            static_cast<std::uint32_t>(std::upper_bound(sums.begin(), sums.end(), x) - sums.begin());
        const std::uint32_t test = std::min(begin + at, end - 1);
        trials_.push_back({tests_[test].gain, q * effort_.repetitions, test});
    }
}

/// By gain, so that a later test must be better, not just as good.
void TestChoice::order() {
    Pace pace(cancel_, 20);
    std::sort(trials_.begin(), trials_.end(), [&](const Trial &a, const Trial &b) {
        pace.step();
        if (a.gain != b.gain) return a.gain > b.gain;
        return a.test != b.test ? a.test < b.test : a.first < b.first;
    });
}

/// Any number from `limit` where the total is not below it.
std::uint32_t TestChoice::total(const NodeView &node, const Trial &trial, std::uint64_t key,
                                std::uint32_t limit, unsigned worker) {
    const NodeTest &test = tests_[trial.test];
    std::vector<std::uint64_t> &mask = masks_[worker];
    mask.resize(node.words);
    const std::uint64_t of_test = mix(key, trial.test);
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < test.branches; ++i) {
        const std::uint32_t others = test.branches - i - 1; // each has a leaf at least
        if (limit != no_limit && sum + others + 1 >= limit) return limit;
        samplers_[worker]->mask(node, test, sides_.data(), i, mask.data());
        sum +=
            samplers_[worker]->smallest(node, mask.data(), mix(of_test, i), trial.first, effort_.repetitions,
                                        limit == no_limit ? no_limit : limit - sum - others);
    }
    return sum;
}

void TestChoice::evaluate(const NodeView &node, std::size_t t, std::uint64_t key, unsigned worker) {
    const auto place = static_cast<std::uint32_t>(t);
    std::uint32_t limit = no_limit;
    if (const std::uint64_t best = best_.load(); options_.aborts && best != ~std::uint64_t{0})
        limit = static_cast<std::uint32_t>(best >> 32) + (place < static_cast<std::uint32_t>(best) ? 1 : 0);
    const std::uint32_t sum = total(node, trials_[t], key, limit, worker);
    if (sum >= limit) return;
    const std::uint64_t mine = rank_of_total(sum, place);
    for (std::uint64_t seen = best_.load(); mine < seen && !best_.compare_exchange_weak(seen, mine);) {
    }
}

void TestChoice::run(const NodeView &node, std::uint64_t key) {
    constexpr std::uint64_t worth_sharing = 2048; // rows times trials
    if (!workers_.several() || node.n * trials_.size() * effort_.repetitions < worth_sharing) {
        sampler().open(node);
        Pace pace(cancel_, 20); // of those that cannot win no row is looked at
        for (std::size_t t = 0; t < trials_.size(); ++t) {
            pace.step();
            evaluate(node, t, key, 0);
        }
        return;
    }
    for (auto &s : samplers_) s->open(node);
    workers_.share(trials_.size(), [&](std::size_t t, unsigned worker) { evaluate(node, t, key, worker); });
}

} // namespace hornbeam
