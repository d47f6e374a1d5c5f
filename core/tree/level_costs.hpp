// What the growth of a forest cost, by level and by kind of work.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace hornbeam {

/// The kinds of work that paper 000 tells apart: sending examples to the children of their test, counting
/// them, looking for the best test, and all else (copies where sets part, records).
enum class Work : std::uint8_t { tests, statistics, numeric, other };
constexpr std::size_t work_kinds = 4;

/// `entries`: list entries and rows read to find tests; `own_entries`: what the sets would have read one by
/// one; `joint`: lists and counted attributes that were gone through for several sets at once. `bands`: nodes
/// that near cuts of several sets share; `bands_apart`: those that could not, as their frame had no room for
/// guests.
struct LevelCost {
    std::array<std::uint64_t, work_kinds> ticks{};
    std::int64_t nodes = 0, entries = 0, own_entries = 0, joint = 0, bands = 0, bands_apart = 0;

    LevelCost &operator+=(const LevelCost &other) {
        for (std::size_t w = 0; w < work_kinds; ++w) ticks[w] += other.ticks[w];
        nodes += other.nodes, entries += other.entries, own_entries += other.own_entries;
        joint += other.joint;
        bands += other.bands, bands_apart += other.bands_apart;
        return *this;
    }
};

/// Costs by depth. The clock is the processor's counter: nodes are small and many.
class LevelCosts {
  public:
    static std::uint64_t now() {
#if defined(__x86_64__)
        return __rdtsc();
#else
        return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
    }

    LevelCost &at(std::int64_t depth) {
        const auto level = static_cast<std::size_t>(depth);
        if (levels_.size() <= level) levels_.resize(level + 1);
        return levels_[level];
    }
    /// Puts the time since the last call, or since `start`, down to a kind of work.
    void start() { last_ = now(); }
    void spent(std::int64_t depth, Work work) {
        const std::uint64_t time = now();
        at(depth).ticks[static_cast<std::size_t>(work)] += time - std::exchange(last_, time);
    }
    void add(const LevelCosts &part) {
        if (levels_.size() < part.levels_.size()) levels_.resize(part.levels_.size());
        for (std::size_t i = 0; i < part.levels_.size(); ++i) levels_[i] += part.levels_[i];
    }
    const std::vector<LevelCost> &levels() const { return levels_; }
    std::uint64_t ticks() const {
        std::uint64_t all = 0;
        for (const LevelCost &level : levels_)
            for (std::uint64_t t : level.ticks) all += t;
        return all;
    }

  private:
    std::vector<LevelCost> levels_;
    std::uint64_t last_ = 0;
};

} // namespace hornbeam
