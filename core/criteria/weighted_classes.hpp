// The criteria of classes where rows, classes or mistakes weigh differently: exact sums, then doubles.
#pragma once

#include "criteria/quality.hpp"
#include "criteria/weighted.hpp"
#include "numbers/xlog.hpp"

namespace hornbeam {

enum class ClassRule : std::uint8_t { gini, entropy, gain_ratio, correlation, c45 };

/// What one training set multiplies its class sums by: z = mantissa * 2^(shift + exponent).
struct ClassFactors {
    std::vector<std::uint64_t> mantissa;
    std::vector<unsigned> shift;
    int exponent = 0;
};

/// W holds a sum of weights times its factor, and twice W the square of such a sum.
template <int W> struct WeightedClasses {
    using Target = WeightedClassTarget<W>;
    using Stats = ClassSums<W>;
    ClassRule rule = ClassRule::gini;
    bool splits_at_zero = true;
    int exponent = 0;                                   // of the weights
    const std::vector<ClassFactors> *factors = nullptr; // of each set; none: 1 each

    /// Turns to a node of a set; everything below is about it.
    void open(std::int32_t set, const Stats &node) {
        now_ = factors == nullptr ? nullptr : &(*factors)[static_cast<std::size_t>(set)];
        unit_ = exponent + (now_ == nullptr ? 0 : now_->exponent);
        whole_ = seen(node);
        mass_ = nearest_double(whole_, unit_);
        parts_.clear();
        for (std::size_t k = 0; k < node.c.size(); ++k)
            if (!node.c[k].zero()) parts_.push_back({k, nearest_double(seen(node, k), unit_)});
        part_of_node_ = by_classes() ? square_share(node) : content(node);
    }

    /// d(u): the weight that qualities see.
    double mass(const Stats &s) const { return nearest_double(seen(s), unit_); }
    double share(const Stats &s, std::size_t k) const { return nearest_double(seen(s, k), unit_) / mass(s); }
    /// d(n) and d(c_k): the weights that the tree keeps.
    double weight(const Stats &s) const { return nearest_double(s.weight, exponent); }
    double count(const Stats &s, std::size_t k) const { return nearest_double(s.c[k], exponent); }

    /// E = xlog(u) - (xlog(u_1) + xlog(u_2) + ...)
    double content(const Stats &s) const {
        double sum = 0.0;
        for (std::size_t k = 0; k < s.c.size(); ++k)
            if (!s.c[k].zero()) sum += exact_xlog(nearest_double(seen(s, k), unit_));
        return exact_xlog(mass(s)) - sum;
    }

    Score score(const Stats &node, std::span<const Stats *const> branches) const {
        double sum = 0.0;
        for (const Stats *b : branches) sum += by_classes() ? square_share(*b) : content(*b);
        double gain = (by_classes() ? sum - part_of_node_ : part_of_node_ - sum) / mass_;
        if (!(gain >= negligible_gain)) gain = 0.0;
        if (rule == ClassRule::gain_ratio) return {ratio(gain, branches), gain};
        if (rule != ClassRule::correlation) return {gain, gain};
        double index = correlation(node, branches);
        return {index >= negligible_gain ? index : 0.0, gain};
    }
    double highest_quality(const Stats &) const { return std::numeric_limits<double>::infinity(); }
    double impurity(const Stats &) const {
        return by_classes() ? 1.0 - part_of_node_ / mass_ : part_of_node_ / mass_;
    }

    double mass(const Stats &s, std::size_t k) const { return nearest_double(seen(s, k), unit_); }
    /// z_k
    double factor(std::size_t k) const {
        if (now_ == nullptr) return 1.0;
        return std::ldexp(static_cast<double>(now_->mantissa[k]),
                          static_cast<int>(now_->shift[k]) + now_->exponent);
    }

  private:
    struct Part {
        std::size_t k;
        double mass;
    };
    const ClassFactors *now_ = nullptr;
    int unit_ = 0; // exponent of u
    Fixed<W> whole_;
    double mass_ = 1.0;
    double part_of_node_ = 0.0;
    std::vector<Part> parts_; // of the classes present

    bool by_classes() const { return rule == ClassRule::gini || rule == ClassRule::correlation; }

    Fixed<W> seen(const Stats &s, std::size_t k) const {
        if (now_ == nullptr) return s.c[k];
        return shifted<W>(times(s.c[k], now_->mantissa[k]), now_->shift[k]);
    }
    Fixed<W> seen(const Stats &s) const {
        if (now_ == nullptr) return s.weight;
        Fixed<W> sum;
        for (std::size_t k = 0; k < s.c.size(); ++k) sum += seen(s, k);
        return sum;
    }
    /// d(S) / d(u)
    double square_share(const Stats &s) const {
        Fixed<W> sum;
        Fixed<2 * W> squares;
        for (std::size_t k = 0; k < s.c.size(); ++k) {
            if (s.c[k].zero()) continue;
            Fixed<W> u = seen(s, k);
            sum += u;
            squares += squared(u);
        }
        return nearest_double(squares, 2 * unit_) / nearest_double(sum, unit_);
    }
    /// Gain over the information of the split itself; -1 where the test may not be taken.
    double ratio(double gain, std::span<const Stats *const> branches) const {
        if (gain == 0.0) return -1.0;
        double sum = 0.0;
        for (const Stats *b : branches) sum += exact_xlog(mass(*b));
        double split = (exact_xlog(mass_) - sum) / mass_;
        return split > 0.0 ? gain / split : -1.0;
    }

    double correlation(const Stats &node, std::span<const Stats *const> branches) const {
        if (branches.size() == 2) {
            const Stats &l = *branches[0], &r = *branches[1];
            Fixed<W> ul = seen(l), ur = seen(r);
            double d =
                distance([&](std::size_t k) { return product(ur, seen(l, k)) - product(ul, seen(r, k)); });
            return d / (mass_ * (nearest_double(ul, unit_) * nearest_double(ur, unit_)));
        }
        double index = 0.0;
        for (const Stats *b : branches) {
            Fixed<W> ub = seen(*b);
            double d = distance(
                [&](std::size_t k) { return product(whole_, seen(*b, k)) - product(ub, seen(node, k)); });
            index += d / (mass_ * mass_) / nearest_double(ub, unit_);
        }
        return index;
    }
    template <class Difference> double distance(Difference difference) const {
        double sum = 0.0;
        for (const Part &p : parts_) {
            double d = nearest_double(difference(p.k), 2 * unit_);
            sum += (d * d) / p.mass;
        }
        return sum;
    }
};

} // namespace hornbeam
