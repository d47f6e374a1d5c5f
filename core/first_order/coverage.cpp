// Evaluation of the tests of a node, layer by layer.
#include "first_order/coverage.hpp"

#include <algorithm>

namespace hornbeam {
namespace {

constexpr std::size_t block = 1024; // positions that one task answers: whole words of bits

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
bool is_threshold(HoleKind kind) { return kind == HoleKind::at_most || kind == HoleKind::above; }
std::size_t words_for(std::size_t n) { return (n + 63) / 64; }

void set_bit(std::vector<std::uint64_t> &bits, std::size_t i) {
    bits[i / 64] |= std::uint64_t{1} << (i % 64);
}

Query with_constant(Query literals, Code code) {
    for (Literal &literal : literals)
        for (Term &t : literal.terms)
            if (t.kind == TermKind::hole) t = {TermKind::constant, code};
    return literals;
}

Query joined(const Query &a, const Query &b) {
    Query all = a;
    all.insert(all.end(), b.begin(), b.end());
    return all;
}

Query without_hole(const Query &literals) {
    Query rest;
    for (const Literal &literal : literals)
        if (!literal.has_hole()) rest.push_back(literal);
    return rest;
}

/// A number for each example at hand from all solutions, by the plain solver's steps; null_code: none.
Code extreme_alone(const RelationalDatabase &database, const ReadyGroup &group, std::size_t example) {
    const Query all = joined(group.part->literals, group.literals());
    const std::size_t n = variables_of(all);
    Bound bound(n);
    std::vector<Step> steps;
    for (const Literal &literal : all) steps.push_back(step_of(database, literal, bound));
    Bindings b;
    b.value.assign(n + 1, null_code);
    b.start(database, example);
    Code extreme = null_code;
    const bool least = group.group->hole == HoleKind::at_most;
    auto found = [&] {
        const Code v = b.value[n];
        if (extreme < 0 || (least ? v < extreme : v > extreme)) extreme = v;
        return false;
    };
    solve(std::span<const Step>(steps), b, found);
    return extreme;
}

} // namespace

std::size_t ComponentHash::operator()(const ComponentKey &key) const {
    std::uint64_t h = 0x9E3779B97F4A7C15u;
    for (std::int64_t x : key) {
        h = (h ^ static_cast<std::uint64_t>(x)) * 0xBF58476D1CE4E5B9u;
        h ^= h >> 29;
    }
    return static_cast<std::size_t>(h);
}

void add_to_key(ComponentKey &key, const Literal &literal, std::vector<std::int64_t> &name,
                std::int64_t &n_names) {
    key.push_back(literal.predicate);
    for (const Term &t : literal.terms) {
        std::int64_t value = t.kind == TermKind::hole ? 0 : t.value;
        if (t.is_variable() && t.value != 0) {
            const auto v = static_cast<std::size_t>(t.value);
            if (name.size() <= v) name.resize(v + 1, -1);
            if (name[v] < 0) name[v] = n_names++;
            value = name[v];
        }
        key.push_back(static_cast<std::int64_t>(t.kind) | value * 8);
    }
}

/// Where the test begins in it does not matter.
ComponentKey component_key(const ReadyGroup &group) {
    ComponentKey key = group.part->key;
    std::vector<std::int64_t> name = group.part->name;
    std::int64_t n_names = group.part->n_names;
    for (const Literal &literal : group.literals()) add_to_key(key, literal, name, n_names);
    if (group.group->hole == HoleKind::constants)
        key.push_back(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(group.group->constants)));
    return key;
}

struct CoverageEngine::Wanted {
    ReadyGroup ready;
    Coverage *coverage = nullptr;
    KnownComponent *component = nullptr;
    std::vector<bool> open; // by position; empty: all
    bool settled = false;   // nothing is open
};

CoverageEngine::CoverageEngine(const RelationalDatabase &database, const LanguageBias &bias,
                               EngineSwitches switches, std::uint64_t budget, Workers &workers,
                               Cancel &cancel)
    : database_(database), bias_(bias), switches_(switches), budget_(budget), workers_(workers),
      cancel_(cancel) {}

EngineCounters CoverageEngine::counters() const {
    EngineCounters c = counters_;
    c.cache_entries = static_cast<std::int64_t>(cache_.size());
    return c;
}

const std::vector<std::int32_t> &CoverageEngine::numbers_of(const TestGroup &group) {
    auto [it, is_new] = constant_of_.try_emplace(group.constants);
    if (is_new) {
        const auto domain = at(bias_.domain_of[at(group.hole_type)]);
        it->second.assign(at(database_.domains[domain].size), -1);
        for (std::size_t i = group.constants->size(); i-- > 0;)
            it->second[at((*group.constants)[i].code)] = static_cast<std::int32_t>(i);
    }
    return it->second;
}

ReadyGroup CoverageEngine::ready(const Query &query, Code n_variables, const TestGroup &group, Parts &parts) {
    ReadyGroup r;
    r.group = &group;
    if (is_threshold(group.hole) && !group.test.back().has_hole()) {
        r.reordered = without_hole(group.test);
        for (const Literal &literal : group.test)
            if (literal.has_hole()) r.reordered.push_back(literal);
    }
    std::vector<Code> used;
    for (const Literal &literal : group.test)
        for (const Term &t : literal.terms)
            if (t.is_variable() && t.value != 0 && t.value < n_variables) used.push_back(t.value);
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    const ConnectedPart *&part = parts.of[std::move(used)];
    if (part == nullptr) {
        Query literals = connected_part(query, group.test);
        auto [it, is_new] = parts.all.try_emplace(literals);
        ConnectedPart &made = it->second;
        for (const Literal &literal : literals)
            if (is_new) add_to_key(made.key, literal, made.name, made.n_names);
        if (is_new) made.literals = std::move(literals);
        part = &made;
    }
    r.part = part;
    if (group.hole == HoleKind::constants) {
        r.constant_of = &numbers_of(group);
        r.n_constants = group.constants->size();
    }
    return r;
}

std::size_t CoverageEngine::bytes_of(const TestGroup &group, std::size_t n_examples) {
    if (group.hole == HoleKind::none) return n_examples / 8;
    return is_threshold(group.hole) ? n_examples * sizeof(Code) : n_examples * 4 * sizeof(Found);
}

std::vector<Coverage> CoverageEngine::evaluate(const Query &query, std::span<const TestGroup> groups,
                                               std::span<const std::uint32_t> examples) {
    std::vector<Coverage> all(groups.size());
    std::vector<Wanted> wanted(groups.size());
    if (counters_.cache_bytes > static_cast<std::int64_t>(switches_.cache_bytes)) {
        cache_.clear();
        counters_.cache_bytes = 0;
    }
    Parts parts;
    std::map<std::pair<std::size_t, const ConnectedPart *>, std::vector<Wanted *>> packs;
    const auto n_variables = static_cast<Code>(variables_of(query));
    for (std::size_t g = 0; g < groups.size(); ++g) {
        cancel_.poll();
        Wanted &one = wanted[g];
        one.ready = ready(query, n_variables, groups[g], parts);
        one.coverage = &all[g];
        if (groups[g].hole == HoleKind::none)
            all[g].yes.assign(words_for(examples.size()), 0);
        else if (is_threshold(groups[g].hole))
            all[g].extreme.assign(examples.size(), null_code);
        const std::size_t tests = groups[g].hole == HoleKind::constants
                                      ? groups[g].constants->size() - groups[g].excluded.size()
                                      : 1;
        counters_.tests += static_cast<std::int64_t>(tests * examples.size());
        if (switches_.cache) {
            look_up(one, examples, all[g]);
            if (one.settled) continue;
        }
        if (is_threshold(groups[g].hole) && !switches_.collect) {
            by_bisection(query, one, examples);
            continue;
        }
        // Without packs each group has one of its own.
        packs[{switches_.pack ? 0 : g, switches_.connected ? one.ready.part : nullptr}].push_back(&one);
    }
    for (auto &[which, members] : packs) run_pack(query, members, examples);
    for (Wanted &one : wanted)
        if (one.component != nullptr && !one.settled) keep(one, examples, *one.coverage);
    return all;
}

void CoverageEngine::run_pack(const Query &query, std::vector<Wanted *> &members,
                              std::span<const std::uint32_t> examples) {
    std::vector<const ReadyGroup *> groups;
    bool partly = false;
    for (const Wanted *m : members) {
        groups.push_back(&m->ready);
        partly = partly || !m->open.empty();
    }
    const Pack pack(database_, switches_.connected ? members.front()->ready.part->literals : query, groups);
    const std::size_t tasks = (examples.size() + block - 1) / block;
    struct Part {
        std::vector<std::vector<Found>> found, over;
        std::int64_t steps = 0, fallbacks = 0;
    };
    std::vector<Part> parts(tasks);
    std::vector<std::unique_ptr<PackRun>> runs(workers_.places());
    workers_.share(tasks, [&](std::size_t task, unsigned worker) {
        if (!runs[worker]) runs[worker] = std::make_unique<PackRun>(pack, budget_, cancel_);
        PackRun &run = *runs[worker];
        const std::uint64_t before = run.steps();
        Part &part = parts[task];
        part.found.resize(members.size()), part.over.resize(members.size());
        std::vector<bool> which(members.size());
        const std::size_t end = std::min(examples.size(), (task + 1) * block);
        for (std::size_t p = task * block; p < end; ++p) {
            if (p % 64 == 0) cancel_.poll();
            if (partly)
                for (std::size_t m = 0; m < members.size(); ++m)
                    which[m] = members[m]->open.empty() || members[m]->open[p];
            run.run(examples[p], partly ? &which : nullptr);
            const auto position = static_cast<std::uint32_t>(p);
            for (std::size_t m = 0; m < members.size(); ++m) {
                if (partly && !which[m]) continue;
                Coverage &to = *members[m]->coverage;
                if (run.unsure(m)) {
                    Coverage own;
                    own.yes.resize(to.yes.size()), own.extreme.resize(to.extreme.size());
                    ask_alone(*groups[m], examples[p], position, own, part.steps);
                    ++part.fallbacks;
                    if (!own.yes.empty() && own.holds(p)) to.set(p);
                    if (!own.extreme.empty()) to.extreme[p] = own.extreme[p];
                    part.found[m].insert(part.found[m].end(), own.found.begin(), own.found.end());
                    part.over[m].insert(part.over[m].end(), own.over.begin(), own.over.end());
                } else if (!to.yes.empty()) {
                    if (run.succeeded(m)) to.set(p);
                } else if (!to.extreme.empty()) {
                    to.extreme[p] = run.extreme(m);
                } else {
                    for (std::int32_t c : run.constants(m)) part.found[m].push_back({position, c});
                }
            }
        }
        part.steps += static_cast<std::int64_t>(run.steps() - before);
    });
    for (Part &part : parts) {
        counters_.steps += part.steps;
        counters_.fallbacks += part.fallbacks;
        for (std::size_t m = 0; m < members.size() && !part.found.empty(); ++m) {
            Coverage &to = *members[m]->coverage;
            to.found.insert(to.found.end(), part.found[m].begin(), part.found[m].end());
            to.over.insert(to.over.end(), part.over[m].begin(), part.over[m].end());
        }
    }
}

void CoverageEngine::ask_alone(const ReadyGroup &group, std::size_t example, std::uint32_t position,
                               Coverage &to, std::int64_t &steps) const {
    if (is_threshold(group.group->hole)) {
        Solver solver(database_, joined(group.part->literals, without_hole(group.literals())));
        solver.limit(budget_);
        solver.exhaust(example);
        steps += static_cast<std::int64_t>(solver.steps());
        if (solver.over())
            to.over.push_back({position, -1}), to.extreme[position] = null_code;
        else
            to.extreme[position] = extreme_alone(database_, group, example);
        return;
    }
    auto ask = [&](const Query &literals, std::int32_t constant) {
        Solver solver(database_, joined(group.part->literals, literals));
        solver.limit(budget_);
        const bool holds = solver.exists(example);
        steps += static_cast<std::int64_t>(solver.steps());
        if (solver.over())
            to.over.push_back({position, constant});
        else if (holds && constant < 0)
            to.set(position);
        else if (holds)
            to.found.push_back({position, constant});
    };
    if (group.group->hole == HoleKind::none) return ask(group.literals(), -1);
    for (std::size_t c = 0; c < group.n_constants; ++c)
        ask(with_constant(group.literals(), (*group.group->constants)[c].code), static_cast<std::int32_t>(c));
}

void CoverageEngine::by_bisection(const Query &query, Wanted &one, std::span<const std::uint32_t> examples) {
    const TestGroup &group = *one.ready.group;
    const auto domain = at(bias_.domain_of[at(group.hole_type)]);
    const Code size = database_.domains[domain].size;
    const Query &stick = switches_.connected ? one.ready.part->literals : query;
    const bool least = group.hole == HoleKind::at_most;
    // Cut c: `<= c` holds from the least value on, `> c` below the greatest.
    std::vector<std::unique_ptr<Solver>> solver(at(size) + 1);
    auto holds = [&](Code cut, std::size_t e) {
        std::unique_ptr<Solver> &s = solver[at(cut) + 1];
        if (!s) {
            s = std::make_unique<Solver>(database_, joined(stick, with_constant(one.ready.literals(), cut)));
            s->watch(cancel_);
        }
        const bool found = s->exists(e);
        counters_.steps += static_cast<std::int64_t>(s->steps());
        return found;
    };
    Solver counting(database_, joined(one.ready.part->literals, without_hole(one.ready.literals())));
    counting.limit(budget_);
    for (std::uint32_t p = 0; p < examples.size(); ++p) {
        if (p % 64 == 0) cancel_.poll();
        if (!one.open.empty() && !one.open[p]) continue;
        const std::size_t e = examples[p];
        counting.exhaust(e);
        if (counting.over()) {
            one.coverage->over.push_back({p, -1});
            continue;
        }
        Code below = -1, from = size; // the answer changes between these cuts
        while (from - below > 1) {
            const Code middle = below + (from - below) / 2;
            (holds(middle, e) == least ? from : below) = middle;
        }
        if (least)
            one.coverage->extreme[p] = from < size ? from : null_code;
        else // `> below` holds and `> from` does not: the greatest value is `from`; code 0 is above -1 only
            one.coverage->extreme[p] = from > 0 || holds(-1, e) ? from : null_code;
    }
}

void CoverageEngine::look_up(Wanted &one, std::span<const std::uint32_t> examples, Coverage &to) {
    ComponentKey key = component_key(one.ready);
    auto it = cache_.find(key);
    const std::size_t words = words_for(database_.n_examples);
    if (it == cache_.end()) {
        if (counters_.cache_bytes > static_cast<std::int64_t>(switches_.cache_bytes)) return;
        KnownComponent fresh;
        fresh.known.assign(words, 0);
        const HoleKind hole = one.ready.group->hole;
        if (hole == HoleKind::none)
            fresh.yes.assign(words, 0);
        else if (is_threshold(hole))
            fresh.extreme.assign(database_.n_examples, null_code);
        else
            fresh.start.assign(database_.n_examples, 0), fresh.count.assign(database_.n_examples, 0);
        counters_.cache_bytes +=
            static_cast<std::int64_t>(key.size() * 8 + 8 * (fresh.known.size() + fresh.yes.size()) +
                                      4 * (fresh.extreme.size() + fresh.start.size() + fresh.count.size()));
        one.component = &cache_.emplace(std::move(key), std::move(fresh)).first->second;
        return;
    }
    KnownComponent &known = it->second;
    one.component = &known;
    std::size_t n_open = 0;
    one.open.assign(examples.size(), false);
    for (std::uint32_t p = 0; p < examples.size(); ++p) {
        const std::size_t e = examples[p];
        if (!known.has(e)) {
            one.open[p] = true;
            ++n_open;
        } else if (!to.yes.empty()) {
            if ((known.yes[e / 64] >> (e % 64) & 1) != 0) to.set(p);
        } else if (!to.extreme.empty()) {
            to.extreme[p] = known.extreme[e];
        } else {
            for (std::uint32_t i = 0; i < known.count[e]; ++i)
                to.found.push_back({p, known.constants[known.start[e] + i]});
        }
    }
    counters_.answered += static_cast<std::int64_t>(examples.size() - n_open);
    one.settled = n_open == 0;
    if (n_open == examples.size()) one.open.clear();
}

void CoverageEngine::keep(const Wanted &one, std::span<const std::uint32_t> examples, const Coverage &from) {
    KnownComponent &to = *one.component;
    std::vector<bool> over(from.over.empty() ? 0 : examples.size());
    for (const Found &f : from.over) over[f.position] = true;
    // Another group of the node may be the same component, and have been kept already.
    auto is_new = [&](std::size_t p) {
        return (one.open.empty() || one.open[p]) && (over.empty() || !over[p]) && !to.has(examples[p]);
    };
    const std::size_t before = to.constants.size();
    for (const Found &f : from.found) { // those of one position are neighbours
        if (!is_new(f.position)) continue;
        const std::size_t e = examples[f.position];
        if (to.count[e]++ == 0) to.start[e] = static_cast<std::uint32_t>(to.constants.size());
        to.constants.push_back(f.constant);
    }
    counters_.cache_bytes += static_cast<std::int64_t>(4 * (to.constants.size() - before));
    for (std::size_t p = 0; p < examples.size(); ++p) {
        if (!is_new(p)) continue;
        const std::size_t e = examples[p];
        set_bit(to.known, e);
        if (!to.yes.empty() && from.holds(p)) set_bit(to.yes, e);
        if (!to.extreme.empty()) to.extreme[e] = from.extreme[p];
    }
}

} // namespace hornbeam
