// Databases, biases and queries as Python gives them: lists of tuples of numbers, checked here.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "first_order/refine.hpp"

namespace hornbeam {

namespace nb = nanobind;

using CodeArray = nb::ndarray<const Code, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline std::span<const Code> span_of(const CodeArray &a) { return {a.data(), a.size()}; }

/// (size, values): numbers as floats or as integers; None where they are labels.
inline ValueDomain domain_given(nb::handle given) {
    auto fields = nb::cast<nb::tuple>(given);
    ValueDomain d;
    d.size = nb::cast<Code>(fields[0]);
    if (fields[1].is_none()) return d;
    using Floats = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    using Integers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    if (Integers whole; nb::try_cast(fields[1], whole, false)) {
        d.kind = ValueDomain::Kind::integers;
        d.integers.assign(whole.data(), whole.data() + whole.size());
    } else {
        auto values = nb::cast<Floats>(fields[1]);
        d.kind = ValueDomain::Kind::floats;
        d.floats.assign(values.data(), values.data() + values.size());
    }
    if (d.integers.size() + d.floats.size() != static_cast<std::size_t>(d.size))
        throw std::invalid_argument("a domain's size is not the number of its values");
    return d;
}

inline void check_codes(std::span<const Code> codes, Code least, Code most, const char *what) {
    for (Code c : codes)
        if (c < least || c >= most) throw std::invalid_argument(what);
}

/// (columns, their domains, owner or None, key column or -1)
inline Relation relation_given(nb::handle given, const RelationalDatabase &database, Cancel &cancel) {
    auto fields = nb::cast<nb::tuple>(given);
    std::vector<CodeArray> arrays;
    std::vector<std::span<const Code>> columns;
    for (nb::handle column : nb::cast<nb::list>(fields[0])) arrays.push_back(nb::cast<CodeArray>(column));
    auto domains = nb::cast<std::vector<std::size_t>>(fields[1]);
    if (domains.size() != arrays.size())
        throw std::invalid_argument("a relation's columns and domains differ in number");
    for (std::size_t c = 0; c < arrays.size(); ++c) {
        columns.push_back(span_of(arrays[c]));
        check_codes(columns[c], null_code, database.domains.at(domains[c]).size,
                    "a code is outside its domain");
        if (columns[c].size() != columns[0].size())
            throw std::invalid_argument("a relation's columns differ in length");
    }
    const bool shared = fields[2].is_none();
    CodeArray owner;
    std::span<const Code> owners;
    if (!shared) {
        owner = nb::cast<CodeArray>(fields[2]);
        owners = span_of(owner);
        check_codes(owners, null_code, static_cast<Code>(database.n_examples), "an owner is no example");
        if (!columns.empty() && columns[0].size() != owners.size())
            throw std::invalid_argument("a relation's owners and rows differ in number");
    }
    return Relation(columns, owners, shared, database.n_examples, nb::cast<int>(fields[3]), cancel);
}

/// (sign, name, type, given, constants): constants are lists of (code, number), one for each type or one.
inline Place place_given(nb::handle given) {
    auto fields = nb::cast<nb::tuple>(given);
    Place p;
    p.sign = static_cast<Sign>(nb::cast<int>(fields[0]));
    p.name = nb::cast<std::int32_t>(fields[1]);
    p.type = nb::cast<std::int32_t>(fields[2]);
    p.given = nb::cast<bool>(fields[3]);
    for (nb::handle list : nb::cast<nb::list>(fields[4])) {
        std::vector<GivenConstant> &to = p.constants.emplace_back();
        for (nb::handle one : nb::cast<nb::list>(list)) {
            auto pair = nb::cast<nb::tuple>(one);
            to.push_back({nb::cast<Code>(pair[0]), nb::cast<std::int32_t>(pair[1])});
        }
    }
    return p;
}

/// (predicate, places)
inline Pattern pattern_given(nb::handle given) {
    auto fields = nb::cast<nb::tuple>(given);
    Pattern p;
    p.predicate = nb::cast<std::int32_t>(fields[0]);
    for (nb::handle place : nb::cast<nb::list>(fields[1])) p.places.push_back(place_given(place));
    return p;
}

inline std::vector<Pattern> patterns_given(nb::handle given) {
    std::vector<Pattern> patterns;
    for (nb::handle one : nb::cast<nb::list>(given)) patterns.push_back(pattern_given(one));
    return patterns;
}

/// (predicate, terms) for each literal; a term is (kind, value): 0 a variable, 1 a constant, 2 anything.
inline Query query_given(nb::handle given, const RelationalDatabase &database) {
    Query query;
    for (nb::handle one : nb::cast<nb::list>(given)) {
        auto fields = nb::cast<nb::tuple>(one);
        Literal literal;
        literal.predicate = nb::cast<std::int32_t>(fields[0]);
        for (nb::handle t : nb::cast<nb::list>(fields[1])) {
            auto pair = nb::cast<nb::tuple>(t);
            const int kind = nb::cast<int>(pair[0]);
            const Code value = nb::cast<Code>(pair[1]);
            if (kind < 0 || kind > 2 || (kind == 0 && value < 0))
                throw std::invalid_argument("a term is of no kind");
            literal.terms.push_back({static_cast<TermKind>(kind), value});
        }
        const bool known = literal.predicate < static_cast<std::int32_t>(database.relations.size());
        if (!known || literal.predicate < above) throw std::invalid_argument("a predicate is not known");
        const std::size_t arity =
            literal.compares() ? 2
                               : database.relations[static_cast<std::size_t>(literal.predicate)].n_columns();
        if (literal.terms.size() != arity)
            throw std::invalid_argument("a literal has not a term for each column");
        query.push_back(std::move(literal));
    }
    return query;
}

inline nb::list query_list(const Query &query) {
    nb::list out;
    for (const Literal &literal : query) {
        nb::list terms;
        for (const Term &t : literal.terms) terms.append(nb::make_tuple(static_cast<int>(t.kind), t.value));
        out.append(nb::make_tuple(literal.predicate, terms, literal.named));
    }
    return out;
}

} // namespace hornbeam
