// A criterion as growers know it: one class for each kind of target, whichever criterion is behind it.
#pragma once

#include <memory>

#include "choice/counted_scan.hpp"
#include "choice/policy.hpp"
#include "choice/scan.hpp"
#include "choice/scorer.hpp"
#include "choice/weighted_scan.hpp"
#include "choice/weighted_variance_scan.hpp"

namespace hornbeam {

/// How a criterion goes about a node.
struct CriterionTraits {
    bool splits_at_zero = true;       // an impure node splits even when no test has a positive gain
    bool compares_attributes = false; // once all have entered their tests, rather than as they come
    bool by_gini = false;             // sums of squared class counts are all that a test is told by
    bool by_quest = false;            // attributes are selected before their tests
    bool quality_is_gain = false;     // a test that tells more apart never has a lower quality
};

/// Turned to one node after the other; everything that is asked is about the last of them.
template <class Target> class SplitCriterion {
  public:
    using Stats = typename Target::Stats;
    const CriterionTraits traits;

    virtual ~SplitCriterion() = default;
    virtual std::unique_ptr<SplitCriterion> copy() const = 0;
    virtual void open(std::int32_t set, const Stats &node) = 0;

    virtual const Scorer<Stats> &scorer() const = 0;
    /// By what the test of an attribute is sought: C4.5 looks for the most information of known rows.
    virtual const Scorer<Stats> &sought() const = 0;
    virtual double highest_quality(const Stats &node) const = 0;
    /// How it compares cuts by the information of counted classes, if it does.
    virtual const InformationCriterion *information() const = 0;
    /// What the tree keeps of a node: the weight of a class, or the mean of a target.
    virtual double kept(const Stats &s, std::size_t k) const = 0;

    /// The node's test out of the best ones of its attributes, as `decide` has it.
    virtual void select(std::vector<Entered> &entered, const StopRules &rules, std::size_t competitors,
                        Choice &best) const = 0;

    /// The fast scans, and what they ask of a node.
    virtual void gather(NodeFacts &facts, const Stats &node) const = 0;
    virtual Cut scan(const Scan<std::uint32_t, Target> &scan, const Kernels &kernels) const = 0;
    virtual Cut scan(const Scan<std::uint64_t, Target> &scan, const Kernels &kernels) const = 0;
    virtual Cut scan(const CountedScan &scan, const Kernels &kernels) const = 0;

    /// C4.5: what a cut pays for having been sought among others, and the information of a split itself.
    virtual double penalty(std::int64_t cuts, const Stats &node) const = 0;
    virtual double split(const Stats &node, std::span<const Stats *const> parts) const = 0;

  protected:
    explicit SplitCriterion(CriterionTraits traits) : traits(traits) {}
};

/// By what tests are sought: the criterion itself.
template <Criterion C> struct SoughtBy {
    const C &rule;
    ScorerOf<C> scorer;

    explicit SoughtBy(const C &criterion) : rule(criterion), scorer(criterion) {}
    void open(const typename C::Target::Stats &) {}
};
template <class Information> struct SoughtBy<C45<Information>> {
    const C45<Information> &criterion;
    KnownInformation<Information> rule;
    ScorerOf<KnownInformation<Information>> scorer;

    explicit SoughtBy(const C45<Information> &criterion) : criterion(criterion), scorer(rule) {}
    void open(const typename Information::Target::Stats &node) { rule = criterion.sought_by(node); }
};

/// Without tables where a criterion does not go by the information of counted classes.
template <Criterion C> InformationCriterion information_of(const C &) { return {}; }
inline InformationCriterion information_of(const Entropy &c) { return {c, InformationRule::gain, false}; }
inline InformationCriterion information_of(const GainRatio &c) {
    return {c.entropy, InformationRule::ratio, false};
}
inline InformationCriterion information_of(const C45<Entropy> &c) { return {c, InformationRule::gain, true}; }

template <Criterion C> class SplitBy final : public SplitCriterion<typename C::Target> {
  public:
    using Target = typename C::Target;
    using Stats = typename Target::Stats;

    explicit SplitBy(const C &criterion)
        : SplitCriterion<Target>({criterion.splits_at_zero, compares_attributes<C>, std::is_same_v<C, Gini>,
                                  std::is_same_v<C, Quest>,
                                  std::is_same_v<C, Gini> || std::is_same_v<C, Entropy>}),
          rule(criterion), information_(information_of(criterion)) {}

    C rule;

    std::unique_ptr<SplitCriterion<Target>> copy() const override { return std::make_unique<SplitBy>(rule); }
    void open(std::int32_t set, const Stats &node) override {
        open_node(rule, set, node);
        sought_.open(node);
    }

    const Scorer<Stats> &scorer() const override { return scorer_; }
    const Scorer<Stats> &sought() const override { return sought_.scorer; }
    double highest_quality(const Stats &node) const override { return rule.highest_quality(node); }
    const InformationCriterion *information() const override {
        return information_.entropy.fixed == nullptr ? nullptr : &information_;
    }
    double kept(const Stats &s, std::size_t k) const override {
        if constexpr (requires { s.c; })
            return count_of(rule, s, k);
        else
            return mean_of(rule, s, k);
    }

    void select(std::vector<Entered> &entered, const StopRules &rules, std::size_t competitors,
                Choice &best) const override {
        decide(entered, rule, rules, competitors, best);
    }

    void gather(NodeFacts &facts, const Stats &node) const override { prepare(facts, rule, node); }
    Cut scan(const Scan<std::uint32_t, Target> &scan, const Kernels &kernels) const override {
        return fast_scan(scan, sought_.rule, kernels);
    }
    Cut scan(const Scan<std::uint64_t, Target> &scan, const Kernels &kernels) const override {
        return fast_scan(scan, sought_.rule, kernels);
    }
    Cut scan(const CountedScan &scan, const Kernels &kernels) const override {
        if constexpr (counts_rows<Stats>)
            return counted_scan(scan, sought_.rule, kernels);
        else
            return {};
    }

    double penalty(std::int64_t cuts, const Stats &node) const override {
        if constexpr (enters_tests)
            return rule.penalty(cuts, node);
        else
            return 0.0;
    }
    double split(const Stats &node, std::span<const Stats *const> parts) const override {
        if constexpr (enters_tests)
            return rule.split(node, parts);
        else
            return 0.0;
    }

  private:
    static constexpr bool enters_tests = requires(const C &c, const Stats &s) { c.penalty(1, s); };
    InformationCriterion information_;
    ScorerOf<C> scorer_{rule};
    SoughtBy<C> sought_{rule};
};

} // namespace hornbeam
