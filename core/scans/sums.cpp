// How many words sums take, and what a row adds to them.
#include "scans/sums.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace hornbeam {
namespace {

using Magnitude = std::array<std::uint64_t, 3>; // of a product of three numbers of 53 bits

Magnitude times(const Magnitude &a, std::uint64_t m) {
    Magnitude r{};
    unsigned __int128 carry = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        carry += static_cast<unsigned __int128>(a[i]) * m;
        r[i] = static_cast<std::uint64_t>(carry);
        carry >>= 64;
    }
    return r;
}

/// Writes value << shift, or its negative, to so many words.
void put(std::uint64_t *to, std::size_t words, const Magnitude &value, unsigned shift, bool negative) {
    std::fill_n(to, words, 0);
    const std::size_t at = shift / 64;
    const unsigned bits = shift % 64;
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i <= value.size() && at + i < words; ++i) {
        const std::uint64_t here = i < value.size() ? value[i] : 0;
        to[at + i] = (here << bits) | carry;
        carry = bits == 0 ? 0 : here >> (64 - bits);
    }
    if (!negative) return;
    std::uint64_t more = 1;
    for (std::size_t i = 0; i < words; ++i) {
        to[i] = ~to[i] + more;
        more = more != 0 && to[i] == 0 ? 1 : 0;
    }
}

/// Words for a number of so many bits and a sign.
std::size_t words_for(int bits) { return static_cast<std::size_t>(bits) / 64 + 1; }

} // namespace

SumShape::SumShape(ExponentSpan weights, ExponentSpan targets, std::size_t n_targets, std::uint64_t rows)
    : weights_(weights), targets_(targets), n_targets_(n_targets), rows_(rows) {
    const bool weighted = !weights.empty;
    const int w = weights.bits(), t = targets.bits(), n = static_cast<int>(std::bit_width(rows));
    auto field = [&](std::size_t words) {
        for (std::size_t i = 0; i < words; ++i) go_on_.push_back(i == 0 ? 0 : ~std::uint64_t{0});
        return words;
    };
    if (weighted) weight_words_ = field(words_for(w + n));
    for (std::size_t i = 0; i < n_targets; ++i) y_words_ = field(words_for(w + t + n));
    for (std::size_t i = 0; i < n_targets; ++i) yy_words_ = field(words_for(w + 2 * t + n));
}

void SumShape::write(std::uint64_t *to, double weight, const double *targets) const {
    Magnitude w{1, 0, 0};
    unsigned shift = 0;
    if (weighted()) {
        const Decomposed d = decompose(weight);
        w[0] = static_cast<std::uint64_t>(d.mantissa);
        shift = static_cast<unsigned>(d.exponent - weights_.lowest);
        put(to, weight_words_, w, shift, false);
    }
    std::uint64_t *y = to + weight_words_, *yy = y + n_targets_ * y_words_;
    for (std::size_t i = 0; i < n_targets_; ++i, y += y_words_, yy += yy_words_) {
        const Decomposed d = decompose(targets[i]);
        const auto size = static_cast<std::uint64_t>(d.mantissa < 0 ? -d.mantissa : d.mantissa);
        const unsigned by = d.mantissa == 0 ? 0 : static_cast<unsigned>(d.exponent - targets_.lowest);
        const Magnitude once = times(w, size);
        put(y, y_words_, once, shift + by, d.mantissa < 0);
        put(yy, yy_words_, times(once, size), shift + 2 * by, false);
    }
}

} // namespace hornbeam
