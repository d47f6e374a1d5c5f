// Which examples the tests of a node hold for: packs, connected parts, collected constants and thresholds,
// and a cache of components. Every layer has a switch; answers never depend on it.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "first_order/pack.hpp"
#include "running/parallel.hpp"

namespace hornbeam {

struct EngineSwitches {
    bool pack = true, connected = true, collect = true, cache = true;
    std::size_t cache_bytes = std::size_t{256} << 20;
};

struct EngineCounters {
    std::int64_t tests = 0;     // tests times examples
    std::int64_t answered = 0;  // of these, by the cache
    std::int64_t steps = 0;     // rows that fitted a literal
    std::int64_t fallbacks = 0; // tests asked alone for fear of the budget
    std::int64_t cache_entries = 0, cache_bytes = 0;
};

/// What is known of a component (a connected part and the literals of a test, variables renamed), by example.
/// It holds wherever the component is asked for behind a query that the example satisfies.
struct KnownComponent {
    std::vector<std::uint64_t> known, yes;
    std::vector<std::uint32_t> start, count; // of the constants of each example in `constants`
    std::vector<std::int32_t> constants;
    std::vector<Code> extreme;

    bool has(std::size_t e) const { return (known[e / 64] >> (e % 64) & 1) != 0; }
};

using ComponentKey = std::vector<std::int64_t>;
struct ComponentHash {
    std::size_t operator()(const ComponentKey &key) const;
};
/// Adds a literal, its variables renamed by first occurrence: nothing is dropped but their numbers.
void add_to_key(ComponentKey &key, const Literal &literal, std::vector<std::int64_t> &name,
                std::int64_t &n_names);
ComponentKey component_key(const ReadyGroup &group);

class CoverageEngine {
  public:
    CoverageEngine(const RelationalDatabase &database, const LanguageBias &bias, EngineSwitches switches,
                   std::uint64_t budget, Workers &workers, Cancel &cancel);

    /// The coverage of each group over the examples, all of which satisfy the query.
    std::vector<Coverage> evaluate(const Query &query, std::span<const TestGroup> groups,
                                   std::span<const std::uint32_t> examples);
    /// About the bytes that the coverage of a group takes.
    static std::size_t bytes_of(const TestGroup &group, std::size_t n_examples);
    bool expands() const { return !switches_.collect; }
    EngineCounters counters() const;

  private:
    const RelationalDatabase &database_;
    const LanguageBias &bias_;
    EngineSwitches switches_;
    std::uint64_t budget_;
    Workers &workers_;
    Cancel &cancel_;
    EngineCounters counters_;
    std::unordered_map<ComponentKey, KnownComponent, ComponentHash> cache_;
    std::unordered_map<const void *, std::vector<std::int32_t>> constant_of_; // by list: numbers by code

    struct Parts {
        std::map<Query, ConnectedPart> all;
        std::map<std::vector<Code>, const ConnectedPart *>
            of; // by the variables of the query that tests have
    };

    struct Wanted; // a group, what the cache has of it, and what is still to be found out

    ReadyGroup ready(const Query &query, Code n_variables, const TestGroup &group, Parts &parts);
    const std::vector<std::int32_t> &numbers_of(const TestGroup &group);
    void look_up(Wanted &one, std::span<const std::uint32_t> examples, Coverage &to);
    void keep(const Wanted &one, std::span<const std::uint32_t> examples, const Coverage &from);
    void run_pack(const Query &query, std::vector<Wanted *> &members,
                  std::span<const std::uint32_t> examples);
    void by_bisection(const Query &query, Wanted &one, std::span<const std::uint32_t> examples);
    void ask_alone(const ReadyGroup &group, std::size_t example, std::uint32_t position, Coverage &to,
                   std::int64_t &steps) const;
};

} // namespace hornbeam
