// How Python names the options of growing.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "growth/grow.hpp"

namespace hornbeam {

namespace nb = nanobind;

inline SizeRule size_rule(nb::handle value) {
    if (nb::isinstance<nb::float_>(value)) return {true, nb::cast<double>(value)};
    return {false, static_cast<double>(nb::cast<std::int64_t>(value))};
}

inline NominalMode nominal_mode(const std::string &name) {
    if (name == "subset") return NominalMode::subset;
    if (name == "value") return NominalMode::value;
    if (name == "multiway") return NominalMode::multiway;
    throw std::invalid_argument("nominal '" + name + "' is not known");
}

inline Sharing sharing_named(const std::string &name) {
    if (name == "auto") return Sharing::automatic;
    if (name == "serial") return Sharing::serial;
    if (name == "overlapping") return Sharing::overlapping;
    if (name == "folds") return Sharing::folds;
    throw std::invalid_argument("algorithm is '" + name + "'; allowed are auto, serial, overlapping, folds");
}

/// Numbers above 0, one for each class or pair of classes; every `diagonal`-th is not looked at.
inline std::vector<double> positive(const nb::object &values, std::size_t size, std::size_t diagonal) {
    if (values.is_none()) return {};
    auto a = nb::cast<nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(values);
    if (a.shape(0) != size) throw std::invalid_argument("class weights or costs are of a wrong number");
    for (std::size_t i = 0; i < size; ++i)
        if ((diagonal == 0 || i % diagonal != 0) && (!(a.data()[i] > 0.0) || std::isinf(a.data()[i])))
            throw std::invalid_argument("a class weight or cost is not above 0 and finite");
    return {a.data(), a.data() + size};
}

/// class_weight: a number for each class, "balanced" or None; costs: [true class][said class], or None.
inline ClassCosts class_costs(const nb::object &class_weight, const nb::object &costs,
                              std::size_t n_classes) {
    ClassCosts found;
    found.balanced = nb::isinstance<nb::str>(class_weight);
    if (!found.balanced) found.weight = positive(class_weight, n_classes, 0);
    found.cost = positive(costs, n_classes * n_classes, n_classes + 1);
    return found;
}

} // namespace hornbeam
