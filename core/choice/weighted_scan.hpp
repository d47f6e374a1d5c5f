// Numeric cuts of weighted classes: sums in doubles bound what a cut can gain, and only cuts that may win are
// summed and scored exactly.
#pragma once

#include <array>
#include <cmath>

#include "choice/scan.hpp"
#include "criteria/weighted_classes.hpp"

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
    // Roundings of these sums, a class that runs out on the right, logarithms good to 2^-44, and roundings of
    // the literal expression.
    facts.content_slack = (1024.0 * rows + 1024.0 * classes + 8192.0) * 0x1p-53 +
                          (2.0 * classes + 16.0) * 0x1p-52 * (std::abs(std::log2(whole)) + 16.0);
}

template <int W>
void prepare(NodeFacts &facts, const C45<WeightedClasses<W>> &criterion, const ClassSums<W> &node) {
    prepare(facts, static_cast<const WeightedClasses<W> &>(criterion), node);
}

/// Cuts that are bounded side by side.
inline constexpr std::uint32_t mass_block = 64;

/// Gini. Sums of weights in doubles: each is a sum of at most as many terms as there are rows, none negative,
/// so it is off by a share of at most (rows + 4) 2^-53 of itself. The same holds in ContentSweep.
class SquareSweep {
  public:
    template <int W> SquareSweep(const NodeFacts &facts, std::vector<double> &masses, ClassRule,
                                 const WeightedClasses<W> &criterion, const ClassSums<W> &start)
        : facts_(facts), all_(facts.whole) {
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
        }
    }

    /// A row is added, the `at`-th of a block.
    void add(std::uint32_t at, std::size_t k, double weight) {
        double &l = side_[k];
        const double w = weight * facts_.mass[k].factor;
        left_ += w;
        s_ += w * (2.0 * l + w);
        x_ += w * facts_.mass[k].all;
        l += w;
        sums_[at] = {left_, s_, x_};
    }
    /// The block is complete.
    void close(std::uint32_t, const Kernels &) {}
    /// The rows of a block are gone through in order.
    void pass(std::uint32_t) {}

    /// Whether the cut behind the `at`-th row of the block may have a higher quality.
    bool promising(std::uint32_t at, double quality) const {
        if (quality < 0.0) return true;
        const auto &[left, s, x] = sums_[at];
        // The sum of D_k^2 is the gain times all^2 left right.
        double contrast = (all_ * all_ * s - 2.0 * all_ * left * x) + left * left * facts_.mass_squares;
        return contrast + facts_.contrast_slack * left * left >=
               gain_to_reach(quality) * (1.0 - 1e-9) * all_ * all_ * (left * (all_ - left));
    }

  private:
    struct Sums {
        double left, s, x;
    };
    const NodeFacts &facts_;
    double *side_ = nullptr; // of each class, on the left
    double left_ = 0.0, all_, s_ = 0.0, x_ = 0.0;
    std::array<Sums, mass_block> sums_;
};

/// Information gain and gain ratio: x log2 x of both sides of a class changes only with a row of that class,
/// and the logarithms of a block of rows are taken at once.
class ContentSweep {
  public:
    template <int W> ContentSweep(const NodeFacts &facts, std::vector<double> &masses, ClassRule rule,
                                  const WeightedClasses<W> &criterion, const ClassSums<W> &start)
        : facts_(facts), rule_(rule), all_(facts.whole), f_all_(times_log2(facts.whole)),
          sides_(facts.mass_logs) {
        const std::size_t n = facts.mass.size();
        masses.assign(2 * n, 0.0);
        side_ = masses.data();
        held_ = side_ + n;
        for (std::size_t k = 0; k < n; ++k) {
            const double all = facts.mass[k].all;
            held_[k] = times_log2(all);
            if (start.n == 0 || start.c[k].zero()) continue;
            const double l = std::ldexp(criterion.mass(start, k), facts.mass_scale);
            side_[k] = l;
            left_ += l;
            const double both = times_log2(l) + times_log2(all - l);
            sides_ += both - held_[k];
            held_[k] = both;
        }
    }

    void add(std::uint32_t at, std::size_t k, double weight) {
        const double w = weight * facts_.mass[k].factor;
        left_ += w;
        side_[k] += w;
        class_[at] = static_cast<ClassCode>(k);
        part_[0][at] = side_[k], part_[1][at] = facts_.mass[k].all - side_[k];
        whole_[0][at] = left_, whole_[1][at] = all_ - left_;
    }
    void close(std::uint32_t many, const Kernels &kernels) {
        kernels.contents(part_[0], part_[1], many, of_class_);
        kernels.contents(whole_[0], whole_[1], many, of_sides_);
    }
    void pass(std::uint32_t at) {
        double &held = held_[class_[at]];
        sides_ += of_class_[at] - held;
        held = of_class_[at];
    }

    bool promising(std::uint32_t at, double quality) const {
        double gain = ((f_all_ - facts_.mass_logs) - (of_sides_[at] - sides_)) / all_ + facts_.content_slack;
        if (rule_ == ClassRule::entropy) return quality < 0.0 || gain >= gain_to_reach(quality);
        if (gain < negligible_gain) return false; // such a test is never taken
        double split = (f_all_ - of_sides_[at]) / all_ - facts_.content_slack;
        return quality <= 0.0 || split <= 0.0 || gain >= quality * split * (1.0 - 1e-9);
    }

  private:
    const NodeFacts &facts_;
    ClassRule rule_;
    double *side_ = nullptr; // of each class, on the left
    double *held_ = nullptr; // of each class: x log2 x of both its sides
    double left_ = 0.0, all_, f_all_;
    double sides_; // sum of x log2 x over the classes on both sides
    ClassCode class_[mass_block];
    double part_[2][mass_block], whole_[2][mass_block], of_class_[mass_block], of_sides_[mass_block];
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
template <class Sweep, class E, int W, class C>
Cut mass_scan(const Scan<E, WeightedClassTarget<W>> &scan, const C &criterion,
              const WeightedClasses<W> &classes, ClassRule rule, const Kernels &kernels) {
    using Answer = EnoughOnBothSides::Answer;
    Sweep sweep(scan.facts, scan.scratch.masses, rule, classes, scan.start);
    EnoughOnBothSides enough(scan, classes.weight(scan.node));
    const ScorerOf<C> scorer(criterion);
    std::int64_t cuts = 0;
    Cut best;
    best.quality = scan.floor;
    ClassSums<W> exact = scan.start, right = scan.node;
    const std::array<const ClassSums<W> *, 2> sides{&exact, &right};
    std::uint32_t summed = 0;                              // entries that `exact` holds
    Pace pace(scan.cancel, 50 + 20 * width_of(scan.node)); // of literal scores
    const std::span<const double> weights = scan.target.weight.of;
    auto weight = [&](std::uint32_t id) { return weights.empty() ? 1.0 : weights[id]; };
    for (std::uint32_t begin = 0; begin + 1 < scan.size; begin += mass_block) {
        const std::uint32_t many = std::min(mass_block, scan.size - 1 - begin);
        for (std::uint32_t at = 0; at < many; ++at) {
            const std::uint32_t id = scan.id(begin + at);
            sweep.add(at, scan.target.code[id], weight(id));
        }
        sweep.close(many, kernels);
        for (std::uint32_t at = 0; at < many; ++at) {
            const std::uint32_t i = begin + at;
            scan.pause(i);
            sweep.pass(at);
            if constexpr (of_known_rows<C>) enough.add(weight(scan.id(i)));
            if (!scan.cuts_after(i) || !scan.admits(scan.start.n + i + 1)) continue;
            const Answer answer = of_known_rows<C> ? enough.after(i) : Answer::unclear;
            if (answer == Answer::no) continue;
            cuts += answer == Answer::yes;
            // Where cuts are counted, one that is too close to tell is summed, however little it gains.
            const bool counted = answer == Answer::yes || !of_known_rows<C>;
            if (counted && !sweep.promising(at, best.quality)) continue;
            for (; summed <= i; ++summed) scan.target.add(exact, scan.id(summed), 1);
            pace.step();
            if (answer == Answer::unclear) {
                if (!weighs_enough(scan, scorer, exact)) continue;
                ++cuts;
            }
            right = scan.node;
            right -= exact;
            Score s = criterion.score(scan.node, sides);
            if (s.quality > best.quality) best = {s.quality, s.gain, i, i + 1, exact.n};
        }
    }
    best.cuts = cuts;
    if (best.quality == scan.floor) best.quality = -1.0;
    return best;
}

template <class E, int W> Cut fast_scan(const Scan<E, WeightedClassTarget<W>> &scan,
                                        const WeightedClasses<W> &criterion, const Kernels &kernels) {
    if (criterion.rule == ClassRule::correlation || scan.facts.whole == 0.0)
        return plain_scan_alone(scan, criterion);
    if (criterion.rule == ClassRule::gini)
        return mass_scan<SquareSweep>(scan, criterion, criterion, criterion.rule, kernels);
    return mass_scan<ContentSweep>(scan, criterion, criterion, criterion.rule, kernels);
}
/// C4.5. What is known of the node is known of all its rows only where none is missing.
template <class E, int W> Cut fast_scan(const Scan<E, WeightedClassTarget<W>> &scan,
                                        const KnownInformation<WeightedClasses<W>> &criterion,
                                        const Kernels &kernels) {
    if (scan.missing != 0 || scan.facts.whole == 0.0) return plain_scan_alone(scan, criterion);
    return mass_scan<ContentSweep>(scan, criterion, *criterion.information, ClassRule::entropy, kernels);
}

} // namespace hornbeam
