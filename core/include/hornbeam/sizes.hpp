// What a training set asks of the sizes of its nodes and of their branches.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "hornbeam/quality.hpp"

namespace hornbeam {

/// The rows that the two sides of a cut must have.
struct Least {
    std::int64_t left = 1, right = 1;
    bool admits(std::int64_t on_left, std::int64_t on_right) const {
        return on_left >= left && on_right >= right;
    }
};

/// The fewest rows, out of `known`, that weigh at least `floor` where each weighs 1.
inline std::int64_t rows_from(double floor, std::int64_t known) {
    return static_cast<std::int64_t>(std::ceil(std::min(floor, as_double(known) + 1.0)));
}

/// The rules of one training set.
struct StopRules {
    double mass = 0.0;   // of the whole set, as qualities see it
    double weight = 0.0; // of the whole set
    std::int64_t min_split = 2, min_leaf = 1;
    double min_objs = -1.0; // below 0: not asked for
    /// c45: nominal attributes with so many categories in the set that its average leaves them out.
    std::vector<std::uint8_t> many_valued;

    bool asks_objs() const { return min_objs >= 0.0; }
    /// Whether a node of n rows is a leaf whatever its tests.
    bool ends(std::int64_t n, double node_weight) const {
        return n < min_split || n < 2 * min_leaf || node_weight < 2.0 * min_objs;
    }
    /// Whether a branch counts as one of the two that min_objs asks for, by the weight of its known rows.
    bool is_object(double known) const { return known >= min_objs; }

    /// The known weight that min_objs asks for on both sides of a cut at a node of `known` weight with a
    /// value; `classes` are present there, 0 for numeric targets.
    double cut_floor(double known, int classes) const {
        if (!asks_objs()) return 0.0;
        if (classes == 0) return min_objs;
        return std::max(min_objs, std::min(25.0, 0.1 * known / as_double(classes)));
    }
    /// What a cut has to leave where `on_left` and `on_right` missing rows go left and right.
    Least least(std::int64_t floor, std::int64_t on_left, std::int64_t on_right) const {
        return {std::max(min_leaf, floor + on_left), std::max(min_leaf, floor + on_right)};
    }
};

} // namespace hornbeam
