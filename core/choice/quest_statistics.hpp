// QUEST (Loh and Shih, 1997) at a node, from sums alone: how sure it is that an attribute tells the classes
// apart, and where it is cut. docs/quest.md has every expression.
#pragma once

#include <span>
#include <vector>

#include "choice/contingency.hpp"
#include "choice/moments.hpp"
#include "criteria/quality.hpp"
#include "numbers/log_p.hpp"
#include "running/cancel.hpp"

namespace hornbeam {

/// What doubles see of a class: its rows, how far its values lie from the mean of all, and how far from each
/// other, in units that make the spread of all rows a number between 1 and 4.
struct ClassSpread {
    std::int64_t n = 0;
    double deviation = 0.0;
    double spread = 0.0;
};

/// The F test of the class means.
double log_p_of_means(std::span<const ClassSpread> classes, std::int64_t n);

/// Puts the classes into two superclasses by two-means of their means, from the extreme ones; 1: in the
/// first, that of the lower means.
void part_classes(std::span<const ClassSpread> classes, std::int64_t n, std::vector<std::uint8_t> &first);

/// Two superclasses as normal distributions: rows, variances, and the way from the first mean to the second.
struct TwoNormals {
    std::int64_t n_first = 0, n_second = 0;
    double first_variance = 0.0, second_variance = 0.0;
    double gap = 0.0;
};

/// Values up to `at` go left, as seen from the mean of a superclass; `strictly`: those below it.
struct ValueCut {
    double at = 0.0;
    bool from_second = false;
    bool strictly = false;
};
/// Where the densities are equal, nearest to the first mean.
ValueCut discriminant_cut(const TwoNormals &normals);

/// A numeric attribute at a node, by the exact sums of its known rows of each class.
template <int W> class ValueSplit {
  public:
    /// False where fewer than two classes are there, or all values are equal.
    bool open(std::span<const Moments<W>> classes, int exponent) {
        classes_ = classes;
        exponent_ = exponent;
        whole_ = {};
        std::size_t present = 0;
        for (const Moments<W> &c : classes) {
            whole_ += c;
            present += c.n != 0;
        }
        if (present < 2) return false;
        const Fixed<2 * W> spread = whole_.spread();
        if (spread.zero()) return false;
        const int log2 = spread.width() - 1 + 2 * exponent;
        unit_ = (log2 - (log2 & 1)) / 2; // floor
        seen_.clear();
        for (const Moments<W> &c : classes)
            if (c.n != 0) seen_.push_back({c.n, rounded(contrast(c, whole_)), rounded_square(c.spread())});
        return true;
    }
    double log_p() const { return log_p_of_means(seen_, whole_.n); }

    /// Finds the cut; `goes_left` then follows it, or the half-way one.
    void part() {
        part_classes(seen_, whole_.n, is_first_);
        first_ = second_ = {};
        std::size_t k = 0;
        for (const Moments<W> &c : classes_)
            if (c.n != 0) (is_first_[k++] != 0 ? first_ : second_) += c;
        const TwoNormals normals{first_.n, second_.n, variance(first_), variance(second_),
                                 rounded(contrast(second_, first_)) /
                                     (as_double(first_.n) * as_double(second_.n))};
        cut_ = discriminant_cut(normals);
        halfway_ = {normals.gap / 2.0, false, false};
    }
    /// Half-way between the two means: for where the discriminants leave a side without values.
    void take_halfway() { cut_ = halfway_; }
    /// Never true again above a value for which it is false.
    bool goes_left(Decomposed value) const {
        const Moments<W> &from = cut_.from_second ? second_ : first_;
        const Fixed<W> way =
            times(Moments<W>::whole(value, exponent_), static_cast<std::uint64_t>(from.n)) - from.x;
        const double place = rounded(way) / as_double(from.n);
        return cut_.strictly ? place < cut_.at : place <= cut_.at;
    }

  private:
    std::span<const Moments<W>> classes_;
    int exponent_ = 0;
    int unit_ = 0; // 4^unit <= spread of all rows < 4^(unit + 1)
    Moments<W> whole_, first_, second_;
    std::vector<ClassSpread> seen_;
    std::vector<std::uint8_t> is_first_;
    ValueCut cut_, halfway_;

    double rounded(const Fixed<W> &a) const { return nearest_double(a, exponent_ - unit_) + 0.0; }
    double rounded_square(const Fixed<2 * W> &a) const {
        return nearest_double(a, 2 * (exponent_ - unit_)) + 0.0;
    }
    double variance(const Moments<W> &s) const {
        const double spread = rounded_square(s.spread());
        return spread == 0.0 ? 0.0 : spread / (as_double(s.n) * as_double(s.n - 1));
    }
};

/// Pearson's statistic.
double chi_square(const Contingency &table);

/// The first discriminant coordinate of each category, as whole numbers up to 2^40: two limbs hold their
/// sums. The first that is not 0 is negative.
std::vector<std::int64_t> discriminant_coordinates(const Contingency &table, Cancel &cancel);

} // namespace hornbeam
