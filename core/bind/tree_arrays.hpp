// A FlatTree as a dict of NumPy arrays and back: one field of the struct is one entry of the dict.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "tree/tree.hpp"

namespace hornbeam {

namespace nb = nanobind;

/// Calls `visit(name, vector)` for each array that says where rows go.
template <class Tree, class Visit> void visit_test_arrays(Tree &t, Visit &&visit) {
    visit("kind", t.kind);
    visit("attribute", t.attribute);
    visit("first_child", t.first_child);
    visit("n_children", t.n_children);
    visit("default_child", t.default_child);
    visit("threshold", t.threshold);
    visit("threshold_integer", t.threshold_integer);
    visit("branch_start", t.branch_start);
    visit("branch_code", t.branch_code);
    visit("branch_child", t.branch_child);
}

/// Calls `visit(name, vector)` for each array of the tree.
template <class Tree, class Visit> void visit_tree_arrays(Tree &t, Visit &&visit) {
    visit_test_arrays(t, visit);
    visit("rows", t.rows);
    visit("weight", t.weight);
    visit("impurity", t.impurity);
    visit("gain", t.gain);
    visit("count_start", t.count_start);
    visit("count_class", t.count_class);
    visit("count", t.count);
    visit("mean", t.mean);
}

template <class Competitors, class Visit> void visit_competitor_arrays(Competitors &c, Visit &&visit) {
    visit("start", c.start);
    visit("kind", c.kind);
    visit("attribute", c.attribute);
    visit("default_child", c.default_child);
    visit("threshold", c.threshold);
    visit("threshold_integer", c.threshold_integer);
    visit("quality", c.quality);
    visit("gain", c.gain);
    visit("branch_start", c.branch_start);
    visit("branch_code", c.branch_code);
    visit("branch_child", c.branch_child);
}

/// An array that owns the vector: nothing is copied. `View` is T, or const T for an array that Python may not
/// write.
template <class View, class T> nb::ndarray<nb::numpy, View, nb::ndim<1>> own_as(std::vector<T> &&values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    if (owned->capacity() == 0) owned->reserve(1); // an array of no entries still needs an address
    View *data = owned->data();
    std::size_t n = owned->size();
    nb::capsule owner(owned.get(), [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
    owned.release();
    return nb::ndarray<nb::numpy, View, nb::ndim<1>>(data, {n}, owner);
}
template <class T> auto own_array(std::vector<T> &&values) { return own_as<T>(std::move(values)); }

/// Read-only arrays, no copies: all of them keep the tree. "competitors" is a dict of its own, where they
/// were kept.
inline nb::dict to_arrays(FlatTree &&grown) {
    auto owned = std::make_unique<FlatTree>(std::move(grown));
    FlatTree &tree = *owned;
    nb::capsule owner(owned.get(), [](void *p) noexcept { delete static_cast<FlatTree *>(p); });
    owned.release();
    nb::dict out, competitors;
    auto put_in = [&owner](nb::dict &to) {
        return [&owner, &to](const char *name, auto &values) {
            using T = typename std::remove_reference_t<decltype(values)>::value_type;
            if (values.capacity() == 0) values.reserve(1); // an array of no entries still needs an address
            to[name] =
                nb::ndarray<nb::numpy, const T, nb::ndim<1>>(values.data(), {values.size()}, owner).cast();
        };
    };
    out["n_classes"] = nb::int_(tree.n_classes);
    out["n_targets"] = nb::int_(tree.n_targets);
    if (!tree.competitors.start.empty()) {
        visit_competitor_arrays(tree.competitors, put_in(competitors));
        out["competitors"] = competitors;
    }
    visit_tree_arrays(tree, put_in(out));
    return out;
}

template <class T> void read_array(const nb::dict &arrays, const char *name, std::vector<T> &out) {
    if (!arrays.contains(name))
        throw nb::value_error((std::string("tree: array '") + name + "' is absent").c_str());
    nb::ndarray<const T, nb::ndim<1>, nb::device::cpu> values;
    if (!nb::try_cast(arrays[name], values, false))
        throw nb::value_error(
            (std::string("tree: '") + name + "' is not a one-dimensional array of the right type").c_str());
    out.resize(values.shape(0));
    if (values.stride(0) == 1) {
        std::copy_n(values.data(), out.size(), out.begin());
        return;
    }
    auto view = values.view();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = view(i);
}

inline std::int32_t read_number(const nb::dict &arrays, const char *name) {
    std::int32_t value = 0;
    if (!arrays.contains(name) || !nb::try_cast(arrays[name], value, false))
        throw nb::value_error(
            (std::string("tree: '") + name + "' is absent or not a 32-bit integer").c_str());
    return value;
}

/// A copy; dtypes have to be exact. Raises ValueError for an absent or wrong array; the content is not
/// judged.
inline FlatTree from_arrays(const nb::dict &arrays) {
    FlatTree tree;
    tree.n_classes = read_number(arrays, "n_classes");
    tree.n_targets = read_number(arrays, "n_targets");
    visit_tree_arrays(tree, [&](const char *name, auto &values) { read_array(arrays, name, values); });
    return tree;
}

/// A copy of the arrays that say where rows go; the others stay empty.
inline FlatTree tests_from_arrays(const nb::dict &arrays) {
    FlatTree tree;
    visit_test_arrays(tree, [&](const char *name, auto &values) { read_array(arrays, name, values); });
    return tree;
}

} // namespace hornbeam
