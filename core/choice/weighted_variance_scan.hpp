// Numeric cuts of weighted numeric targets: sums in doubles bound what a cut can gain, and only cuts that may
// win are summed and scored exactly.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "choice/plain_scan.hpp"
#include "criteria/weighted_variance.hpp"

namespace hornbeam {

template <int W>
void prepare(NodeFacts &facts, const WeightedVariance<W> &criterion, const WeightedSums<W> &node) {
    const double whole = criterion.weight(node);
    facts.whole = 0.0;
    facts.impurity = criterion.impurity(node);
    // Up to six limbs the lightest row weighs more than 2^-384 of the heaviest, so that in these ranges no
    // product of the literal score that matters leaves the range of normal doubles.
    if (W > 6 || !(whole > 1e-15 && whole < 1e15)) return;
    if (!(facts.impurity > 1e-60 && facts.impurity < 1e60)) return;
    facts.whole = whole;
    facts.centre.resize(node.y.size());
    for (std::size_t t = 0; t < node.y.size(); ++t) facts.centre[t] = criterion.share(node, t);
}

/// Sums on the left in doubles. The gain of a cut is the sum of D^2 / (w^2 w_L w_R) over the targets, with
/// D = w times the sum of w_i (y_i - mean) on the left.
class WeightedSweep {
  public:
    template <class E, int W>
    WeightedSweep(const Scan<E, WeightedTarget<W>> &scan, const WeightedVariance<W> &criterion)
        : y_(scan.target.y.data()), weights_(scan.target.weight.of), centre_(scan.facts.centre),
          sum_(scan.scratch.sum), whole_(scan.facts.whole), left_(criterion.weight(scan.start)) {
        constexpr double rounding = 0x1p-52;
        const std::size_t q = centre_.size();
        const double rows = as_double(scan.node.n);
        std::vector<double> &first = scan.scratch.first;
        first.resize(q);
        double offset = 0.0;
        for (std::size_t t = 0; t < q; ++t) {
            first[t] = nearest_double(scan.start.y[t], criterion.exponent + criterion.weight_exponent) -
                       left_ * centre_[t];
            offset += std::abs(centre_[t]);
        }
        sum_ = first;
        start_ = left_;
        // The sum of w |y - mean| is at most a. The running sum is off by a rounding of that for each row,
        // and by what the rounded mean leaves over.
        const double a = whole_ * std::sqrt(scan.facts.impurity) * (1.0 + 1e-9);
        const double error = whole_ * rounding * ((rows + 16.0) * a + 16.0 * whole_ * offset);
        slack_ = as_double(static_cast<std::int64_t>(q)) * (2.0 * whole_ * a + error) * error;
        weight_slack_ = (rows + 16.0) * rounding * whole_;
        relative_ = 1.0 - 1e-12 - 0x1p-50 * as_double(static_cast<std::int64_t>(q));
    }

    void restart(const std::vector<double> &first) {
        sum_ = first;
        left_ = start_;
    }
    void add(std::uint32_t id) {
        const std::size_t q = sum_.size();
        const double w = weights_.empty() ? 1.0 : weights_[id];
        left_ += w;
        squares_ = 0.0;
        for (std::size_t t = 0; t < q; ++t) {
            sum_[t] += w * (y_[id * q + t] - centre_[t]);
            const double d = whole_ * sum_[t];
            squares_ += d * d;
        }
    }

    /// Whether the cut behind the rows added so far may gain `reach`.
    bool may_reach(double reach) const {
        const double light = std::max(left_ - weight_slack_, 0.0),
                     rest = std::max(whole_ - left_ - weight_slack_, 0.0);
        return squares_ + slack_ >= reach * (whole_ * whole_) * (light * rest);
    }
    /// What it gains at least.
    double at_least() const {
        const double sides = (left_ + weight_slack_) * (whole_ - left_ + weight_slack_);
        return (squares_ - slack_) / sides / (whole_ * whole_) * relative_;
    }
    /// What the real gain must reach where the literal one is to be above `quality`.
    double to_reach(double quality, double zero) const {
        return quality < 0.0 ? -1.0 : std::max(quality, zero) * relative_;
    }

  private:
    const double *y_;
    std::span<const double> weights_;
    const std::vector<double> &centre_;
    std::vector<double> &sum_;
    double whole_, left_, start_ = 0.0, squares_ = 0.0;
    double slack_ = 0.0;        // of the sum of D^2
    double weight_slack_ = 0.0; // of the weight of a side
    double relative_ = 1.0;     // what a few roundings leave of a gain
};

template <class E, int W>
Cut weighted_variance_scan(const Scan<E, WeightedTarget<W>> &scan, const WeightedVariance<W> &criterion) {
    WeightedSweep sweep(scan, criterion);
    const double zero = negligible_gain * scan.facts.impurity; // gains below count as 0
    const double floor = sweep.to_reach(scan.floor, zero);
    double reach = floor;
    bool any = false;
    std::int64_t left = scan.start.n;
    Pace pace(scan.cancel, 5 + 5 * scan.target.n_targets);
    for (std::uint32_t i = 0; i + 1 < scan.size; ++i) {
        pace.step();
        sweep.add(scan.id(i));
        ++left;
        if (!scan.cuts_after(i) || !scan.admits(left) || !sweep.may_reach(reach)) continue;
        any = true;
        // A gain that does not count as 0 rules out all that are lower.
        if (const double least = sweep.at_least(); least > zero) reach = std::max(reach, least);
    }
    if (!any) return Cut{};
    Cut best;
    best.quality = scan.floor;
    sweep.restart(scan.scratch.first);
    WeightedSums<W> exact = scan.start, right = scan.target.zero();
    std::uint32_t summed = 0; // entries that `exact` holds
    left = scan.start.n;
    for (std::uint32_t i = 0; i + 1 < scan.size; ++i) {
        pace.step();
        sweep.add(scan.id(i));
        ++left;
        if (!scan.cuts_after(i) || !scan.admits(left) || !sweep.may_reach(reach)) continue;
        for (; summed <= i; ++summed) {
            pace.step();
            scan.target.add_for_quality(exact, scan.id(summed), 1);
        }
        right = scan.node;
        right -= exact;
        std::array<const WeightedSums<W> *, 2> sides{&exact, &right};
        Score s = criterion.score(scan.node, sides);
        if (!(s.quality > best.quality)) continue;
        best = {s.quality, s.gain, i, i + 1, exact.n};
        reach = std::max(reach, sweep.to_reach(s.quality, zero));
    }
    if (best.quality == scan.floor) best.quality = -1.0;
    return best;
}

template <class E, int W>
Cut fast_scan(const Scan<E, WeightedTarget<W>> &scan, const WeightedVariance<W> &criterion, const Kernels &) {
    if (scan.known != nullptr || scan.facts.whole == 0.0) return plain_scan_alone(scan, criterion);
    return weighted_variance_scan(scan, criterion);
}

} // namespace hornbeam
