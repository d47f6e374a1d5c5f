// The grower of first-order trees, for one kind of target.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <tuple>

#include "first_order/choice.hpp"
#include "first_order/first_order.hpp"
#include "numbers/log_p.hpp"

namespace hornbeam {

/// Charges time to kinds of work, by depth.
class FirstOrderClock {
  public:
    explicit FirstOrderClock(std::vector<FirstOrderLevel> &levels) : levels_(levels) {}
    FirstOrderLevel &at(std::int32_t depth) {
        if (levels_.size() <= static_cast<std::size_t>(depth))
            levels_.resize(static_cast<std::size_t>(depth) + 1);
        return levels_[static_cast<std::size_t>(depth)];
    }
    void spent(std::int32_t depth, FirstOrderWork work) {
        const auto now = std::chrono::steady_clock::now();
        const std::chrono::duration<double> passed = now - std::exchange(last_, now);
        at(depth).seconds[static_cast<std::size_t>(work)] += passed.count();
    }

  private:
    std::vector<FirstOrderLevel> &levels_;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Tests of all parts, each once; thresholds are named behind the constants of the bias.
class TestBook {
  public:
    TestBook(FirstOrderForest &forest, const LanguageBias &bias, const RelationalDatabase &database)
        : forest_(forest), bias_(bias), database_(database) {}

    /// The test that a candidate stands for.
    Query test_of(const TestGroup &group, const Candidate &candidate) {
        Query test = group.test;
        for (Literal &literal : test) {
            for (Term &t : literal.terms) {
                if (t.kind != TermKind::hole) continue;
                if (group.hole == HoleKind::constants) {
                    const GivenConstant &c = (*group.constants)[static_cast<std::size_t>(candidate.constant)];
                    t = {TermKind::constant, c.code};
                    if (c.named >= 0) literal.named = c.named;
                } else {
                    const auto d = bias_.domain_of[static_cast<std::size_t>(group.hole_type)];
                    const ValueDomain &domain = database_.domains[static_cast<std::size_t>(d)];
                    t = {TermKind::constant, domain.cut_between(candidate.lo, candidate.hi)};
                    literal.named = named({d, candidate.lo, candidate.hi});
                }
            }
        }
        return test;
    }
    std::int32_t number_of(const Query &test) {
        auto [it, is_new] = numbers_.try_emplace(test, static_cast<std::int32_t>(forest_.tests.size()));
        if (is_new) forest_.tests.push_back(test);
        return it->second;
    }

  private:
    FirstOrderForest &forest_;
    const LanguageBias &bias_;
    const RelationalDatabase &database_;
    std::map<Query, std::int32_t> numbers_;
    std::map<std::tuple<std::int32_t, Code, Code>, std::int32_t> thresholds_;

    std::int32_t named(const Threshold &t) {
        const auto next = forest_.first_threshold + static_cast<std::int32_t>(forest_.thresholds.size());
        auto [it, is_new] = thresholds_.try_emplace({t.domain, t.lo, t.hi}, next);
        if (is_new) forest_.thresholds.push_back(t);
        return it->second;
    }
};

/// What is to become of a node: `examples` are in some of its sets, `riders` in none and only want to know
/// where they come to rest.
struct PendingNode {
    std::int32_t node = 0;
    SetMask sets = 0;
    std::vector<std::uint32_t> examples, riders;
    std::shared_ptr<const Path> path;
};

template <class Target> class FirstOrderGrower {
    static constexpr std::size_t most_coverage = std::size_t{128} << 20; // bytes, about

  public:
    using Stats = typename Target::Stats;

    FirstOrderGrower(const FirstOrderTask &task, const Scorer<Stats> &scorer, const Target &target,
                     FirstOrderForest &forest)
        : task_(task), scorer_(scorer), target_(target), forest_(forest),
          book_(forest, task.bias, task.database), workers_(task.threads, task.cancel),
          engine_(task.database, task.bias, task.switches, task.budget, workers_, task.cancel),
          clock_(forest.levels) {}

    void grow() {
        for (const TrainingSets &sets : task_.parts) grow_part(sets);
        forest_.counters = engine_.counters();
        for (auto &[test, dropped] : dropped_) forest_.dropped.push_back(dropped);
    }

  private:
    const FirstOrderTask &task_;
    const Scorer<Stats> &scorer_;
    const Target &target_;
    FirstOrderForest &forest_;
    TestBook book_;
    Workers workers_;
    CoverageEngine engine_;
    FirstOrderClock clock_;
    std::map<Query, DroppedTest> dropped_;

    // Of the part at hand.
    const TrainingSets *sets_ = nullptr;
    FirstOrderPart *part_ = nullptr;
    NodeLanes<Target> *lanes_ = nullptr;
    std::vector<PendingNode> pending_;

    void grow_part(const TrainingSets &sets) {
        sets_ = &sets;
        part_ = &forest_.parts.emplace_back();
        part_->n_sets = sets.n_sets;
        part_->held_out.resize(static_cast<std::size_t>(sets.n_sets));
        NodeLanes<Target> lanes(target_, sets);
        lanes_ = &lanes;
        PendingNode root;
        root.sets = ~SetMask{0} >> (TrainingSets::most - sets.n_sets);
        for (std::uint32_t e = 0; e < task_.database.n_examples; ++e)
            (sets.of(e) != 0 ? root.examples : root.riders).push_back(e);
        Path path;
        path.types = {task_.bias.key_type};
        root.path = std::make_shared<const Path>(std::move(path));
        root.node = new_node(root.sets, 0);
        pending_.push_back(std::move(root));
        while (!pending_.empty()) {
            task_.cancel.poll();
            PendingNode next = std::move(pending_.back());
            pending_.pop_back();
            settle(std::move(next));
        }
    }

    std::int32_t new_node(SetMask sets, std::int32_t depth) {
        part_->nodes.push_back({sets, depth, {}, {}});
        ++clock_.at(depth).nodes;
        return static_cast<std::int32_t>(part_->nodes.size()) - 1;
    }

    void settle(PendingNode here) {
        const std::int32_t depth = node(here).depth;
        lanes_->prepare(here.examples, here.sets);
        SetMask stays = 0;
        each_set(here.sets, [&](std::size_t s) {
            put_counts(node(here).counts, lanes_->node(s));
            if (is_final(lanes_->node(s), depth)) stays |= SetMask{1} << s;
        });
        rest(here, stays);
        clock_.spent(depth, FirstOrderWork::statistics);
        if (here.sets == 0) return;
        if (stays != 0) lanes_->prepare(here.examples, here.sets);
        split(here, depth);
    }

    /// Finds the best test of each set, and parts those that disagree.
    void split(const PendingNode &here, std::int32_t depth) {
        const std::vector<TestGroup> groups =
            refine(task_.database, task_.bias, *here.path, engine_.expands(), task_.cancel);
        count_entries(here, depth);
        clock_.spent(depth, FirstOrderWork::other);
        FirstOrderChoice<Target> choice(scorer_, *lanes_, task_.parameters.min_samples_leaf, groups,
                                        here.sets, static_cast<std::size_t>(sets_->n_sets), task_.cancel);
        std::vector<Coverage> coverage(groups.size());
        for (std::size_t begin = 0; begin < groups.size();)
            begin = look_at_some(here, depth, groups, begin, choice, coverage);
        SetMask stays = 0;
        std::vector<std::pair<Candidate, SetMask>> parties;
        each_set(here.sets, [&](std::size_t s) {
            const auto &best = choice.of(s);
            if (!best.any() || !significant(s, groups, coverage, best.test)) {
                stays |= SetMask{1} << s;
                return;
            }
            auto same = [&](const auto &party) { return party.first == best.test; };
            auto party = std::find_if(parties.begin(), parties.end(), same);
            if (party == parties.end()) party = parties.insert(party, {best.test, 0});
            party->second |= SetMask{1} << s;
        });
        clock_.spent(depth, FirstOrderWork::statistics);
        if (!parties.empty()) {
            ++clock_.at(depth).splits;
            clock_.at(depth).tests += static_cast<std::int64_t>(parties.size());
            forest_.bifurcations += parties.size() > 1;
        }
        rest_known(here, stays);
        for (std::size_t i = parties.size(); i-- > 0;) // the first on top of the stack
            part_ways(here, groups, coverage, parties[i].first, parties[i].second);
        std::reverse(node(here).outcomes.begin(), node(here).outcomes.end());
        clock_.spent(depth, FirstOrderWork::partition);
    }

    /// Evaluates groups from `begin` on, so many as there is memory for, and keeps the coverage of the best.
    std::size_t look_at_some(const PendingNode &here, std::int32_t depth,
                             const std::vector<TestGroup> &groups, std::size_t begin,
                             FirstOrderChoice<Target> &choice, std::vector<Coverage> &coverage) {
        std::size_t end = begin, bytes = 0;
        while (end < groups.size() && (end == begin || bytes < most_coverage))
            bytes += CoverageEngine::bytes_of(groups[end++], here.examples.size());
        std::vector<Coverage> found =
            engine_.evaluate(here.path->query, std::span(groups).subspan(begin, end - begin), here.examples);
        clock_.spent(depth, FirstOrderWork::evaluating);
        for (std::size_t g = begin; g < end; ++g) {
            task_.cancel.poll();
            coverage[g] = std::move(found[g - begin]);
            choice.look_at(static_cast<std::int32_t>(g), coverage[g]);
            if (!coverage[g].over.empty()) note_dropped(groups[g], coverage[g]);
        }
        if (begin > 0 || end < groups.size()) {
            std::vector<bool> kept(end);
            each_set(here.sets, [&](std::size_t s) {
                if (choice.of(s).any()) kept[static_cast<std::size_t>(choice.of(s).test.group)] = true;
            });
            for (std::size_t g = 0; g < end; ++g)
                if (!kept[g]) coverage[g] = {};
        }
        clock_.spent(depth, FirstOrderWork::statistics);
        return end;
    }

    FirstOrderNode &node(const PendingNode &here) {
        return part_->nodes[static_cast<std::size_t>(here.node)];
    }

    void put_counts(std::vector<double> &to, const Stats &stats) const {
        if constexpr (requires { stats.c; }) {
            for (std::int64_t c : stats.c) to.push_back(as_double(c));
        } else {
            const auto n = static_cast<std::uint64_t>(stats.n);
            to.push_back(as_double(stats.n));
            to.push_back(stats.n == 0 ? 0.0 : nearest_quotient(stats.y[0], n, target_.exponent));
            to.push_back(stats.n == 0 ? 0.0 : squares(stats));
        }
    }
    /// The sum of squared deviations from the mean.
    double squares(const Stats &stats) const {
        if constexpr (requires { stats.yy; })
            return nearest_double(stats.spread(0), 2 * target_.exponent) / as_double(stats.n);
        else
            return 0.0;
    }
    bool is_final(const Stats &stats, std::int32_t depth) const {
        const FirstOrderParameters &p = task_.parameters;
        if (stats.n < 2 * p.min_samples_leaf || (p.max_depth >= 0 && depth >= p.max_depth)) return true;
        if (stats.pure()) return true;
        if constexpr (requires { stats.c; })
            return as_double(*std::max_element(stats.c.begin(), stats.c.end())) >=
                   p.accuracy * as_double(stats.n);
        return false;
    }
    bool significant(std::size_t s, const std::vector<TestGroup> &groups,
                     const std::vector<Coverage> &coverage, const Candidate &best) const {
        if constexpr (requires(Stats x) { x.yy; }) {
            if (!(task_.parameters.ftest > 0.0)) return true;
            const Stats &whole = lanes_->node(s);
            if (whole.n <= 2) return false;
            Stats yes = target_.zero(), no = whole;
            const std::vector<bool> side = sides(groups, coverage, best);
            for (std::size_t p = 0; p < lanes_->size(); ++p)
                if (const std::int64_t n = lanes_->times(p, s); side[p] && n > 0)
                    lanes_->add(yes, p, n, true);
            no -= yes;
            const double p = log_p_of_f(squares(whole), squares(yes) + squares(no), whole.n - 1, whole.n - 2);
            return p <= exact_log(task_.parameters.ftest);
        }
        return true;
    }

    /// Some sets have a leaf here, before anything was evaluated; examples that only they have ride on.
    void rest(PendingNode &here, SetMask sets) {
        if (sets == 0) return;
        rest_known(here, sets);
        here.sets &= ~sets;
        if (here.sets == 0) return;
        auto stays = [&](std::uint32_t e) { return (sets_->of(e) & here.sets) != 0; };
        auto ride = std::stable_partition(here.examples.begin(), here.examples.end(), stays);
        here.riders.insert(here.riders.end(), ride, here.examples.end());
        here.examples.erase(ride, here.examples.end());
    }
    void rest_known(const PendingNode &here, SetMask sets) {
        each_set(sets, [&](std::size_t s) {
            auto &out = part_->held_out[s];
            const SetMask bit = SetMask{1} << s;
            for (std::uint32_t e : here.examples)
                if ((sets_->of(e) & bit) == 0) out.emplace_back(e, here.node);
            for (std::uint32_t e : here.riders) out.emplace_back(e, here.node);
            if (task_.progress != nullptr) task_.progress->settled += lanes_->node(s).n;
        });
    }
    void count_entries(const PendingNode &here, std::int32_t depth) {
        FirstOrderLevel &level = clock_.at(depth);
        level.entries += static_cast<std::int64_t>(here.examples.size());
        if (sets_->n_sets == 1) {
            level.own_entries += static_cast<std::int64_t>(here.examples.size());
            return;
        }
        for (std::uint32_t e : here.examples) level.own_entries += std::popcount(sets_->of(e) & here.sets);
    }
    void note_dropped(const TestGroup &group, const Coverage &coverage) {
        std::map<std::int32_t, std::pair<std::int64_t, SetMask>> by_constant;
        for (const Found &f : coverage.over) {
            auto &[n, sets] = by_constant[f.constant];
            ++n;
            sets |= lanes_->members(f.position);
        }
        for (const auto &[constant, of] : by_constant) {
            const Query test = constant < 0 ? group.test : book_.test_of(group, {0, constant, 0, 0});
            DroppedTest &d = dropped_.try_emplace(test, DroppedTest{test, 0, 0}).first->second;
            d.examples += of.first;
            d.sets += std::popcount(of.second);
        }
    }

    /// By position: whether the test holds, where the coverage has an answer.
    std::vector<bool> sides(const std::vector<TestGroup> &groups, const std::vector<Coverage> &coverage,
                            const Candidate &test) const {
        const TestGroup &group = groups[static_cast<std::size_t>(test.group)];
        const Coverage &c = coverage[static_cast<std::size_t>(test.group)];
        std::vector<bool> side(lanes_->size());
        if (group.hole == HoleKind::none) {
            each_bit(std::span<const std::uint64_t>(c.yes), [&](std::size_t p) { side[p] = true; });
        } else if (group.hole == HoleKind::constants) {
            for (const Found &f : c.found)
                if (f.constant == test.constant) side[f.position] = true;
        } else {
            const auto d = task_.bias.domain_of[static_cast<std::size_t>(group.hole_type)];
            const Code cut =
                task_.database.domains[static_cast<std::size_t>(d)].cut_between(test.lo, test.hi);
            for (std::size_t p = 0; p < side.size(); ++p)
                side[p] = c.extreme[p] >= 0 && (group.hole == HoleKind::at_most) == (c.extreme[p] <= cut);
        }
        return side;
    }

    /// Sends the examples of some sets to the children of their test.
    void part_ways(const PendingNode &here, const std::vector<TestGroup> &groups,
                   const std::vector<Coverage> &coverage, const Candidate &best, SetMask sets) {
        const TestGroup &group = groups[static_cast<std::size_t>(best.group)];
        const Query test = book_.test_of(group, best);
        std::vector<bool> side = sides(groups, coverage, best);
        Query whole = connected_part(here.path->query, test);
        whole.insert(whole.end(), test.begin(), test.end());
        Solver solver(task_.database, whole);
        solver.watch(task_.cancel);
        for (const Found &f : coverage[static_cast<std::size_t>(best.group)].over)
            if (f.constant < 0 || f.constant == best.constant)
                side[f.position] = solver.exists(here.examples[f.position]);

        const std::int32_t depth = node(here).depth + 1;
        PendingNode yes, no;
        yes.sets = no.sets = sets;
        for (std::size_t p = 0; p < here.examples.size(); ++p) {
            PendingNode &to = side[p] ? yes : no;
            const std::uint32_t e = here.examples[p];
            ((sets_->of(e) & sets) != 0 ? to.examples : to.riders).push_back(e);
        }
        Pace pace(task_.cancel, 1000);
        for (std::uint32_t e : here.riders) {
            pace.step();
            (solver.exists(e) ? yes : no).riders.push_back(e);
        }
        Path longer = *here.path;
        longer.query.insert(longer.query.end(), test.begin(), test.end());
        longer.types = group.types;
        yes.path = std::make_shared<const Path>(std::move(longer));
        no.path = here.path;
        const std::int32_t number = book_.number_of(test);
        yes.node = new_node(sets, depth), no.node = new_node(sets, depth);
        node(here).outcomes.push_back({sets, number, yes.node, no.node});
        pending_.push_back(std::move(no));
        pending_.push_back(std::move(yes));
    }
};

} // namespace hornbeam
