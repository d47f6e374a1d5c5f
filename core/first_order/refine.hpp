// Refinement: the tests that a language bias offers behind a query, in the order that breaks ties.
#pragma once

#include <cstdint>
#include <vector>

#include "first_order/query.hpp"

namespace hornbeam {

enum class Sign : std::uint8_t { old, fresh, either, constant, fixed, anything };

/// A constant that the bias names: its code, and its number among all that are named.
struct GivenConstant {
    Code code = no_code;
    std::int32_t named = -1;
};

/// An argument of a mode. Constants are kept by type where the place is one of a comparison, whose type is
/// that of its variable; else at 0. Those that no value of the domain equals are left out.
struct Place {
    Sign sign = Sign::anything;
    std::int32_t name = -1; // places of one name are one variable
    std::int32_t type = -1; // -1: that of the comparison's variable
    bool given = false;     // a list of constants; else all of the domain, or all thresholds
    std::vector<std::vector<GivenConstant>> constants;
};

struct Pattern {
    std::int32_t predicate = 0;
    std::vector<Place> places;
};

struct Mode {
    std::vector<Pattern> patterns;
    std::int64_t most = -1; // -1: any number of times
};

struct LookaheadRule {
    Pattern after;
    std::vector<Pattern> then;
};

/// Modes in order. Types are numbered; `domain_of` says which domain codes the values of each.
struct LanguageBias {
    std::int32_t key_type = 0;
    std::vector<std::int32_t> domain_of;
    std::vector<Mode> modes;
    std::vector<LookaheadRule> lookaheads;
    std::int32_t max_lookahead = 1;
    std::int32_t n_names = 0;
    /// By type: its values as constants that nobody listed, in order.
    std::vector<std::vector<GivenConstant>> values;
};

/// What a group's hole stands for.
enum class HoleKind : std::uint8_t { none, constants, at_most, above };

/// Where a list of constants was chosen from, and which of them, -1 while it is open. Constants come before
/// all choices behind them in the order of tests.
struct Mark {
    std::int32_t node = -1, constant = -1;
};

/// Tests that differ in one constant or threshold alone, or a single test.
struct TestGroup {
    Query test;
    HoleKind hole = HoleKind::none;
    std::int32_t hole_type = -1;
    const std::vector<GivenConstant> *constants = nullptr; // of the hole
    std::vector<std::int32_t> excluded;                    // constants that are groups of their own
    std::vector<Mark> marks;
    std::vector<std::int32_t> types; // of all variables, those of the query first
};

/// A test of a group: the number of its constant, or the codes its threshold lies between.
struct Candidate {
    std::int32_t group = -1;
    std::int32_t constant = 0;
    Code lo = 0, hi = 0;

    bool operator==(const Candidate &) const = default;
};

/// Whether a test comes before another one of the same node.
bool comes_before(const std::vector<TestGroup> &groups, const Candidate &a, const Candidate &b);

/// The types of the variables of a path, and its query.
struct Path {
    Query query;
    std::vector<std::int32_t> types; // by variable; the key is 0
};

/// `expand` makes a group of every constant: nothing is left open but thresholds.
std::vector<TestGroup> refine(const RelationalDatabase &database, const LanguageBias &bias, const Path &path,
                              bool expand, Cancel &cancel);

} // namespace hornbeam
