// What no cut inside a bucket can exceed (paper 002, section 3.4; stamp points and corners). The quality of a
// cut is convex in the class counts of its left side, so that it is highest at a corner of the box that they
// lie in. The two corners where the cut leaves the bucket on one side are no cuts inside it: their neighbours
// take their place.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <vector>

#include "choice/split_criterion.hpp"

namespace hornbeam {

inline constexpr int most_corners = 10; // classes in a bucket up to which all corners are looked at

/// Corners bound the quality of cuts. Gain ratio and index of correlation: checked on boxes without number;
/// gini and entropy: convex. C4.5 has no bound.
class BucketBound {
  public:
    BucketBound(const SplitCriterion<ClassTarget> &criterion, const ClassCounts &node)
        : scorer_(criterion.scorer()), traits_(criterion.traits), node_(node), left_(node.c.size()),
          right_(node.c.size()) {}
    static bool there(const SplitCriterion<ClassTarget> &criterion) {
        return !criterion.traits.compares_attributes;
    }

    /// The highest quality that a cut inside the bucket may have; `below` are the rows on its left already.
    /// Bounds of at most `enough` need not be tight.
    double highest(const ClassCounts &below, const std::uint32_t *bucket, double enough) {
        if (traits_.by_gini)
            if (const double all = apart(below, bucket); all <= enough) return all;
        open(below, bucket);
        if (rows_ < 2) return -1.0;
        if (traits_.quality_is_gain && !traits_.by_gini)
            if (const double all = apart(below); all <= enough) return all;
        if (present_.size() > most_corners) return std::numeric_limits<double>::infinity();
        double most = -1.0;
        const std::uint32_t corners = 1u << present_.size();
        for (std::uint32_t corner = 1; corner + 1 < corners; ++corner) {
            start(below);
            for (std::size_t i = 0; i < present_.size(); ++i)
                if (corner >> i & 1) move(present_[i], bucket[present_[i]]);
            most = std::max(most, score());
        }
        for (std::size_t k : present_) {
            start(below);
            move(k, 1);
            most = std::max(most, score());
            start(below);
            for (std::size_t j : present_) move(j, bucket[j]);
            move(k, -1);
            most = std::max(most, score());
        }
        return most;
    }

  private:
    const Scorer<ClassCounts> &scorer_;
    const CriterionTraits traits_;
    const ClassCounts &node_;
    ClassCounts left_, right_;
    std::vector<std::size_t> present_; // classes in the bucket
    std::vector<ClassCounts> pure_;
    std::vector<const ClassCounts *> branches_;
    std::int64_t rows_ = 0;

    void open(const ClassCounts &below, const std::uint32_t *bucket) {
        present_.clear();
        rows_ = 0;
        for (std::size_t k = 0; k < below.c.size(); ++k)
            if (bucket[k] != 0) present_.push_back(k), rows_ += bucket[k];
        start(below);
        for (std::size_t k : present_) right_.c[k] -= bucket[k];
        right_.n -= rows_; // what is above the bucket, for `apart`
        while (pure_.size() < present_.size()) pure_.emplace_back(node_.c.size());
        for (std::size_t i = 0; i < present_.size(); ++i) {
            pure_[i].clear();
            pure_[i].n = pure_[i].c[present_[i]] = bucket[present_[i]];
        }
    }
    /// The same as below for gini, to the last bit: of a branch of one class S/n is n. -1 for less than two
    /// rows.
    double apart(const ClassCounts &below, const std::uint32_t *bucket) const {
        std::int64_t in = 0, left = 0, right = 0, all = 0;
        for (std::size_t k = 0; k < below.c.size(); ++k) {
            const std::int64_t c = bucket[k], above = node_.c[k] - below.c[k] - c;
            in += c;
            left += below.c[k] * below.c[k], right += above * above, all += node_.c[k] * node_.c[k];
        }
        if (in < 2) return -1.0;
        const std::int64_t above = node_.n - below.n - in;
        double sum = 0.0;
        if (below.n != 0) sum += as_double(left) / as_double(below.n);
        if (above != 0) sum += as_double(right) / as_double(above);
        for (std::size_t k = 0; k < below.c.size(); ++k) sum += as_double(bucket[k]);
        return Gini::gain(sum, all, node_.n);
    }
    /// The quality of telling the classes of the bucket apart from all else.
    double apart(const ClassCounts &below) {
        branches_.clear();
        if (below.n != 0) branches_.push_back(&below);
        if (right_.n != 0) branches_.push_back(&right_);
        for (std::size_t i = 0; i < present_.size(); ++i) branches_.push_back(&pure_[i]);
        return scorer_.score(node_, branches_).quality;
    }
    void start(const ClassCounts &below) {
        left_ = below;
        right_ = node_;
        right_ -= below;
    }
    void move(std::size_t k, std::int64_t rows) {
        left_.c[k] += rows, left_.n += rows;
        right_.c[k] -= rows, right_.n -= rows;
    }
    double score() const {
        if (left_.n <= 0 || right_.n <= 0) return -1.0;
        const std::array<const ClassCounts *, 2> sides{&left_, &right_};
        return scorer_.score(node_, sides).quality;
    }
};

} // namespace hornbeam
