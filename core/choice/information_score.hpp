// What a cut by information is worth: the literal score, and the whole number that a cut has to reach first.
#pragma once

#include <algorithm>
#include <cmath>

#include "criteria/entropy.hpp"
#include "kernels/information.hpp"
#include "numbers/fixed_xlog.hpp"

namespace hornbeam {

/// What cuts are compared by: the information gained, or that over the information of the split itself.
enum class InformationRule : std::uint8_t { gain, ratio };

/// A criterion by information: C4.5 scores cuts by known rows alone, and asks how many cuts there are.
struct InformationCriterion {
    Entropy entropy;
    InformationRule rule = InformationRule::gain;
    bool by_known = false;
};

/// How far a literal gain may lie from the real one: a few roundings of numbers around 1.
inline constexpr double gain_slack = 1e-14;

/// The real gain that a cut must reach to have any chance against `quality`.
inline double gain_to_reach(double quality) {
    if (quality < 0.0) return -1.0;
    return std::max(quality, negligible_gain) - gain_slack;
}

/// The cuts of one node, whose content is that of its rows. Gains are divided by `whole`: the rows of the
/// node, or more where others have no value.
struct InformationNode {
    const Entropy *entropy = nullptr;
    InformationRule rule = InformationRule::gain;
    std::int64_t n = 0;
    double whole = 0.0, content = 0.0;
    std::int32_t doubt = 0; // in whole units, of a score

    InformationNode(const Entropy &entropy, InformationRule rule, const ClassCounts &node, double whole,
                    double content)
        : entropy(&entropy), rule(rule), n(node.n), whole(whole), content(content),
          doubt(static_cast<std::int32_t>(node.c.size()) + 1) {}

    bool by_ratio() const { return rule == InformationRule::ratio; }
    const FixedXlog &fixed() const { return *entropy->fixed; }
    std::int32_t content_units() const {
        return static_cast<std::int32_t>(std::nearbyint(content * fixed().units()));
    }
    /// The score that a cut must reach to beat `quality`.
    std::int32_t reach(double quality) const {
        if (by_ratio() || quality < 0.0) return always_reached;
        const double score = (gain_to_reach(quality) * whole - content) * fixed().units();
        return static_cast<std::int32_t>(
            std::clamp(std::floor(score) - doubt - 1.0, as_double(always_reached), as_double(never_reached)));
    }
    /// By ratio: the same in single precision.
    float quality_to_reach(double quality) const {
        return static_cast<float>(std::max(quality, 0.0)) * (1.0f - 1e-6f);
    }

    /// The score as the criterion computes it, from the sums of xlog over the classes of both sides.
    Score literal(std::int64_t left, double left_sum, double right_sum) const {
        const XlogTable &xlog = *entropy->xlog;
        double branches = 0.0;
        branches += xlog(left) - left_sum;
        branches += xlog(n - left) - right_sum;
        const double gain = Entropy::gain_over(content, branches, whole);
        if (!by_ratio() || gain == 0.0) return {gain, gain};
        double sides = 0.0;
        sides += xlog(left);
        sides += xlog(n - left);
        return {gain / ((xlog(n) - sides) / as_double(n)), gain};
    }
};

} // namespace hornbeam
