// Exact sums of what rows weigh and of their targets, as words of 64 bits: a scan adds them up whatever the
// criterion, in as many words as the numbers of the source ask for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "criteria/statistics.hpp"
#include "criteria/weighted.hpp"
#include "numbers/exact.hpp"

namespace hornbeam {

using SumWords = std::vector<std::uint64_t>;

/// Whether sums of numbers of a span have room for all of these.
inline bool holds(const ExponentSpan &span, std::span<const double> numbers) {
    ExponentSpan here;
    for (double number : numbers) here.add(number);
    return here.empty || (!span.empty && here.lowest >= span.lowest && here.highest <= span.highest);
}

/// What is summed of rows besides their number: w; or w y and w y^2 of each target, w first where rows weigh
/// differently. Each sum is a two's complement number, in units of 2^a, 2^(a + e) and 2^(a + 2 e), a the
/// exponent of the weights (0 where all weigh 1) and e that of the targets.
class SumShape {
  public:
    SumShape() = default;
    /// Of so many rows at most. `weights` empty: every row weighs 1.
    SumShape(ExponentSpan weights, ExponentSpan targets, std::size_t n_targets, std::uint64_t rows);

    bool empty() const { return go_on_.empty(); }
    std::size_t words() const { return go_on_.size(); }
    bool weighted() const { return weight_words_ != 0; }
    std::size_t n_targets() const { return n_targets_; }
    std::size_t weight_words() const { return weight_words_; }
    std::size_t y_words() const { return y_words_; }
    std::size_t yy_words() const { return yy_words_; }
    const ExponentSpan &weights() const { return weights_; }
    const ExponentSpan &targets() const { return targets_; }
    std::uint64_t rows() const { return rows_; }

    void add(std::uint64_t *to, const std::uint64_t *from) const {
        unsigned __int128 sum = 0;
        for (std::size_t i = 0; i < go_on_.size(); ++i) {
            sum = (static_cast<std::uint64_t>(sum >> 64) & go_on_[i]) +
                  (static_cast<unsigned __int128>(to[i]) + from[i]);
            to[i] = static_cast<std::uint64_t>(sum);
        }
    }
    void subtract(std::uint64_t *to, const std::uint64_t *from) const {
        std::uint64_t borrow = 0;
        for (std::size_t i = 0; i < go_on_.size(); ++i) {
            borrow &= go_on_[i];
            const unsigned __int128 less = static_cast<unsigned __int128>(from[i]) + borrow;
            borrow = less > to[i];
            to[i] -= static_cast<std::uint64_t>(less);
        }
    }
    void negate(std::uint64_t *sums) const {
        std::uint64_t carry = 1;
        for (std::size_t i = 0; i < go_on_.size(); ++i) {
            carry |= ~go_on_[i] & 1; // a number of its own begins
            sums[i] = ~sums[i] + carry;
            carry &= sums[i] == 0;
        }
    }
    /// What one row adds.
    void write(std::uint64_t *to, double weight, const double *targets) const;

    template <int W> Fixed<W> weight(const std::uint64_t *sums) const { return read<W>(sums, weight_words_); }
    template <int W> Fixed<W> y(const std::uint64_t *sums, std::size_t t) const {
        return read<W>(sums + weight_words_ + t * y_words_, y_words_);
    }
    template <int W> Fixed<W> yy(const std::uint64_t *sums, std::size_t t) const {
        return read<W>(sums + weight_words_ + n_targets_ * y_words_ + t * yy_words_, yy_words_);
    }

  private:
    ExponentSpan weights_, targets_;
    std::size_t n_targets_ = 0;
    std::uint64_t rows_ = 0;
    std::size_t weight_words_ = 0, y_words_ = 0, yy_words_ = 0;
    std::vector<std::uint64_t> go_on_; // by word: all bits where it goes on with the carry of the one before

    template <int W> static Fixed<W> read(const std::uint64_t *from, std::size_t words) {
        Fixed<W> f;
        for (std::size_t i = 0; i < words && i < W; ++i) f.limb[i] = from[i];
        const bool negative = words != 0 && static_cast<std::int64_t>(from[words - 1]) < 0;
        for (std::size_t i = words; negative && i < W; ++i) f.limb[i] = ~std::uint64_t{0};
        return f;
    }
};

} // namespace hornbeam
