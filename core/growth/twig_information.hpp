// Cuts by information in the lists of a twig: the tables of a node, and the literal scores of what may be
// best.
#pragma once

#include <vector>

#include "choice/information_score.hpp"
#include "kernels/twig_kernels.hpp"

namespace hornbeam {

class TwigInformationCuts {
  public:
    explicit TwigInformationCuts(const InformationCriterion &criterion, Cancel &cancel)
        : criterion_(criterion), fixed_(*criterion.entropy.xlog, twig_rows, cancel) {}

    /// What bounds all tests of the node: only gains have a bound.
    double highest_quality(const ClassCounts &node) const {
        return by_ratio() ? std::numeric_limits<double>::infinity()
                          : criterion_.entropy.highest_quality(node);
    }

    /// Turns to a node, whose cuts and classes are those of `cuts`.
    void open(const ClassCounts &node, const TwigCuts &cuts) {
        node_ = &node;
        content_ = criterion_.entropy.content(node);
        const std::int32_t *xlog = fixed_.data();
        const auto n = static_cast<std::uint32_t>(node.n);
        tables_.ratio = by_ratio();
        tables_.whole_log = xlog[n];
        doubt_ = static_cast<std::int32_t>(node.c.size()) + 2;
        tables_.above = static_cast<std::int32_t>(std::nearbyint(content_ * fixed_.units())) + doubt_;
        write_phi(n, tables_.phi);
        if (node.c.size() == 2) {
            write_phi(static_cast<std::uint32_t>(node.c[0]), tables_.phi_of_zeros);
            write_phi(static_cast<std::uint32_t>(node.c[1]), tables_.phi_of_ones);
        } else {
            write_steps(cuts);
        }
        const auto most = std::max(tables_.phi[cuts.first + 1], tables_.phi[cuts.end]);
        least_split_ = static_cast<float>(tables_.whole_log - most);
    }
    const TwigInformation &tables() const { return tables_; }

    /// The score of cuts that may be better than a quality; see InformationNode.
    float bar(double quality) const {
        if (quality < 0.0) return 0.0f;
        if (by_ratio()) return static_cast<float>(quality) * (1.0f - 2e-6f);
        const double gain = gain_to_reach(quality) * as_double(node_->n) * fixed_.units();
        return std::max(static_cast<float>(gain) * (1.0f - 1e-6f) - 1.0f, 0.0f);
    }
    /// No cut with a lower score is as good as one with this.
    float as_good_as(float top) const {
        const auto doubt = static_cast<float>(2 * doubt_ + 1);
        if (!by_ratio()) return std::max(top - doubt, 0.0f);
        const float split = least_split_ + 2.0f;
        return std::max((top * (1.0f - 4.0f / split) - doubt / split) * (1.0f - 2e-6f), 0.0f);
    }

    /// The literal score of a cut, `left` having the rows of each class on its left.
    Score literal(std::int64_t n_left, const std::vector<std::int32_t> &left) const {
        const XlogTable &xlog = *criterion_.entropy.xlog;
        double left_sum = 0.0, right_sum = 0.0;
        for (std::size_t k = 0; k < left.size(); ++k) {
            left_sum += xlog(left[k]);
            right_sum += xlog(node_->c[k] - left[k]);
        }
        return InformationNode(criterion_.entropy, criterion_.rule, *node_, as_double(node_->n), content_)
            .literal(n_left, left_sum, right_sum);
    }

  private:
    using Phi = decltype(TwigInformation::phi);
    const InformationCriterion &criterion_;
    FixedXlog fixed_; // finer than that of a large table
    const ClassCounts *node_ = nullptr;
    double content_ = 0.0;
    std::int32_t doubt_ = 0; // how far a score may be off, and one more
    float least_split_ = 0.0f;
    TwigInformation tables_;

    bool by_ratio() const { return criterion_.rule == InformationRule::ratio; }
    void write_phi(std::uint32_t all, Phi &phi) const {
        const std::int32_t *xlog = fixed_.data();
        for (std::uint32_t l = 0; l <= all; ++l) phi[l] = xlog[l] + xlog[all - l];
    }
    /// Scores begin with the sum of phi_k where nothing is on the left.
    void write_steps(const TwigCuts &cuts) {
        const std::int32_t *xlog = fixed_.data(), *rises = fixed_.rises();
        std::uint32_t begin = 0;
        for (std::uint32_t p = 0; p < cuts.n_present; ++p) {
            const std::int32_t all = cuts.count[p];
            tables_.steps_begin[p] = static_cast<std::uint16_t>(begin);
            std::int16_t *steps = tables_.steps.data() + begin;
            for (std::int32_t l = 0; l < all; ++l)
                steps[l] = static_cast<std::int16_t>(rises[l] - rises[all - l - 1]);
            tables_.above += xlog[all];
            begin += static_cast<std::uint32_t>(all);
        }
    }
};

} // namespace hornbeam
