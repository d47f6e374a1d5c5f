// What the rows at a node come to: how many they are, or the exact sums of their weights, and what a leaf of
// them predicts.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "criteria/entropy.hpp"
#include "criteria/gini.hpp"
#include "criteria/weighted_classes.hpp"
#include "growth/class_factors.hpp"
#include "pruning/prune.hpp"
#include "pruning/shape.hpp"

namespace hornbeam {

/// A class of a node and what its rows come to.
template <class Sum> struct ClassSum {
    std::int32_t code = 0;
    Sum sum{};
};

inline bool by_squares(std::string_view criterion) {
    return criterion == "gini" || criterion == "correlation" || criterion == "quest";
}

/// Every row counts once, and the class of most rows is predicted.
class CountedRows {
  public:
    using Sum = double;
    static constexpr bool counts = true;

    CountedRows(const PruneRows &, const FlatTree &tree, const PruneCosts &, std::string_view criterion,
                Cancel &)
        : criterion_(criterion), counts_(static_cast<std::size_t>(tree.n_classes)) {}

    static Sum of(std::uint32_t) { return 1.0; }
    static double nearest(Sum n) { return n; }
    static bool is_zero(Sum n) { return n == 0.0; }
    static bool is_more(Sum a, Sum b) { return a > b; }
    /// What the rows get wrong at a leaf of their own; `codes` may be in any order.
    double wrong(Sum n, std::span<std::int32_t> codes, const std::vector<Sum> &tally) const {
        double most = 0.0;
        for (std::int32_t code : codes) most = std::max(most, tally[static_cast<std::size_t>(code)]);
        return n - most;
    }
    double impurity(std::int64_t rows, Sum, std::span<const ClassSum<Sum>> sums) {
        counts_.clear();
        counts_.n = rows;
        for (const auto &c : sums)
            counts_.c[static_cast<std::size_t>(c.code)] = static_cast<std::int64_t>(c.sum);
        // Never freed: a daemon thread may be here while the process ends.
        static const XlogTable &xlog = *new XlogTable;
        return by_squares(criterion_) ? Gini{}.impurity(counts_) : Entropy{&xlog}.impurity(counts_);
    }

  private:
    std::string_view criterion_;
    ClassCounts counts_;
};

/// Rows, classes or mistakes weigh differently. W holds a sum of weights times its factor.
template <int W> class WeighedRows {
  public:
    using Sum = Fixed<W>;
    static constexpr bool counts = false;

    WeighedRows(const PruneRows &rows, const FlatTree &tree, const PruneCosts &costs,
                std::string_view criterion, Cancel &cancel)
        : weights_{rows.weights, 0}, costs_(costs), sums_(static_cast<std::size_t>(tree.n_classes)) {
        const ExponentSpan span = span_of(rows.weights, cancel);
        weights_.exponent = span.lowest;
        measure_.rule = by_squares(criterion) ? ClassRule::gini : ClassRule::entropy;
        measure_.exponent = span.lowest;
        int bits = 0;
        if (!costs.factor.empty()) factors_.push_back(factors_of(costs.factor, bits));
        for (std::int64_t i = tree.count_start[0]; i < tree.count_start[1]; ++i)
            present_.push_back(tree.count_class[static_cast<std::size_t>(i)]);
    }

    Sum of(std::uint32_t row) const {
        RowWeights::Units w = weights_[row];
        Sum sum;
        sum.add_shifted(w.mantissa, w.shift);
        return sum;
    }
    double nearest(const Sum &n) const { return nearest_double(n, weights_.exponent); }
    static bool is_zero(const Sum &n) { return n.zero(); }
    static bool is_more(const Sum &a, const Sum &b) { return below(b, a); }
    double wrong(const Sum &n, std::span<std::int32_t> codes, const std::vector<Sum> &tally) const {
        std::sort(codes.begin(), codes.end());
        return nearest(n - tally[static_cast<std::size_t>(predicted(codes, tally))]);
    }
    double impurity(std::int64_t rows, const Sum &n, std::span<const ClassSum<Sum>> sums) {
        sums_.clear();
        sums_.n = rows;
        sums_.weight = n;
        for (const auto &c : sums) sums_.c[static_cast<std::size_t>(c.code)] = c.sum;
        measure_.factors = factors_.empty() ? nullptr : &factors_;
        measure_.open(0, sums_);
        return measure_.impurity(sums_);
    }

  private:
    std::int32_t predicted(std::span<const std::int32_t> codes, const std::vector<Sum> &tally) const {
        if (!costs_.loss.empty()) return cheapest(codes, tally);
        std::int32_t best = present_.front(); // where all products are too small for a double
        double most = 0.0;
        for (std::int32_t code : codes) {
            auto k = static_cast<std::size_t>(code);
            double held = (costs_.weight.empty() ? 1.0 : costs_.weight[k]) * nearest(tally[k]);
            if (held > most) best = code, most = held;
        }
        return best;
    }
    std::int32_t cheapest(std::span<const std::int32_t> codes, const std::vector<Sum> &tally) const {
        std::int32_t best = -1;
        double least = 0.0;
        for (std::int32_t said : present_) {
            double loss = 0.0;
            for (std::int32_t code : codes) {
                auto k = static_cast<std::size_t>(code);
                loss += costs_.loss[k * tally.size() + static_cast<std::size_t>(said)] * nearest(tally[k]);
            }
            if (best >= 0 && !(loss < least)) continue;
            best = said, least = loss;
        }
        return best;
    }

    RowWeights weights_;
    PruneCosts costs_;
    std::vector<std::int32_t> present_; // classes of the training set
    std::vector<ClassFactors> factors_;
    WeightedClasses<W> measure_;
    ClassSums<W> sums_;
};

} // namespace hornbeam
