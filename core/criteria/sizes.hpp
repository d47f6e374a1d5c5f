// What a training set asks of the sizes of its nodes and of their branches.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "criteria/quality.hpp"

namespace hornbeam {

/// The rows that the two sides of a cut must have.
struct Least {
    std::int64_t left = 1, right = 1;
    bool admits(std::int64_t on_left, std::int64_t on_right) const {
        return on_left >= left && on_right >= right;
    }
};

/// The rows in the branches of a test: in the smallest, and in the largest but one.
struct BranchSizes {
    std::int64_t smallest = 0, second = 0;
};

/// The fewest rows, out of `known`, that weigh at least `floor` where each weighs 1.
inline std::int64_t rows_from(double floor, std::int64_t known) {
    return static_cast<std::int64_t>(std::ceil(std::min(floor, as_double(known) + 1.0)));
}

/// The settings, of those that a growth is asked for, whose trees have come the same way to a node.
struct SettingRange {
    std::uint32_t first = 0, last = 1; // past the end
    std::uint32_t size() const { return last - first; }
    bool empty() const { return first >= last; }
};

/// The rules of one training set under one setting.
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
    /// Whether a test with such branches, none of them without a value, is still admitted.
    bool admits(const BranchSizes &sizes) const {
        return sizes.smallest >= min_leaf && as_double(sizes.second) >= min_objs;
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

/// The rules of all training sets under all settings.
class RuleTable {
  public:
    explicit RuleTable(std::size_t n_settings = 1) : n_settings_(n_settings) {}

    std::size_t n_settings() const { return n_settings_; }
    void add(StopRules rules) { rules_.push_back(std::move(rules)); }
    const StopRules &of(std::int32_t set, std::uint32_t setting) const {
        return rules_[static_cast<std::size_t>(set) * n_settings_ + setting];
    }
    std::span<StopRules> of_set(std::size_t set) {
        return std::span(rules_).subspan(set * n_settings_, n_settings_);
    }

  private:
    std::size_t n_settings_;
    std::vector<StopRules> rules_;
};

} // namespace hornbeam
