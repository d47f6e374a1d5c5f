// The places of a scan as Python describes them, and the scan that they make.
#pragma once

#include "bind.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "settling/settling.hpp"
#include "source_rows.hpp"

namespace hornbeam {

inline std::vector<std::uint8_t> flags_of(nb::handle given) {
    auto a = nb::cast<Flags>(given);
    return {a.data(), a.data() + a.shape(0)};
}

inline Watch watch_of(const Grid &grid, nb::handle given) {
    auto fields = nb::cast<nb::tuple>(given);
    Watch watch{nb::cast<std::int32_t>(fields[0]), {}};
    if (watch.attribute < 0 || static_cast<std::size_t>(watch.attribute) >= grid.of.size())
        throw std::invalid_argument("there is no such attribute");
    if (!fields[1].is_none()) {
        watch.wanted = flags_of(fields[1]);
        if (watch.wanted.size() != std::size_t{grid.of[static_cast<std::size_t>(watch.attribute)].size()} + 1)
            throw std::invalid_argument("a watch has a flag for each bucket, and one for missing");
    }
    return watch;
}

inline void check_child(const RouteTest &test, std::int32_t child) {
    if (child >= static_cast<std::int32_t>(test.children.size()))
        throw std::invalid_argument("a test has no such child");
}

inline RouteTest test_of(const nb::dict &given, const RowLayout &layout, std::size_t n_places) {
    RouteTest test;
    const auto kind = nb::cast<std::string>(given["kind"]);
    test.attribute = nb::cast<std::int32_t>(given["attribute"]);
    if (test.attribute < 0 || static_cast<std::size_t>(test.attribute) >= layout.attributes.size())
        throw std::invalid_argument("there is no such attribute");
    test.missing = nb::cast<std::int32_t>(given["missing"]);
    test.children = nb::cast<std::vector<std::int32_t>>(given["children"]);
    for (std::int32_t child : test.children)
        if (child >= static_cast<std::int32_t>(n_places))
            throw std::invalid_argument("there is no such place");
    check_child(test, test.missing);
    if (kind == "coarse") {
        test.kind = RouteTest::Kind::coarse;
        test.first = nb::cast<std::uint32_t>(given["first"]);
        test.last = nb::cast<std::uint32_t>(given["last"]);
        check_child(test, 1);
    } else if (kind == "numeric") {
        check_child(test, 1);
        test.lo = nb::cast<RowKey>(given["lo"]);
    } else if (kind == "nominal") {
        test.kind = RouteTest::Kind::nominal;
        test.child_of = nb::cast<std::vector<std::int32_t>>(given["child_of"]);
        const RowKey highest = layout.attributes[static_cast<std::size_t>(test.attribute)].highest;
        if (test.child_of.size() != highest + 1) throw std::invalid_argument("a category has no child");
        for (std::int32_t child : test.child_of) check_child(test, child);
    } else {
        throw std::invalid_argument("a test is coarse, numeric or nominal");
    }
    return test;
}

inline Place place_of(const nb::dict &given, const RowLayout &layout, const Grid &grid,
                      std::size_t n_places) {
    Place place;
    place.counted = nb::cast<std::vector<std::int32_t>>(given["counted"]);
    for (std::int32_t a : place.counted)
        if (a < 0 || static_cast<std::size_t>(a) >= layout.attributes.size())
            throw std::invalid_argument("there is no such attribute");
    place.keeps = nb::cast<bool>(given["keeps"]);
    place.sums = nb::cast<bool>(given["sums"]);
    for (nb::handle watch : nb::cast<nb::list>(given["watches"]))
        place.watches.push_back(watch_of(grid, watch));
    for (nb::handle test : nb::cast<nb::list>(given["tests"]))
        place.tests.push_back(test_of(nb::cast<nb::dict>(test), layout, n_places));
    return place;
}

/// A scan, and what it is laid out by.
struct BoundScan {
    std::shared_ptr<const RowLayout> layout;
    std::shared_ptr<const Grid> grid;
    SourceScan scan;

    BoundScan(const BoundScan &of, SourceScan fresh)
        : layout(of.layout), grid(of.grid), scan(std::move(fresh)) {}
    BoundScan(std::shared_ptr<RowLayout> l, std::shared_ptr<Grid> g, const nb::list &places)
        : layout(l), grid(g), scan(l, g, places_of(places, *l, *g)) {}

    static std::vector<Place> places_of(const nb::list &given, const RowLayout &layout, const Grid &grid) {
        std::vector<Place> places;
        for (nb::handle place : given)
            places.push_back(place_of(nb::cast<nb::dict>(place), layout, grid, given.size()));
        if (places.empty()) throw std::invalid_argument("a scan has at least one place");
        return places;
    }
    std::int32_t checked(std::int32_t p) const {
        if (p < 0 || static_cast<std::size_t>(p) >= scan.n_places()) throw nb::index_error("no such place");
        return p;
    }
};

/// The exact test of a settled node as a way for rows.
inline RouteTest route_of(const Settled &settled, const RowLayout &layout,
                          std::vector<std::int32_t> children) {
    const Choice &c = settled.choice;
    RouteTest test;
    test.attribute = c.attribute;
    test.missing = c.default_child;
    test.children = std::move(children);
    if (test.children.size() != settled.children.size())
        throw std::invalid_argument("a test has as many children as places");
    if (c.kind == TestKind::numeric) {
        test.lo = settled.lo;
    } else {
        test.kind = RouteTest::Kind::nominal;
        test.child_of.assign(layout.attributes[static_cast<std::size_t>(c.attribute)].highest + 1,
                             c.default_child);
        for (auto [code, child] : c.branches) test.child_of[static_cast<std::size_t>(code)] = child;
    }
    return test;
}

inline nb::dict as_dict(const RouteTest &test) {
    nb::dict out;
    out["attribute"] = test.attribute;
    out["missing"] = test.missing;
    out["children"] = test.children;
    switch (test.kind) {
    case RouteTest::Kind::coarse:
        out["kind"] = "coarse", out["first"] = test.first, out["last"] = test.last;
        break;
    case RouteTest::Kind::numeric:
        out["kind"] = "numeric", out["lo"] = test.lo;
        break;
    case RouteTest::Kind::nominal:
        out["kind"] = "nominal", out["child_of"] = test.child_of;
        break;
    }
    return out;
}

/// What `place_of` makes the same place from.
inline nb::dict as_dict(const Place &place) {
    nb::list watches, tests;
    for (const Watch &watch : place.watches) {
        nb::object wanted = nb::none();
        if (!watch.wanted.empty()) wanted = nb::cast(own_array(std::vector<std::uint8_t>(watch.wanted)));
        watches.append(nb::make_tuple(watch.attribute, wanted));
    }
    for (const RouteTest &test : place.tests) tests.append(as_dict(test));
    nb::dict out;
    out["counted"] = place.counted;
    out["watches"] = watches;
    out["keeps"] = place.keeps;
    out["tests"] = tests;
    out["sums"] = place.sums;
    return out;
}

} // namespace hornbeam
