// What no cut inside a bucket can exceed where rows weigh differently or numbers are predicted.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "criteria/variance.hpp"
#include "criteria/weighted_classes.hpp"
#include "criteria/weighted_variance.hpp"
#include "settling/bounds.hpp"

namespace hornbeam {

/// Rows of a bucket that a cut inside it may leave on the left: more than none, and not all.
struct Moved {
    std::int64_t least = 1, most = 1;
};

/// Weighted classes: the corners of the box that the class sums of the left side lie in. How little a row may
/// weigh is not known, so that the corners at which the bucket is on one side count too. Gain ratio: where
/// little weight is moved, roundings are no longer small beside gain and split; so they count for and against
/// the corner, and where next to nothing is on one side, there is no bound.
template <class C> class CornerBound {
  public:
    using Stats = typename C::Target::Stats;

    CornerBound(const C &turned, const Stats &node) : criterion_(turned), node_(node) {
        // Of x log x of all parts of the node and of their sums, by its mass.
        const double classes = static_cast<double>(node.c.size());
        roundings_ = (3.0 * classes + 9.0) * 0x1p-53 * (std::abs(std::log2(mass_of(turned, node))) + 1.0);
    }

    bool there() const { return criterion_.rule != ClassRule::c45; }
    /// Whether a test that tells more apart never has a lower quality.
    bool of_gain() const {
        return criterion_.rule == ClassRule::gini || criterion_.rule == ClassRule::entropy;
    }
    /// How far a quality may lie from the real one.
    double slack(double quality) const {
        const double known = 1e-12 * std::max(1.0, std::abs(quality));
        return criterion_.rule == ClassRule::entropy ? std::max(known, 2.0 * roundings_) : known;
    }

    double highest(const Stats &below, const Stats &bucket, Moved, double enough) {
        const bool ratio = criterion_.rule == ClassRule::gain_ratio;
        open(below, bucket);
        if (of_gain())
            if (const double all = apart(below); all <= enough) return all;
        if (present_.size() > most_corners) return std::numeric_limits<double>::infinity();
        double most = -1.0;
        for (std::uint32_t corner = 0; corner < 1u << present_.size(); ++corner) {
            left_ = below;
            for (std::size_t i = 0; i < present_.size(); ++i)
                if (corner >> i & 1) left_ += pure_[i];
            right_ = node_;
            right_ -= left_;
            if (left_.weight.zero() || right_.weight.zero()) {
                if (ratio) return std::numeric_limits<double>::infinity();
                continue;
            }
            const std::array<const Stats *, 2> sides{&left_, &right_};
            const auto score = criterion_.score(node_, sides);
            most = std::max(most, ratio ? highest_ratio(score.gain) : score.quality);
        }
        return most;
    }

  private:
    const C &criterion_;
    const Stats &node_;
    Stats left_, right_;
    std::vector<std::size_t> present_; // classes in the bucket
    std::vector<Stats> pure_;          // the rows of each of them
    double roundings_ = 0.0;           // of a gain or split

    /// The gain over the information of the split, roundings in its favour. A test is taken from a gain of
    /// `negligible_gain` on, and no gain is above its split.
    double highest_ratio(double gain) const {
        double left = 0.0, right = 0.0;
        for (std::size_t k = 0; k < node_.c.size(); ++k) {
            left += criterion_.mass(left_, k);
            right += criterion_.mass(right_, k);
        }
        const double p = left / (left + right), q = right / (left + right);
        const double split = -(p * std::log2(p) + q * std::log2(q));
        if (!(split > negligible_gain + 4.0 * roundings_)) return std::numeric_limits<double>::infinity();
        return (std::max(gain, negligible_gain) + 2.0 * roundings_) / (split - 2.0 * roundings_);
    }

    void open(const Stats &below, const Stats &bucket) {
        present_.clear();
        pure_.clear();
        for (std::size_t k = 0; k < bucket.c.size(); ++k) {
            if (bucket.c[k].zero()) continue;
            present_.push_back(k);
            pure_.push_back(bucket);
            pure_.back().clear();
            pure_.back().n = 1; // how many there are does not matter here
            pure_.back().weight = pure_.back().c[k] = bucket.c[k];
        }
        right_ = node_;
        right_ -= below;
        right_ -= bucket;
    }
    /// The quality of telling the classes of the bucket apart from all else.
    double apart(const Stats &below) {
        std::vector<const Stats *> branches;
        if (!below.weight.zero()) branches.push_back(&below);
        if (!right_.weight.zero()) branches.push_back(&right_);
        for (const Stats &one : pure_) branches.push_back(&one);
        return criterion_.score(node_, branches).quality;
    }
};

/// Variance: with y counted from the mean of the node, a cut that leaves the share s of the bucket's weight b
/// on the left has A(s) = A_0 + s A_b + r sqrt(s (1 - s)) at most as the sum of w y on its left, where r^2 is
/// b times the bucket's sum of squares about its own mean (Cauchy and Schwarz), and gains A(s)^2 / (left
/// weight * right weight). Shares are looked at piece by piece; (a + b)^2 / (p + q) <= a^2 / p + b^2 / q
/// serves where little weight is on one side.
template <class C> class VarianceBound {
  public:
    using Stats = typename C::Target::Stats;

    VarianceBound(const C &turned, const Stats &node)
        : criterion_(turned), node_(node), whole_(weight_of(turned, node)) {}

    bool there() const { return true; }
    bool of_gain() const { return true; }
    double slack(double quality) const {
        constexpr double least = 1e-290; // products of smaller numbers are no doubles: everything is in reach
        return quality < least ? std::numeric_limits<double>::infinity() : 1e-11 * quality;
    }

    double highest(const Stats &below, const Stats &bucket, Moved moved, double) {
        Stats above = node_;
        above -= below;
        above -= bucket;
        left_ = weight_of(criterion_, below);
        in_ = weight_of(criterion_, bucket);
        right_ = weight_of(criterion_, above);
        targets_.clear();
        for (std::size_t t = 0; t < node_.y.size(); ++t)
            targets_.push_back({apart(below, t), apart(bucket, t), -apart(above, t), spread(bucket, t)});
        double first = 0.0, last = 1.0;
        if constexpr (!requires { bucket.weight; }) {
            first = as_double(moved.least) / in_;
            last = as_double(moved.most) / in_;
        }
        double most = -1.0;
        for (int i = 0; i < pieces; ++i) {
            const double step = (last - first) / pieces;
            const double here = highest_between(first + step * i, first + step * (i + 1));
            if (std::isnan(here)) return std::numeric_limits<double>::infinity();
            most = std::max(most, here);
        }
        return most;
    }

  private:
    static constexpr int pieces = 8;
    static constexpr double more = 1.0 + 1e-12; // than what is computed, for roundings
    struct Target {
        double start, sum, end, spread; // A_0, A_b, A_0 + A_b, r
    };
    const C &criterion_;
    const Stats &node_;
    const double whole_;
    std::vector<Target> targets_;
    double left_ = 0.0, in_ = 0.0, right_ = 0.0; // weights before, in and after the bucket

    /// The sum of w y, counted from the mean of the node.
    double apart(const Stats &s, std::size_t t) const {
        if constexpr (requires { s.weight; })
            return nearest_double(product(node_.weight, s.y[t]) - product(s.weight, node_.y[t]),
                                  criterion_.exponent + 2 * criterion_.weight_exponent) /
                   whole_;
        else
            return nearest_double(times(s.y[t], C::count(node_.n)) - times(node_.y[t], C::count(s.n)),
                                  criterion_.exponent) /
                   whole_;
    }
    double spread(const Stats &s, std::size_t t) const {
        int exponent = 2 * criterion_.exponent;
        if constexpr (requires { s.weight; }) exponent += 2 * criterion_.weight_exponent;
        return std::sqrt(nearest_double(s.spread(t), exponent));
    }

    /// For shares from a to b.
    double highest_between(double a, double b) const {
        const double middle = a <= 0.5 && b >= 0.5 ? 0.25 : std::max(a * (1.0 - a), b * (1.0 - b));
        const double left_a = left_ + a * in_, right_a = right_ + (1.0 - a) * in_;
        const double left_b = left_ + b * in_, right_b = right_ + (1.0 - b) * in_;
        double plain = 0.0, from_left = 0.0, from_right = 0.0;
        for (const Target &t : targets_) {
            const double sum = std::abs(t.sum), roundings = 1e-14 * (std::abs(t.start) + sum);
            const double ends = std::max(std::abs(t.start + a * t.sum), std::abs(t.start + b * t.sum));
            const double size = ends + t.spread * std::sqrt(middle) + roundings;
            const double more_left = std::sqrt(b) * sum + t.spread;
            const double more_right = std::sqrt(1.0 - a) * sum + t.spread;
            plain += size * size;
            from_left += share_of(t.start, left_) + more_left * more_left / in_;
            from_right += share_of(t.end, right_) + more_right * more_right / in_;
        }
        plain /= std::min(left_a * right_a, left_b * right_b);
        return std::min({plain, from_left / right_b, from_right / left_a}) * more;
    }
    static double share_of(double sum, double weight) { return sum == 0.0 ? 0.0 : sum * sum / weight; }
};

} // namespace hornbeam
