// Values as unsigned keys of the same order. By integer operations only, so that no floating-point mode
// (denormals as zero) changes a rank.
#pragma once

#include <bit>
#include <cstdint>

namespace hornbeam {

using Key = std::uint64_t;
inline constexpr Key sign_bit = Key{1} << 63;
inline constexpr Key missing_key = ~Key{0}; // of NaN: no number has it as a float's key

inline Key key_of(double v) {
    const Key bits = std::bit_cast<Key>(v);
    if ((bits << 1) > 0xFFE0000000000000u) return missing_key;
    const Key key = bits ^ (static_cast<Key>(static_cast<std::int64_t>(bits) >> 63) | sign_bit);
    return key + (key == sign_bit - 1); // -0.0 joins 0.0
}
inline Key key_of(std::int64_t v) { return static_cast<Key>(v) ^ sign_bit; }
inline double float_of(Key key) { // without a branch: signs are hard to foresee
    return std::bit_cast<double>(key ^ (~static_cast<Key>(static_cast<std::int64_t>(key) >> 63) | sign_bit));
}
inline std::int64_t integer_of(Key key) { return static_cast<std::int64_t>(key ^ sign_bit); }

} // namespace hornbeam
