// The best test of a node for each training set that stands there.
#pragma once

#include <algorithm>
#include <vector>

#include "choice/scorer.hpp"
#include "first_order/first_order.hpp"
#include "first_order/node_lanes.hpp"

namespace hornbeam {

/// Below this quality a test says nothing; of a variance this share of the node's.
inline constexpr double least_quality = 1e-9;

/// Looks at all tests of a node, in any order: the better one wins, of equals the first in the order of
/// tests.
template <class Target> class FirstOrderChoice {
  public:
    using Stats = typename Target::Stats;
    struct Best {
        double quality = 0.0;
        Candidate test;
        bool any() const { return test.group >= 0; }
    };

    FirstOrderChoice(const Scorer<Stats> &scorer, NodeLanes<Target> &lanes, std::int64_t min_samples_leaf,
                     const std::vector<TestGroup> &groups, SetMask standing, std::size_t n_sets,
                     Cancel &cancel)
        : scorer_(scorer), lanes_(lanes), least_leaf_(min_samples_leaf), groups_(groups), standing_(standing),
          cancel_(cancel), best_(n_sets) {
        each_set(standing, [&](std::size_t s) { best_[s].quality = least_of(lanes.node(s)); });
    }

    const Best &of(std::size_t set) const { return best_[set]; }

    void look_at(std::int32_t group, const Coverage &coverage) {
        const TestGroup &g = groups_[static_cast<std::size_t>(group)];
        switch (g.hole) {
        case HoleKind::none:
            lanes_.count(std::span<const std::uint64_t>(coverage.yes));
            return consider({group, 0, 0, 0}, standing_ & ~barred(coverage, -1));
        case HoleKind::constants:
            return constants(group, g, coverage);
        default:
            return thresholds(group, g.hole, coverage);
        }
    }

    /// The sets that have an example on which the test cost too much.
    SetMask barred(const Coverage &coverage, std::int32_t constant) const {
        SetMask sets = 0;
        for (const Found &f : coverage.over)
            if (f.constant == constant) sets |= lanes_.members(f.position);
        return sets;
    }

  private:
    const Scorer<Stats> &scorer_;
    NodeLanes<Target> &lanes_;
    std::int64_t least_leaf_;
    const std::vector<TestGroup> &groups_;
    SetMask standing_;
    Cancel &cancel_;
    std::vector<Best> best_;
    Stats no_;

    double least_of(const Stats &node) const {
        if constexpr (requires { node.yy; })
            return least_quality * scorer_.impurity(node);
        else
            return least_quality;
    }
    void consider(const Candidate &candidate, SetMask sets) {
        each_set(sets, [&](std::size_t s) { score(s, candidate, lanes_.yes(s)); });
    }
    void score(std::size_t s, const Candidate &candidate, const Stats &yes) {
        const Stats &node = lanes_.node(s);
        if (yes.n < least_leaf_ || node.n - yes.n < least_leaf_) return;
        no_ = node; // keeps its memory
        no_ -= yes;
        const Stats *branches[] = {&yes, &no_};
        const double quality = scorer_.score(node, branches).quality;
        Best &best = best_[s];
        if (quality < best.quality || (quality == best.quality && !best.any())) return;
        if (quality == best.quality && !comes_before(groups_, candidate, best.test)) return;
        best = {quality, candidate};
    }
    void constants(std::int32_t group, const TestGroup &g, const Coverage &coverage) {
        std::vector<std::uint32_t> start(g.constants->size() + 1), places(coverage.found.size());
        for (const Found &f : coverage.found) ++start[static_cast<std::size_t>(f.constant) + 1];
        for (std::size_t c = 1; c < start.size(); ++c) start[c] += start[c - 1];
        std::vector<std::uint32_t> next(start.begin(), start.end() - 1);
        for (const Found &f : coverage.found)
            places[next[static_cast<std::size_t>(f.constant)]++] = f.position;
        for (std::size_t c = 0; c + 1 < start.size(); ++c) {
            if (static_cast<std::int64_t>(start[c + 1] - start[c]) == 0) continue;
            const auto constant = static_cast<std::int32_t>(c);
            if (std::find(g.excluded.begin(), g.excluded.end(), constant) != g.excluded.end()) continue;
            lanes_.count(std::span<const std::uint32_t>(places).subspan(start[c], start[c + 1] - start[c]));
            consider({group, constant, 0, 0}, standing_ & ~barred(coverage, constant));
        }
    }
    /// Cuts lie between neighbouring values of the set's own examples; those without a value go to no.
    void thresholds(std::int32_t group, HoleKind hole, const Coverage &coverage) {
        std::vector<std::uint32_t> order;
        for (std::uint32_t p = 0; p < coverage.extreme.size(); ++p)
            if (coverage.extreme[p] >= 0) order.push_back(p);
        auto value = [&](std::uint32_t p) { return coverage.extreme[p]; };
        std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return value(a) != value(b) ? value(a) < value(b) : a < b;
        });
        each_set(standing_ & ~barred(coverage, -1), [&](std::size_t s) {
            cancel_.poll();
            Stats below = lanes_.node(s), all = below, rest = below;
            below.clear();
            all.clear();
            if (hole == HoleKind::above)
                for (std::uint32_t p : order)
                    if (std::int64_t n = lanes_.times(p, s); n > 0) lanes_.add(all, p, n, false);
            Code last = null_code;
            for (std::uint32_t p : order) {
                const std::int64_t n = lanes_.times(p, s);
                if (n == 0) continue;
                if (last >= 0 && value(p) != last) {
                    if (hole == HoleKind::above) {
                        rest = all;
                        rest -= below;
                    }
                    score(s, {group, 0, last, value(p)}, hole == HoleKind::above ? rest : below);
                }
                lanes_.add(below, p, n, false);
                last = value(p);
            }
        });
    }
};

} // namespace hornbeam
