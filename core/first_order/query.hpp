// Queries over the facts of an example: conjunctions of literals, solved by backtracking in written order.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "first_order/relation.hpp"

namespace hornbeam {

/// Variable 0 is the key of the example. A hole is the place of a constant that stands for many: all
/// constants of a domain, or all thresholds.
enum class TermKind : std::uint8_t { variable, constant, anything, hole };

struct Term {
    TermKind kind = TermKind::anything;
    Code value = 0; // the number of a variable, the code of a constant

    auto operator<=>(const Term &) const = default;
    bool is_variable() const { return kind == TermKind::variable; }
};

/// Predicates below 0 are comparisons; a threshold's constant is the largest code that is not above it.
enum : std::int32_t { equals = -1, at_most = -2, above = -3 };

struct Literal {
    std::int32_t predicate = 0;
    std::vector<Term> terms;
    /// What the code of its constant does not say: which threshold it is, or the type of what `=` compares.
    std::int32_t named = -1;

    auto operator<=>(const Literal &) const = default;
    bool compares() const { return predicate < 0; }
    bool has_hole() const {
        for (const Term &t : terms)
            if (t.kind == TermKind::hole) return true;
        return false;
    }
};

using Query = std::vector<Literal>;

/// A literal made ready: which variables are bound before it is known from its place.
struct Step {
    enum class Asks : std::uint8_t { constant, variable, binds, repeats };
    struct Cell {
        Asks asks = Asks::binds;
        const Code *column = nullptr;
        Code value = 0; // a code, or a variable's number
    };
    const Relation *relation = nullptr; // none: a comparison
    std::vector<Cell> cells;            // checks first, then what is bound, then repeats of it
    int lookup = -1;                    // the first column whose value is known
    Term known;                         // that value
    std::int32_t predicate = 0;
    Term left, right;
};

/// Which variables have a value, by number; the last place is the hole's. Packs copy many of them, so most
/// need no memory of their own.
class Bound {
  public:
    explicit Bound(std::size_t n_variables)
        : hole_(static_cast<Code>(n_variables)), more_(n_variables < 64 ? 0 : n_variables + 1) {
        bind(0);
    }
    bool operator[](Code v) const {
        return more_.empty() ? (few_ >> v & 1) != 0 : more_[static_cast<std::size_t>(v)];
    }
    void bind(Code v) {
        if (more_.empty())
            few_ |= std::uint64_t{1} << v;
        else
            more_[static_cast<std::size_t>(v)] = true;
    }
    Code hole() const { return hole_; }

  private:
    Code hole_;
    std::uint64_t few_ = 0;
    std::vector<bool> more_;
};

/// Makes a literal ready behind those that bound `bound`, and adds what it binds. A comparison that holds the
/// hole binds it.
Step step_of(const RelationalDatabase &database, const Literal &literal, Bound &bound);

/// The values of variables while a query is solved, and how many rows have fitted their literals.
struct Bindings {
    std::size_t example = 0;
    std::vector<Code> value;
    std::uint64_t steps = 0, most = std::numeric_limits<std::uint64_t>::max();
    bool over = false;        // more than `most`
    Cancel *cancel = nullptr; // looked at now and then, if there is one

    void start(const RelationalDatabase &database, std::size_t e) {
        example = e;
        value[0] = database.keys[e];
        steps = 0;
        over = false;
    }
    Code of(Term t) const { return t.is_variable() ? value[static_cast<std::size_t>(t.value)] : t.value; }
};

inline bool compare(const Step &s, Bindings &b) {
    const Code x = b.of(s.left);
    if (x < 0) return false;
    if (s.right.kind == TermKind::hole) {
        b.value[static_cast<std::size_t>(s.right.value)] = x;
        return true;
    }
    const Code y = b.of(s.right);
    if (s.predicate == equals) return x == y;
    // A cut below every value is -1, so a constant is never NULL here; a variable may be.
    if (s.right.is_variable() && y < 0) return false;
    return s.predicate == at_most ? x <= y : x > y;
}

inline bool fits(const Step &s, std::uint32_t row, Bindings &b) {
    for (const Step::Cell &c : s.cells) {
        const Code cell = c.column[row];
        switch (c.asks) {
        case Step::Asks::constant:
            if (cell != c.value) return false;
            break;
        case Step::Asks::binds:
            b.value[static_cast<std::size_t>(c.value)] = cell;
            break;
        default:
            if (cell < 0 || cell != b.value[static_cast<std::size_t>(c.value)]) return false;
        }
    }
    return true;
}

inline RowRange rows_for(const Step &s, const Bindings &b) {
    if (s.lookup < 0) return s.relation->rows_of(b.example);
    const Code value = b.of(s.known);
    if (value < 0) return {};
    return s.relation->rows_with(b.example, static_cast<std::size_t>(s.lookup), value);
}

/// Calls `then()` for each way in which a literal fits; it returns whether that is enough.
template <class Then> bool each_fit(const Step &s, Bindings &b, Then &&then) {
    if (s.relation == nullptr) return compare(s, b) && then();
    const RowRange rows = rows_for(s, b);
    for (std::uint32_t i = rows.begin; i < rows.end; ++i) {
        if (!fits(s, rows.row(i), b)) continue;
        if (++b.steps > b.most) {
            b.over = true;
            return true;
        }
        if ((b.steps & 0xFFFF) == 0 && b.cancel != nullptr) b.cancel->poll();
        if (then()) return true;
    }
    return false;
}

/// Calls `found()` for each solution; it returns whether that is enough.
template <class Found> bool solve(std::span<const Step> steps, Bindings &b, Found &found) {
    if (steps.empty()) return found();
    return each_fit(steps.front(), b, [&] { return solve(steps.subspan(1), b, found); });
}

/// A conjunction made ready: the plain way to answer a query, one example after the other.
class Solver {
  public:
    Solver(const RelationalDatabase &database, std::span<const Literal> literals);
    /// More steps than this, and `over` is true and the answer is worth nothing.
    void limit(std::uint64_t most) { bindings_.most = most; }
    void watch(Cancel &cancel) { bindings_.cancel = &cancel; }
    bool exists(std::size_t example);
    bool over() const { return bindings_.over; }
    std::uint64_t steps() const { return bindings_.steps; }
    /// The rows of the first solution as their tables have them, -1 for comparisons; empty: there is none.
    std::vector<std::int64_t> witness(std::size_t example);
    /// Sees all solutions, for their number of steps.
    void exhaust(std::size_t example);

  private:
    const RelationalDatabase &database_;
    std::vector<Step> steps_;
    Bindings bindings_;

    bool first_rows(std::span<const Step> rest, std::vector<std::int64_t> &rows);
};

/// How many variables literals have, the key included: one more than the highest number.
std::size_t variables_of(std::span<const Literal> literals);

/// The literals of a query that are tied to those of a test by variables other than the key, in their order.
Query connected_part(const Query &query, std::span<const Literal> test);

} // namespace hornbeam
