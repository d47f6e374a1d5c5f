// How a node is settled by qualities: the best test of each attribute, the best of these, and the buckets
// inside which there may be a better one.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "settling/nodes.hpp"

namespace hornbeam {

/// Sets that are read twice: what was read first is handed out again where it does not take much.
class ReadTwice final : public SetReader {
  public:
    explicit ReadTwice(const SetReader &sets) : sets_(sets), held_(sets.size()) {}
    const RefinedSet &first(std::size_t i) {
        passing_ = sets_.read(i);
        const std::size_t size = passing_.counts.size() + 2 * passing_.entry_sums.size();
        if (sets_.exact(i) || taken_ + size > most) return passing_;
        taken_ += size;
        return held_[i].emplace(std::move(passing_));
    }
    std::size_t size() const override { return sets_.size(); }
    RefinedSet read(std::size_t i) const override {
        if (!held_[i]) return sets_.read(i);
        return *std::exchange(held_[i], std::nullopt);
    }
    bool exact(std::size_t i) const override { return sets_.exact(i); }

  private:
    static constexpr std::size_t most = std::size_t{1} << 20; // cells of 32 bits
    const SetReader &sets_;
    mutable std::vector<std::optional<RefinedSet>> held_;
    RefinedSet passing_;
    std::size_t taken_ = 0;
};

template <class Target> class SettlingTests : public SettlingNodes<Target> {
  public:
    using SettlingNodes<Target>::SettlingNodes;

    Settled choose(std::int64_t number, std::vector<Settled> &found) override {
        const OpenNode &node = nodes_[static_cast<std::size_t>(number)];
        Settled best = best_of(node, found);
        best.state = worth(node, best.choice) ? Settled::State::test : Settled::State::leaf;
        return best;
    }

    Settled settle(std::int64_t number, const SetReader &sets, const LookedInto &before, double margin,
                   Cancel &cancel) override {
        std::vector<Settled> found;
        ReadTwice both(sets);
        for (std::size_t a = 0; a < sets.size(); ++a) {
            cancel.poll();
            found.push_back(this->look(number, both.first(a), cancel));
        }
        const OpenNode &node = nodes_[static_cast<std::size_t>(number)];
        Settled settled = best_of(node, found);
        if (before.best != nullptr && precedes(*before.best, settled)) {
            settled = *before.best;
            settled.alive.clear();
        }
        find_alive(node, both, margin, cancel, settled);
        drop_repeated(settled.alive, before);
        const bool taken = worth(node, settled.choice);
        if (settled.alive.empty() && taken) settled.alive = settled.ends;
        settled.state = !settled.alive.empty() ? Settled::State::open
                        : taken                ? Settled::State::test
                                               : Settled::State::leaf;
        return settled;
    }

  protected:
    using SettlingNodes<Target>::nodes_, SettlingNodes<Target>::task_, SettlingNodes<Target>::criterion_;
    using SettlingNodes<Target>::rules_of, SettlingNodes<Target>::worth;

    /// Buckets inside which a cut might be better than the test that was found.
    virtual void find_alive(const OpenNode &node, const SetReader &sets, double margin, Cancel &cancel,
                            Settled &settled) const = 0;

    /// All buckets of several values.
    static void add_inexact(const RefinedSet &set, std::vector<AliveBucket> &alive) {
        for (std::size_t i = 0; i < set.size(); ++i)
            if (!set.exact(i)) alive.push_back({set.attribute, set.bucket[i]});
    }

    /// The keys next to a cut, as far as they are known.
    static void find_ends(const RefinedSet &set, Settled &found) {
        const Choice &c = found.choice;
        found.lo = set.low[c.lo], found.hi = set.low[c.hi];
        // Both are wanted where one is: what was known of the other may have been let go by then.
        if (set.exact(c.lo) && set.exact(c.hi)) return;
        for (std::uint32_t end : {c.lo, c.hi}) found.ends.push_back({c.attribute, set.bucket[end]});
    }

  private:
    /// As the grower compares the tests of attributes.
    Settled best_of(const OpenNode &node, std::vector<Settled> &found) const {
        std::vector<Entered> entered;
        for (Settled &one : found)
            if (one.choice.found()) entered.push_back({&one.choice});
        Settled best;
        Choice choice;
        criterion_->select(entered, rules_of(node), task_.parameters.competitors, choice);
        if (!choice.found()) return best;
        for (Settled &one : found)
            if (!one.children.empty() && one.choice.attribute == choice.attribute) best = std::move(one);
        best.choice = std::move(choice);
        return best;
    }
    /// The order of tests. A cut inside a bucket is before one at the bucket's end, whose lower value may not
    /// be known.
    static bool precedes(const Settled &a, const Settled &b) {
        if (!a.choice.found() || !b.choice.found()) return a.choice.found();
        if (a.choice.quality != b.choice.quality) return a.choice.quality > b.choice.quality;
        if (a.choice.attribute != b.choice.attribute) return a.choice.attribute < b.choice.attribute;
        return a.choice.kind == TestKind::numeric && a.hi < b.hi;
    }
    /// A bucket may be alive with missing rows on either side.
    static void drop_repeated(std::vector<AliveBucket> &alive, const LookedInto &before) {
        std::erase_if(alive, [&, seen = AliveBucket{-1, 0}](const AliveBucket &b) mutable {
            const bool again = b.attribute == seen.attribute && b.bucket == seen.bucket;
            seen = b;
            return again || before.has(b);
        });
    }
};

} // namespace hornbeam
