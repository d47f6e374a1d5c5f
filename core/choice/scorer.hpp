// What scores a test, whichever criterion it is: searches that are not written for one criterion ask it.
#pragma once

#include "criteria/c45.hpp"
#include "criteria/seen.hpp"

namespace hornbeam {

/// A criterion that is turned to a node.
template <class Stats> class Scorer {
  public:
    const bool splits_at_zero; // whether an impure node splits even when no test has a positive gain
    const bool of_known_rows;  // whether tests are scored by known rows alone

    virtual Score score(const Stats &node, std::span<const Stats *const> branches) const = 0;
    virtual double impurity(const Stats &node) const = 0;
    /// The weight that qualities see, and the weight that the tree keeps.
    virtual double mass(const Stats &s) const = 0;
    virtual double weight(const Stats &s) const = 0;
    /// The share of a class, or the mean of a target: what categories are ordered by.
    virtual double share(const Stats &s, std::size_t k) const = 0;

  protected:
    Scorer(bool splits_at_zero, bool of_known_rows)
        : splits_at_zero(splits_at_zero), of_known_rows(of_known_rows) {}
    ~Scorer() = default;
};

/// Scores by a criterion that is kept elsewhere.
template <Criterion C> class ScorerOf final : public Scorer<typename C::Target::Stats> {
  public:
    using Stats = typename C::Target::Stats;

    explicit ScorerOf(const C &criterion)
        : Scorer<Stats>(criterion.splits_at_zero, hornbeam::of_known_rows<C>), criterion_(criterion) {}

    Score score(const Stats &node, std::span<const Stats *const> branches) const override {
        return criterion_.score(node, branches);
    }
    double impurity(const Stats &node) const override { return criterion_.impurity(node); }
    double mass(const Stats &s) const override { return mass_of(criterion_, s); }
    double weight(const Stats &s) const override { return weight_of(criterion_, s); }
    double share(const Stats &s, std::size_t k) const override { return share_of(criterion_, s, k); }

  private:
    const C &criterion_;
};

} // namespace hornbeam
