// C4.5, Release 8: each attribute enters its test of most information; the attributes are then compared by
// gain ratio, among those whose gain is not below the average.
#pragma once

#include "criteria/entropy.hpp"
#include "criteria/seen.hpp"

namespace hornbeam {

/// The information of known rows, spread over all rows of the node: what an attribute's test is sought by.
/// The statistics that it is given are of known rows only. Information: that of counted or of weighted
/// classes.
template <class Information> struct KnownInformation {
    using Target = typename Information::Target;
    using Stats = typename Target::Stats;
    static constexpr bool splits_at_zero = true;
    static constexpr bool of_known_rows = true;
    const Information *information = nullptr;
    double whole = 0.0; // of the node, as qualities see it

    Score score(const Stats &known, std::span<const Stats *const> branches) const {
        double sum = 0.0;
        for (const Stats *b : branches) sum += information->content(*b);
        double g = (information->content(known) - sum) / whole;
        if (!(g >= negligible_gain)) g = 0.0;
        return {g, g};
    }
    double highest_quality(const Stats &) const { return std::numeric_limits<double>::infinity(); }
    double impurity(const Stats &node) const { return information->impurity(node); }
    double mass(const Stats &s) const { return mass_of(*information, s); }
    double weight(const Stats &s) const { return weight_of(*information, s); }
    double share(const Stats &s, std::size_t k) const { return share_of(*information, s, k); }
};

template <class Information> struct C45 : Information {
    using Stats = typename Information::Target::Stats;
    static constexpr bool splits_at_zero = false;
    static constexpr bool compares_attributes = true;
    static constexpr double slack = 0.001; // of Release 8: below the average gain, and of split information

    KnownInformation<Information> sought_by(const Stats &node) const { return {this, mass_of(*this, node)}; }
    double highest_quality(const Stats &) const { return std::numeric_limits<double>::infinity(); }

    /// What a cut pays for having been sought among `cuts`.
    double penalty(std::int64_t cuts, const Stats &node) const {
        return xlog_of(cuts) / as_double(cuts) / weight_of(*this, node);
    }
    /// What a branch adds to the information of the split itself.
    double outcome(const Stats &branch) const {
        if constexpr (requires { this->xlog; })
            return xlog_of(branch.n);
        else
            return exact_xlog(mass_of(*this, branch));
    }
    double xlog_of(std::int64_t count) const {
        if constexpr (requires { this->xlog; })
            return (*this->xlog)(count);
        else
            return exact_xlog(static_cast<std::uint64_t>(count));
    }
    /// The information of the split itself: its branches of known rows in order, then the missing rows.
    double split(const Stats &node, std::span<const Stats *const> parts) const {
        double outcomes = 0.0;
        for (const Stats *part : parts) outcomes += outcome(*part);
        return (outcome(node) - outcomes) / mass_of(*this, node);
    }
};

/// Whether a criterion scores tests by known rows alone, and whether it compares attributes once all have
/// entered their tests, rather than taking the best test as it comes.
template <class C> inline constexpr bool of_known_rows = requires { C::of_known_rows; };
template <class C> inline constexpr bool compares_attributes = requires { C::compares_attributes; };

} // namespace hornbeam
