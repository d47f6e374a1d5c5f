// Literals made ready, and the plain solver.
#include "first_order/query.hpp"

#include <algorithm>

namespace hornbeam {
namespace {

/// What a term of a literal asks of its cell: its first place binds a variable that has no value yet.
Step::Asks asked_of(const Literal &literal, std::size_t c, Code variable, const Bound &bound) {
    if (bound[variable]) return Step::Asks::variable;
    for (std::size_t before = 0; before < c; ++before)
        if (literal.terms[before].is_variable() && literal.terms[before].value == variable)
            return Step::Asks::repeats;
    return Step::Asks::binds;
}

} // namespace

Step step_of(const RelationalDatabase &database, const Literal &literal, Bound &bound) {
    Step s;
    s.predicate = literal.predicate;
    if (literal.compares()) {
        s.left = literal.terms[0], s.right = literal.terms[1];
        if (s.right.kind == TermKind::hole) s.right.value = bound.hole();
        return s;
    }
    const Relation &relation = database.relations[static_cast<std::size_t>(literal.predicate)];
    s.relation = &relation;
    s.cells.reserve(literal.terms.size());
    auto add = [&](std::size_t c, bool checks, Step::Asks wanted) {
        Term t = literal.terms[c];
        // Rows are partitioned by owner: that the key is the example's own goes without saying.
        const bool own_key = static_cast<int>(c) == relation.key() && t.is_variable() && t.value == 0;
        if (t.kind == TermKind::anything || own_key) return;
        if (t.kind == TermKind::hole) t = {TermKind::variable, bound.hole()};
        const Step::Asks asks = t.is_variable() ? asked_of(literal, c, t.value, bound) : Step::Asks::constant;
        const bool known = asks == Step::Asks::constant || asks == Step::Asks::variable;
        if (checks ? !known : asks != wanted) return;
        if (checks && s.lookup < 0) s.lookup = static_cast<int>(c), s.known = t;
        s.cells.push_back({asks, relation.column(c), t.value});
    };
    const std::size_t n = literal.terms.size();
    for (std::size_t c = 0; c < n; ++c) add(c, true, Step::Asks::constant);
    const std::size_t first = s.cells.size();
    for (std::size_t c = 0; c < n; ++c) add(c, false, Step::Asks::binds);
    const std::size_t last = s.cells.size();
    for (std::size_t c = 0; c < n; ++c) add(c, false, Step::Asks::repeats);
    for (std::size_t i = first; i < last; ++i) bound.bind(s.cells[i].value);
    return s;
}

Solver::Solver(const RelationalDatabase &database, std::span<const Literal> literals) : database_(database) {
    Bound bound(variables_of(literals));
    for (const Literal &literal : literals) steps_.push_back(step_of(database, literal, bound));
    bindings_.value.assign(variables_of(literals) + 1, null_code);
}

bool Solver::exists(std::size_t example) {
    bindings_.start(database_, example);
    auto enough = [] { return true; };
    return solve(std::span<const Step>(steps_), bindings_, enough) && !bindings_.over;
}

void Solver::exhaust(std::size_t example) {
    bindings_.start(database_, example);
    auto more = [] { return false; };
    solve(std::span<const Step>(steps_), bindings_, more);
}

bool Solver::first_rows(std::span<const Step> rest, std::vector<std::int64_t> &rows) {
    if (rest.empty()) return true;
    const Step &s = rest.front();
    if (s.relation == nullptr) {
        rows.push_back(-1);
        if (compare(s, bindings_) && first_rows(rest.subspan(1), rows)) return true;
        rows.pop_back();
        return false;
    }
    const RowRange range = rows_for(s, bindings_);
    for (std::uint32_t i = range.begin; i < range.end; ++i) {
        if (!fits(s, range.row(i), bindings_)) continue;
        rows.push_back(s.relation->source_of(range.row(i)));
        if (first_rows(rest.subspan(1), rows)) return true;
        rows.pop_back();
    }
    return false;
}

std::vector<std::int64_t> Solver::witness(std::size_t example) {
    bindings_.start(database_, example);
    std::vector<std::int64_t> rows;
    first_rows(steps_, rows);
    return rows;
}

std::size_t variables_of(std::span<const Literal> literals) {
    Code most = 0;
    for (const Literal &literal : literals)
        for (const Term &t : literal.terms)
            if (t.is_variable()) most = std::max(most, t.value);
    return static_cast<std::size_t>(most) + 1;
}

Query connected_part(const Query &query, std::span<const Literal> test) {
    std::vector<bool> reached(std::max(variables_of(query), variables_of(test)));
    auto reach = [&](const Literal &literal) {
        for (const Term &t : literal.terms)
            if (t.is_variable() && t.value != 0) reached[static_cast<std::size_t>(t.value)] = true;
    };
    auto is_reached = [&](const Literal &literal) {
        return std::any_of(literal.terms.begin(), literal.terms.end(), [&](const Term &t) {
            return t.is_variable() && t.value != 0 && reached[static_cast<std::size_t>(t.value)];
        });
    };
    for (const Literal &literal : test) reach(literal);
    std::vector<bool> in(query.size());
    for (bool more = true; more;) {
        more = false;
        for (std::size_t i = 0; i < query.size(); ++i) {
            if (in[i] || !is_reached(query[i])) continue;
            in[i] = more = true;
            reach(query[i]);
        }
    }
    Query part;
    for (std::size_t i = 0; i < query.size(); ++i)
        if (in[i]) part.push_back(query[i]);
    return part;
}

} // namespace hornbeam
