// How Python names the options of growing.
#pragma once

#include <stdexcept>
#include <string>

#include <nanobind/nanobind.h>

#include "hornbeam/grow.hpp"

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

} // namespace hornbeam
