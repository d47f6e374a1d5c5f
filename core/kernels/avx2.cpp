// The kernels for AVX2 machines: gathered flags, entries compacted by a permutation table.
#include <utility>

#include "kernels/kernels.hpp"

#if defined(__AVX2__)
#include <immintrin.h>

namespace hornbeam {
namespace avx2 {

#include "kernels/body.hpp"

inline bool any_lane(const LaneInts &lanes) {
    __m256i half[2];
    __builtin_memcpy(half, &lanes, sizeof(lanes));
    return !_mm256_testz_si256(_mm256_or_si256(half[0], half[1]), _mm256_set1_epi32(-1));
}
inline unsigned lane_bits(const LaneInts &lanes) {
    __m256 half[2];
    __builtin_memcpy(half, &lanes, sizeof(lanes));
    return static_cast<unsigned>(_mm256_movemask_ps(half[0]) | _mm256_movemask_ps(half[1]) << 8);
}
/// a / b, off by less than `nearly`.
inline LaneFloats nearly_over(LaneFloats a, LaneFloats b) { return a / b; }
#include "kernels/lane_classes.hpp"

#include "kernels/lane_blocks.hpp"

constexpr std::size_t vector_bytes = 32;
typedef std::int32_t AnyInts __attribute__((vector_size(vector_bytes)));
inline bool any_bit(AnyInts some) { return !_mm256_testz_si256((__m256i)some, (__m256i)some); }
inline unsigned sign_bits(AnyInts all) { return static_cast<unsigned>(_mm256_movemask_ps((__m256)all)); }
/// table[at], where `at` is up to as much as there are numbers in a vector.
inline AnyInts near(const std::int32_t *table, AnyInts at) {
    const __m256i from = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(table + 1));
    const auto found = (AnyInts)_mm256_permutevar8x32_epi32(from, (__m256i)(at - 1));
    return at > 0 ? found : AnyInts{} + table[0];
}
#include "kernels/lane_parts.hpp"

#include "kernels/lane_information.hpp"

#include "kernels/one_lane_information.hpp"

/// For each 8-bit mask, the lanes whose bit is 0 first, in order; the rest follow.
struct Compaction {
    alignas(32) std::uint32_t lanes[256][8];
};
constexpr Compaction make_compaction() {
    Compaction c{};
    for (unsigned mask = 0; mask < 256; ++mask) {
        unsigned at = 0;
        for (unsigned pass = 0; pass < 2; ++pass)
            for (unsigned i = 0; i < 8; ++i)
                if (((mask >> i) & 1) == pass) c.lanes[mask][at++] = i;
    }
    return c;
}
constexpr Compaction compaction = make_compaction();

inline unsigned flags_of(__m256i ids, const std::uint8_t *flag) {
    __m256i f = _mm256_i32gather_epi32(reinterpret_cast<const int *>(flag), ids, 1);
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32(f, 31))));
}

std::uint32_t part_narrow(std::uint32_t *list, std::uint32_t n, const std::uint8_t *flag,
                          std::uint32_t *right) {
    std::uint32_t left = 0, i = 0;
    const __m256i low = _mm256_set1_epi32(0xffff);
    for (; i + 8 <= n; i += 8) {
        __m256i e = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(list + i));
        unsigned mask = flags_of(_mm256_srli_epi32(_mm256_and_si256(e, low), 1), flag);
        const auto *stay = reinterpret_cast<const __m256i *>(compaction.lanes[mask]);
        const auto *go = reinterpret_cast<const __m256i *>(compaction.lanes[mask ^ 0xff]);
        // A whole vector is stored; what it writes past the kept lanes has been read already.
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(list + left),
                            _mm256_permutevar8x32_epi32(e, _mm256_load_si256(stay)));
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(right + (i - left)),
                            _mm256_permutevar8x32_epi32(e, _mm256_load_si256(go)));
        left += 8 - static_cast<unsigned>(__builtin_popcount(mask));
    }
    return scalar_part(list, i, n, flag, right, left);
}

/// A 64-bit lane is two 32-bit lanes: bit i of a 4-bit mask becomes bits 2i and 2i + 1.
constexpr unsigned doubled(unsigned mask) {
    unsigned out = 0;
    for (unsigned i = 0; i < 4; ++i)
        if ((mask >> i) & 1) out |= 3u << (2 * i);
    return out;
}
struct Doubled {
    unsigned of[16];
};
constexpr Doubled make_doubled() {
    Doubled d{};
    for (unsigned m = 0; m < 16; ++m) d.of[m] = doubled(m);
    return d;
}
constexpr Doubled doubled_mask = make_doubled();

std::uint32_t part_wide(std::uint64_t *list, std::uint32_t n, const std::uint8_t *flag,
                        std::uint64_t *right) {
    std::uint32_t left = 0, i = 0;
    for (; i + 4 <= n; i += 4) {
        __m256i e = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(list + i));
        unsigned mask = 0;
        for (unsigned j = 0; j < 4; ++j)
            mask |= static_cast<unsigned>(
                        flag[static_cast<std::uint32_t>((list[i + j] & Packed<std::uint64_t>::low) >> 1)])
                    << j;
        unsigned wide = doubled_mask.of[mask];
        const auto *stay = reinterpret_cast<const __m256i *>(compaction.lanes[wide]);
        const auto *go = reinterpret_cast<const __m256i *>(compaction.lanes[wide ^ 0xff]);
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(list + left),
                            _mm256_permutevar8x32_epi32(e, _mm256_load_si256(stay)));
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(right + (i - left)),
                            _mm256_permutevar8x32_epi32(e, _mm256_load_si256(go)));
        left += 4 - static_cast<unsigned>(__builtin_popcount(mask));
    }
    return scalar_part(list, i, n, flag, right, left);
}

#include "kernels/keep_plain.hpp"

void peaks_narrow(const std::uint32_t *list, std::uint32_t n, const TwoClass &counts, BlockPeak *out) {
    each_block(list, n, counts, out, block_peak<std::uint32_t, std::int32_t>);
}
void peaks_wide(const std::uint64_t *list, std::uint32_t n, const TwoClass &counts, BlockPeak *out) {
    each_block(list, n, counts, out, block_peak<std::uint64_t, double>);
}

bool hits_narrow(const std::uint32_t *list, std::uint32_t end, const TwoClass &counts, const ScoreBar &bar,
                 Stretch &stretch) {
    return next_hits<std::uint32_t, std::int32_t>(list, end, counts, bar, stretch);
}
bool hits_wide(const std::uint64_t *list, std::uint32_t end, const TwoClass &counts, const ScoreBar &bar,
               Stretch &stretch) {
    return next_hits<std::uint64_t, double>(list, end, counts, bar, stretch);
}

} // namespace avx2

extern const Kernels avx2_kernels;
const Kernels avx2_kernels{"avx2",
                           avx2::part_narrow,
                           avx2::part_wide,
                           avx2::keep_narrow,
                           avx2::keep_wide,
                           avx2::deal_narrow,
                           avx2::deal_wide,
                           avx2::peaks_narrow,
                           avx2::peaks_wide,
                           avx2::hits_narrow,
                           avx2::hits_wide,
                           avx2::class_hits,
                           avx2::value_sums,
                           avx2::lane_blocks_narrow,
                           avx2::lane_blocks_wide,
                           avx2::lane_hits_narrow,
                           avx2::lane_hits_wide,
                           avx2::lane_classes,
                           avx2::lane_values,
                           avx2::lane_contents,
                           avx2::take_off,
                           avx2::contents,
                           avx2::information_kernels};

} // namespace hornbeam
#endif
