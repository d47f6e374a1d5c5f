// The exact sum of products of doubles: what scores are made of, in whatever order rows come.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace hornbeam {

/// A sum of products of `Factors` finite doubles each, as a whole number of 2^(-1074 * Factors). Digits of 32
/// bits lie in words of 64, so that carries can wait until 2^28 products were added.
template <int Factors> class ExactSum {
  public:
    /// Adds a product; a factor that is not finite is refused, and nothing is added.
    bool add(const std::array<double, Factors> &factors) {
        constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52) - 1;
        std::array<std::uint64_t, Factors> product{1};
        std::uint64_t sign = 0;
        unsigned shift = 0;
        for (int f = 0; f < Factors; ++f) {
            const auto bits = std::bit_cast<std::uint64_t>(factors[f]);
            const unsigned exponent = static_cast<unsigned>(bits >> 52) & 2047;
            if (exponent == 2047) return false;
            sign ^= bits >> 63;
            shift += exponent == 0 ? 0 : exponent - 1;
            multiply(product, (bits & kFraction) | (exponent == 0 ? 0 : kFraction + 1), f);
        }
        if (++waiting_ == kMostWaiting) carry();
        // Minus one turns a digit into its negative, 0 leaves it as it is.
        const auto flip = -static_cast<std::int64_t>(sign);
        std::int64_t *digit = digits_.data() + shift / 32;
        for (int f = 0; f < Factors; ++f, digit += 2) {
            const unsigned __int128 piece = static_cast<unsigned __int128>(product[f]) << (shift % 32);
            for (int i = 0; i < 3; ++i)
                digit[i] +=
                    (static_cast<std::int64_t>(static_cast<std::uint32_t>(piece >> (32 * i))) ^ flip) - flip;
        }
        return true;
    }

    /// The sum in two's complement, the lowest byte first.
    std::vector<std::uint8_t> bytes() {
        carry();
        std::vector<std::uint8_t> out;
        out.reserve(4 * digits_.size());
        for (std::int64_t digit : digits_)
            for (int i = 0; i < 4; ++i) out.push_back(static_cast<std::uint8_t>(digit >> (8 * i)));
        return out;
    }

  private:
    static constexpr int kDigits = (Factors * (2045 + 53) + 64) / 32 + 3;
    static constexpr std::uint32_t kMostWaiting = std::uint32_t{1} << 28;

    /// Times a mantissa; the product of `done` of them is there already.
    static void multiply(std::array<std::uint64_t, Factors> &product, std::uint64_t mantissa, int done) {
        unsigned __int128 carried = 0;
        for (int i = 0; i <= done; ++i) {
            carried += static_cast<unsigned __int128>(product[i]) * mantissa;
            product[i] = static_cast<std::uint64_t>(carried);
            carried >>= 64;
        }
    }

    /// Leaves every digit but the last between 0 and 2^32.
    void carry() {
        for (int i = 0; i + 1 < kDigits; ++i) {
            digits_[i + 1] += digits_[i] >> 32;
            digits_[i] &= std::numeric_limits<std::uint32_t>::max();
        }
        waiting_ = 0;
    }

    std::array<std::int64_t, kDigits> digits_{};
    std::uint32_t waiting_ = 0;
};

} // namespace hornbeam
