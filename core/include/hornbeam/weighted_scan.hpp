// Numeric cuts of weighted classes: sums in doubles bound what a cut can gain, and only cuts that may win are
// summed and scored exactly.
#pragma once

#include <array>
#include <cmath>

#include "hornbeam/criteria/weighted_classes.hpp"
#include "hornbeam/scan.hpp"

namespace hornbeam {

inline double times_log2(double x) { return x > 0.0 ? x * std::log2(x) : 0.0; }

template <int W>
void prepare(NodeFacts &facts, const WeightedClasses<W> &criterion, const ClassSums<W> &node) {
    const double whole = criterion.mass(node);
    facts.whole = 0.0;
    if (!(whole > 1e-250 && whole < 1e250)) return; // squares would leave the range of doubles
    facts.mass_scale = -std::ilogb(whole);
    facts.mass_squares = facts.mass_logs = 0.0;
    facts.mass.resize(node.c.size());
    for (std::size_t k = 0; k < node.c.size(); ++k) {
        if (node.c[k].zero()) {
            facts.mass[k] = {0.0, 0.0};
            continue;
        }
        const double factor = std::ldexp(criterion.factor(k), facts.mass_scale);
        if (!(factor > 1e-250 && factor < 1e250)) return;
        const double all = std::ldexp(criterion.mass(node, k), facts.mass_scale);
        facts.mass[k] = {factor, all};
        facts.mass_squares += all * all;
        facts.mass_logs += times_log2(all);
    }
    facts.whole = std::ldexp(whole, facts.mass_scale);
    const double rows = static_cast<double>(node.n), classes = static_cast<double>(node.c.size());
    facts.contrast_slack = (8.0 * rows + 8.0 * classes + 64.0) * 0x1p-52 * facts.whole * facts.whole;
    // Roundings of these sums, a class that runs out on the right, and those of the literal expression.
    facts.content_slack = (1024.0 * rows + 1024.0 * classes + 8192.0) * 0x1p-53 +
                          (2.0 * classes + 16.0) * 0x1p-52 * (std::abs(std::log2(whole)) + 16.0);
}

template <int W>
void prepare(NodeFacts &facts, const C45<WeightedClasses<W>> &criterion, const ClassSums<W> &node) {
    prepare(facts, static_cast<const WeightedClasses<W> &>(criterion), node);
}

/// Sums of weights in doubles. Each is a sum of at most as many terms as there are rows, none negative, so it
/// is off by a share of at most (rows + 4) 2^-53 of itself.
class MassSweep {
  public:
    template <int W> MassSweep(const NodeFacts &facts, std::vector<double> &masses, ClassRule rule,
                               const WeightedClasses<W> &criterion, const ClassSums<W> &start)
        : facts_(facts), rule_(rule), all_(facts.whole), f_right_(facts.mass_logs) {
        masses.assign(facts.mass.size(), 0.0);
        side_ = masses.data();
        if (start.n == 0) return;
        for (std::size_t k = 0; k < masses.size(); ++k) {
            if (start.c[k].zero()) continue;
            const double l = std::ldexp(criterion.mass(start, k), facts.mass_scale), all = facts.mass[k].all;
            masses[k] = l;
            left_ += l;
            s_ += l * l;
            x_ += l * all;
            f_left_ += times_log2(l);
            f_right_ += times_log2(all - l) - times_log2(all);
        }
    }

    void add(std::size_t k, double weight) {
        double &l = side_[k];
        const double w = weight * facts_.mass[k].factor, all = facts_.mass[k].all;
        left_ += w;
        if (rule_ == ClassRule::gini) {
            s_ += w * (2.0 * l + w);
            x_ += w * all;
            l += w;
            return;
        }
        f_left_ -= times_log2(l), f_right_ -= times_log2(all - l);
        l += w;
        f_left_ += times_log2(l), f_right_ += times_log2(all - l);
    }

    /// Whether the cut behind the rows added so far may have a higher quality.
    bool promising(double quality) const {
        const double right = all_ - left_;
        if (rule_ == ClassRule::gini) {
            if (quality < 0.0) return true;
            // The sum of D_k^2 is the gain times all^2 left right.
            double contrast =
                (all_ * all_ * s_ - 2.0 * all_ * left_ * x_) + left_ * left_ * facts_.mass_squares;
            return contrast + facts_.contrast_slack * left_ * left_ >=
                   gain_to_reach(quality) * (1.0 - 1e-9) * all_ * all_ * (left_ * right);
        }
        const double f_all = times_log2(all_), f_sides = times_log2(left_) + times_log2(right);
        double gain =
            ((f_all - facts_.mass_logs) - (f_sides - (f_left_ + f_right_))) / all_ + facts_.content_slack;
        if (rule_ == ClassRule::entropy) return quality < 0.0 || gain >= gain_to_reach(quality);
        if (gain < negligible_gain) return false; // such a test is never taken
        double split = (f_all - f_sides) / all_ - facts_.content_slack;
        return quality <= 0.0 || split <= 0.0 || gain >= quality * split * (1.0 - 1e-9);
    }

  private:
    const NodeFacts &facts_;
    ClassRule rule_;
    double *side_ = nullptr; // of each class, on the left
    double left_ = 0.0, all_, s_ = 0.0, x_ = 0.0, f_left_ = 0.0, f_right_;
};

/// C4.5 counts the cuts whose sides weigh enough: doubles tell, unless they are too close to say.
class EnoughOnBothSides {
  public:
    template <class E, class Target> EnoughOnBothSides(const Scan<E, Target> &scan, double whole)
        : least_(scan.least_weight), all_(whole), n_(scan.size), min_leaf_(scan.min_leaf),
          slack_((4.0 * scan.size + 64.0) * 0x1p-52 * whole) {}

    enum class Answer : std::uint8_t { no, yes, unclear };
    void add(double weight) { left_ += weight; }
    Answer after(std::uint32_t i) const {
        const std::int64_t rows = std::int64_t{i} + 1;
        if (rows < min_leaf_ || n_ - rows < min_leaf_) return Answer::no;
        const double lighter = std::min(left_, all_ - left_);
        if (least_ <= 0.0 || lighter - slack_ >= least_) return Answer::yes;
        return lighter + slack_ < least_ ? Answer::no : Answer::unclear;
    }

  private:
    double least_, all_, left_ = 0.0;
    std::int64_t n_, min_leaf_;
    double slack_;
};

/// `criterion` scores what `classes` weighs; `rule` says what bounds a score.
template <class E, int W, class C> Cut mass_scan(const Scan<E, WeightedClassTarget<W>> &scan,
                                                 const C &criterion, const WeightedClasses<W> &classes,
                                                 ClassRule rule) {
    MassSweep sweep(scan.facts, scan.scratch.masses, rule, classes, scan.start);
    EnoughOnBothSides enough(scan, classes.weight(scan.node));
    std::int64_t cuts = 0;
    Cut best;
    best.quality = scan.floor;
    ClassSums<W> exact = scan.start, right = scan.node;
    const std::array<const ClassSums<W> *, 2> sides{&exact, &right};
    std::uint32_t summed = 0;                              // entries that `exact` holds
    Pace pace(scan.cancel, 50 + 20 * width_of(scan.node)); // of literal scores
    const std::span<const double> weights = scan.target.weight.of;
    for (std::uint32_t i = 0; i + 1 < scan.size; ++i) {
        scan.pause(i);
        const std::uint32_t id = scan.id(i);
        const double weight = weights.empty() ? 1.0 : weights[id];
        sweep.add(scan.target.code[id], weight);
        enough.add(weight);
        if (!scan.cuts_after(i) || !scan.admits(scan.start.n + i + 1)) continue;
        using Answer = EnoughOnBothSides::Answer;
        const Answer answer = of_known_rows<C> ? enough.after(i) : Answer::unclear;
        if (answer == Answer::no) continue;
        cuts += answer == Answer::yes;
        // Where cuts are counted, one that is too close to tell is summed, however little it gains.
        const bool counted = answer == Answer::yes || !of_known_rows<C>;
        if (counted && !sweep.promising(best.quality)) continue;
        for (; summed <= i; ++summed) scan.target.add(exact, scan.id(summed), 1);
        pace.step();
        if (answer == Answer::unclear) {
            if (!weighs_enough(scan, criterion, exact)) continue;
            ++cuts;
        }
        right = scan.node;
        right -= exact;
        Score s = criterion.score(scan.node, sides);
        if (s.quality > best.quality) best = {s.quality, s.gain, i, i + 1, exact.n};
    }
    best.cuts = cuts;
    if (best.quality == scan.floor) best.quality = -1.0;
    return best;
}

template <class E, int W> Cut fast_scan(const Scan<E, WeightedClassTarget<W>> &scan,
                                        const WeightedClasses<W> &criterion, const Kernels &) {
    if (criterion.rule == ClassRule::correlation || scan.facts.whole == 0.0)
        return plain_scan(scan, criterion, [](std::uint32_t) { return std::int64_t{1}; });
    return mass_scan(scan, criterion, criterion, criterion.rule);
}
/// C4.5. What is known of the node is known of all its rows only where none is missing.
template <class E, int W> Cut fast_scan(const Scan<E, WeightedClassTarget<W>> &scan,
                                        const KnownInformation<WeightedClasses<W>> &criterion,
                                        const Kernels &) {
    if (scan.missing != 0 || scan.facts.whole == 0.0)
        return plain_scan(scan, criterion, [](std::uint32_t) { return std::int64_t{1}; });
    return mass_scan(scan, criterion, *criterion.information, ClassRule::entropy);
}

} // namespace hornbeam
