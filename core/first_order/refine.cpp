// The enumeration of tests: modes in order, places from left to right, lookaheads behind each test.
#include "first_order/refine.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace hornbeam {
namespace {

/// A test while it is put together. `hole_at` is the literal that holds the open hole, if there is one.
struct Draft {
    Query literals;
    std::vector<Term> names; // by name; anything: unbound
    std::vector<std::int32_t> types;
    std::vector<Mark> marks;
    int hole_at = -1;
    HoleKind hole = HoleKind::none;
    std::int32_t hole_type = -1;
    const std::vector<GivenConstant> *constants = nullptr;
};

Literal filled(Literal literal, const GivenConstant &c) {
    for (Term &t : literal.terms)
        if (t.kind == TermKind::hole) t = {TermKind::constant, c.code};
    if (c.named >= 0) literal.named = c.named;
    return literal;
}

/// The draft with its open constant chosen.
Draft fixed(Draft draft, std::size_t constant) {
    Literal &literal = draft.literals[static_cast<std::size_t>(draft.hole_at)];
    literal = filled(literal, (*draft.constants)[constant]);
    draft.marks.back().constant = static_cast<std::int32_t>(constant);
    draft.hole_at = -1;
    draft.hole = HoleKind::none;
    draft.constants = nullptr;
    return draft;
}

bool holds(const Query &query, const Literal &literal) {
    return std::find(query.begin(), query.end(), literal) != query.end();
}

class Refinement {
  public:
    Refinement(const RelationalDatabase &database, const LanguageBias &bias, const Path &path, bool expand,
               Cancel &cancel)
        : database_(database), bias_(bias), path_(path), expand_(expand), cancel_(cancel) {}

    std::vector<TestGroup> groups() {
        for (const Mode &mode : bias_.modes) {
            const std::int32_t first = mode.patterns.front().predicate;
            const auto present = std::count_if(path_.query.begin(), path_.query.end(),
                                               [&](const Literal &l) { return l.predicate == first; });
            if (mode.most >= 0 && present >= mode.most) continue;
            Draft draft;
            draft.types = path_.types;
            draft.names.resize(static_cast<std::size_t>(bias_.n_names));
            conjunction(mode.patterns, 0, draft, draft.types.size(), bias_.max_lookahead);
        }
        return std::move(groups_);
    }

  private:
    const RelationalDatabase &database_;
    const LanguageBias &bias_;
    const Path &path_;
    bool expand_;
    std::vector<TestGroup> groups_;
    std::unordered_multimap<std::size_t, std::size_t> seen_; // groups by the hash of their tests
    Cancel &cancel_;
    Pace pace_{cancel_, 500};
    std::int32_t n_nodes_ = 0;

    /// Adds literals for patterns[at..]; variables without a name are those below `visible`. The draft is as
    /// it was when a call returns.
    void conjunction(const std::vector<Pattern> &patterns, std::size_t at, Draft &draft, std::size_t visible,
                     std::int32_t depth) {
        if (at == patterns.size()) return extensions(draft, depth);
        draft.literals.push_back({patterns[at].predicate, {}, -1});
        fill(patterns, at, draft, visible, depth);
        draft.literals.pop_back();
    }

    /// Chooses a term for the next place of the last literal.
    void fill(const std::vector<Pattern> &patterns, std::size_t at, Draft &draft, std::size_t visible,
              std::int32_t depth) {
        const Pattern &pattern = patterns[at];
        const std::size_t p = draft.literals.back().terms.size();
        if (p == pattern.places.size()) return conjunction(patterns, at + 1, draft, visible, depth);
        const Place &place = pattern.places[p];
        const std::int32_t type = type_at(pattern, p, draft);
        auto with = [&](Term t) {
            const bool is_named = t.is_variable() && place.name >= 0;
            const bool is_new = t.is_variable() && static_cast<std::size_t>(t.value) == draft.types.size();
            draft.literals.back().terms.push_back(t);
            const Term before =
                is_named ? std::exchange(draft.names[static_cast<std::size_t>(place.name)], t) : Term{};
            if (is_new) draft.types.push_back(type);
            fill(patterns, at, draft, visible, depth);
            if (is_new) draft.types.pop_back();
            if (is_named) draft.names[static_cast<std::size_t>(place.name)] = before;
            draft.literals.back().terms.pop_back();
        };
        if (place.sign == Sign::anything) return with({});
        if (place.sign == Sign::constant || place.sign == Sign::fixed)
            return constants(patterns, at, draft, visible, depth, place, type);
        if (place.name >= 0 && draft.names[static_cast<std::size_t>(place.name)].is_variable()) {
            const Term t = draft.names[static_cast<std::size_t>(place.name)];
            if (suits(pattern, p, type, t.value, draft)) with(t);
            return;
        }
        if (place.sign != Sign::old) with({TermKind::variable, static_cast<Code>(draft.types.size())});
        if (place.sign == Sign::fresh) return;
        for (std::size_t v = 0; v < visible; ++v)
            if (suits(pattern, p, type, static_cast<Code>(v), draft))
                with({TermKind::variable, static_cast<Code>(v)});
    }

    void constants(const std::vector<Pattern> &patterns, std::size_t at, Draft &draft, std::size_t visible,
                   std::int32_t depth, const Place &place, std::int32_t type) {
        const std::int32_t predicate = patterns[at].predicate;
        const bool threshold = !place.given && (predicate == at_most || predicate == above);
        if (threshold && (draft.hole == HoleKind::at_most || draft.hole == HoleKind::above)) return;
        if (draft.hole == HoleKind::constants) { // one hole at a time: the earlier one is chosen first
            for (std::size_t c = 0; c < draft.constants->size(); ++c) {
                Draft chosen = fixed(draft, c);
                constants(patterns, at, chosen, visible, depth, place, type);
            }
            return;
        }
        Draft next = draft;
        Literal &literal = next.literals.back();
        literal.terms.push_back({TermKind::hole, 0});
        if (predicate == equals) literal.named = type;
        next.hole_at = static_cast<int>(next.literals.size()) - 1;
        next.hole_type = type;
        if (threshold) {
            next.hole = predicate == at_most ? HoleKind::at_most : HoleKind::above;
            return fill(patterns, at, next, visible, depth);
        }
        const std::vector<GivenConstant> &list =
            !place.given ? bias_.values[static_cast<std::size_t>(type)]
                         : place.constants[place.constants.size() == 1 ? 0 : static_cast<std::size_t>(type)];
        const bool open = draft.hole == HoleKind::none && !expand_ && place.sign == Sign::constant &&
                          predicate != at_most && predicate != above;
        next.hole = HoleKind::constants;
        next.constants = &list;
        next.marks.push_back({n_nodes_++, -1});
        if (open) return fill(patterns, at, next, visible, depth);
        for (std::size_t c = 0; c < list.size(); ++c) {
            Draft one = fixed(next, c);
            one.hole_at = draft.hole_at, one.hole = draft.hole, one.hole_type = draft.hole_type;
            fill(patterns, at, one, visible, depth);
        }
    }

    /// The test, then what may be seen ahead of its last literal.
    void extensions(Draft &draft, std::int32_t depth) {
        emit(draft);
        if (depth == 0) return;
        for (const LookaheadRule &ahead : bias_.lookaheads) {
            if (ahead.after.predicate != draft.literals.back().predicate) continue;
            Draft next = draft;
            if (!fit(ahead.after, next)) continue;
            conjunction(ahead.then, 0, next, next.types.size(), depth - 1);
        }
    }

    /// Whether the last literal fits a pattern of its predicate: the names of the draft are then those of the
    /// pattern, and an open constant is the one that the pattern asks for.
    static bool fit(const Pattern &after, Draft &draft) {
        const Literal literal = draft.literals.back();
        std::fill(draft.names.begin(), draft.names.end(), Term{});
        for (std::size_t p = 0; p < after.places.size(); ++p) {
            const Place &place = after.places[p];
            const Term t = literal.terms[p];
            if (place.sign == Sign::fixed) {
                if (!has_constant(place, literal, t, draft)) return false;
                continue;
            }
            if (place.sign == Sign::anything || place.name < 0) continue;
            Term &named = draft.names[static_cast<std::size_t>(place.name)];
            if (!t.is_variable() || (named.is_variable() && named != t)) return false;
            named = t;
        }
        return true;
    }

    static bool has_constant(const Place &place, const Literal &literal, Term t, Draft &draft) {
        auto is = [&](Code code, std::int32_t named) {
            for (const auto &of_type : place.constants)
                for (const GivenConstant &c : of_type)
                    if (literal.predicate < equals ? c.named == named : c.code == code) return true;
            return false;
        };
        if (t.kind == TermKind::constant) return is(t.value, literal.named);
        if (t.kind != TermKind::hole || draft.hole != HoleKind::constants) return false;
        for (std::size_t c = 0; c < draft.constants->size(); ++c) {
            if (!is((*draft.constants)[c].code, (*draft.constants)[c].named)) continue;
            draft = fixed(draft, c);
            return true;
        }
        return false;
    }

    /// Whether no group has the test yet; the one that comes next will have it.
    /// Lists of an open constant count: others of the same literal are other tests.
    bool is_new(const Query &test, const std::vector<GivenConstant> *constants) {
        std::size_t hash = 0;
        auto add = [&](std::int64_t x) { hash = (hash ^ static_cast<std::size_t>(x)) * 0x9E3779B97F4A7C15u; };
        for (const Literal &literal : test) {
            add(literal.predicate), add(literal.named);
            for (const Term &t : literal.terms) add(t.value * 4 + static_cast<std::int64_t>(t.kind));
            hash ^= hash >> 31;
        }
        auto [first, last] = seen_.equal_range(hash);
        for (; first != last; ++first)
            if (const TestGroup &group = groups_[first->second];
                group.test == test && group.constants == constants)
                return false;
        seen_.emplace(hash, groups_.size());
        return true;
    }

    /// Takes a test in, without literals that the query or the test itself has already.
    void emit(const Draft &draft) {
        TestGroup group;
        if (draft.hole == HoleKind::constants) {
            const Literal &open = draft.literals[static_cast<std::size_t>(draft.hole_at)];
            for (std::size_t c = 0; c < draft.constants->size(); ++c) {
                const Literal one = filled(open, (*draft.constants)[c]);
                if (!holds(path_.query, one) && !holds(draft.literals, one)) continue;
                group.excluded.push_back(static_cast<std::int32_t>(c));
                emit(fixed(draft, c));
            }
        }
        for (const Literal &literal : draft.literals)
            if (!holds(path_.query, literal) && !holds(group.test, literal)) group.test.push_back(literal);
        if (group.test.empty() || !is_new(group.test, draft.constants)) return;
        pace_.step();
        group.hole = draft.hole;
        group.hole_type = draft.hole_type;
        group.constants = draft.constants;
        group.marks = draft.marks;
        group.types = draft.types;
        groups_.push_back(std::move(group));
    }

    /// A comparison has the type of its variable: -1 before it has one.
    static std::int32_t type_at(const Pattern &pattern, std::size_t p, const Draft &draft) {
        const Place &place = pattern.places[p];
        if (place.type >= 0 || pattern.predicate >= 0 || p == 0) return place.type;
        return draft.types[static_cast<std::size_t>(draft.literals.back().terms[0].value)];
    }

    bool suits(const Pattern &pattern, std::size_t p, std::int32_t type, Code variable,
               const Draft &draft) const {
        const std::int32_t its = draft.types[static_cast<std::size_t>(variable)];
        if (pattern.predicate < 0 && type < 0) {
            const auto domain = static_cast<std::size_t>(bias_.domain_of[static_cast<std::size_t>(its)]);
            return variable != 0 && (pattern.predicate == equals || database_.domains[domain].numeric());
        }
        if (pattern.predicate >= 0 &&
            database_.relations[static_cast<std::size_t>(pattern.predicate)].key() == static_cast<int>(p))
            return variable == 0;
        return its == type;
    }
};

} // namespace

bool comes_before(const std::vector<TestGroup> &groups, const Candidate &a, const Candidate &b) {
    if (a.group == b.group) return a.constant != b.constant ? a.constant < b.constant : a.lo < b.lo;
    const auto &x = groups[static_cast<std::size_t>(a.group)].marks;
    const auto &y = groups[static_cast<std::size_t>(b.group)].marks;
    for (std::size_t i = 0; i < std::min(x.size(), y.size()) && x[i].node == y[i].node; ++i) {
        const std::int32_t c = x[i].constant < 0 ? a.constant : x[i].constant;
        const std::int32_t d = y[i].constant < 0 ? b.constant : y[i].constant;
        if (c != d) return c < d;
    }
    return a.group < b.group;
}

std::vector<TestGroup> refine(const RelationalDatabase &database, const LanguageBias &bias, const Path &path,
                              bool expand, Cancel &cancel) {
    return Refinement(database, bias, path, expand, cancel).groups();
}

} // namespace hornbeam
