// The kernels for AVX-512 machines: gathered flags, entries compacted by the compress instruction.
#include <utility>

#include "kernels/kernels.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>

namespace hornbeam {
namespace avx512 {

#include "kernels/body.hpp"

inline bool any_lane(const LaneInts &lanes) {
    __m512i bits;
    __builtin_memcpy(&bits, &lanes, sizeof(lanes));
    return _mm512_test_epi32_mask(bits, bits) != 0;
}
inline unsigned lane_bits(const LaneInts &lanes) {
    __m512i bits;
    __builtin_memcpy(&bits, &lanes, sizeof(lanes));
    return _mm512_test_epi32_mask(bits, bits);
}
/// a / b, off by less than `nearly`.
inline LaneFloats nearly_over(LaneFloats a, LaneFloats b) {
    __m512 divisor;
    __builtin_memcpy(&divisor, &b, sizeof(b));
    divisor = _mm512_rcp14_ps(divisor);
    __builtin_memcpy(&b, &divisor, sizeof(b));
    return a * b;
}
#include "kernels/lane_classes.hpp"

#include "kernels/lane_blocks.hpp"

constexpr std::size_t vector_bytes = 64;
typedef std::int32_t AnyInts __attribute__((vector_size(vector_bytes)));
inline bool any_bit(AnyInts some) { return _mm512_test_epi32_mask((__m512i)some, (__m512i)some) != 0; }
inline unsigned sign_bits(AnyInts all) { return _mm512_movepi32_mask((__m512i)all); }
/// table[at], where `at` is up to as much as there are numbers in a vector.
inline AnyInts near(const std::int32_t *table, AnyInts at) {
    const __m512i from = _mm512_loadu_si512(table + 1);
    const auto found = (AnyInts)_mm512_permutexvar_epi32((__m512i)(at - 1), from);
    return at > 0 ? found : AnyInts{} + table[0];
}
#include "kernels/lane_parts.hpp"

#include "kernels/lane_information.hpp"

#include "kernels/one_lane_information.hpp"

std::uint32_t part_narrow(std::uint32_t *list, std::uint32_t n, const std::uint8_t *flag,
                          std::uint32_t *right) {
    std::uint32_t left = 0, i = 0;
    const __m512i low = _mm512_set1_epi32(0xffff), one = _mm512_set1_epi32(1);
    for (; i + 16 <= n; i += 16) {
        __m512i e = _mm512_loadu_si512(list + i);
        __m512i ids = _mm512_srli_epi32(_mm512_and_si512(e, low), 1);
        __mmask16 go = _mm512_test_epi32_mask(_mm512_i32gather_epi32(ids, flag, 1), one);
        // Whole vectors are stored; what they write past the kept lanes has been read already.
        _mm512_storeu_si512(list + left, _mm512_maskz_compress_epi32(static_cast<__mmask16>(~go), e));
        _mm512_storeu_si512(right + (i - left), _mm512_maskz_compress_epi32(go, e));
        left += 16 - static_cast<unsigned>(__builtin_popcount(go));
    }
    if (i == n) return left;
    // The rest of a list is half of a small one. Behind it another may begin: no more is stored than is kept.
    const auto rest = static_cast<__mmask16>((1u << (n - i)) - 1);
    const __m512i e = _mm512_maskz_loadu_epi32(rest, list + i);
    const __m512i ids = _mm512_srli_epi32(_mm512_and_si512(e, low), 1);
    const __m512i flags = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), rest, ids, flag, 1);
    const __mmask16 go = _mm512_test_epi32_mask(flags, one);
    const __mmask16 stay = static_cast<__mmask16>(rest & ~go);
    const auto stays = static_cast<unsigned>(__builtin_popcount(stay));
    _mm512_mask_storeu_epi32(list + left, static_cast<__mmask16>((1u << stays) - 1),
                             _mm512_maskz_compress_epi32(stay, e));
    _mm512_storeu_si512(right + (i - left), _mm512_maskz_compress_epi32(go, e));
    return left + stays;
}

std::uint32_t part_wide(std::uint64_t *list, std::uint32_t n, const std::uint8_t *flag,
                        std::uint64_t *right) {
    std::uint32_t left = 0, i = 0;
    const __m256i one = _mm256_set1_epi32(1);
    for (; i + 8 <= n; i += 8) {
        __m512i e = _mm512_loadu_si512(list + i);
        __m256i ids = _mm256_srli_epi32(_mm512_cvtepi64_epi32(e), 1);
        __m256i f = _mm256_i32gather_epi32(reinterpret_cast<const int *>(flag), ids, 1);
        __mmask8 go = _mm256_test_epi32_mask(f, one);
        _mm512_storeu_si512(list + left, _mm512_maskz_compress_epi64(static_cast<__mmask8>(~go), e));
        _mm512_storeu_si512(right + (i - left), _mm512_maskz_compress_epi64(go, e));
        left += 8 - static_cast<unsigned>(__builtin_popcount(go));
    }
    return scalar_part(list, i, n, flag, right, left);
}

std::uint32_t keep_narrow(const std::uint32_t *list, std::uint32_t n, const std::uint8_t *flag,
                          std::uint32_t *to) {
    std::uint32_t kept = 0, i = 0;
    const __m512i low = _mm512_set1_epi32(0xffff), one = _mm512_set1_epi32(1);
    for (; i + 16 <= n; i += 16) {
        __m512i e = _mm512_loadu_si512(list + i);
        __m512i ids = _mm512_srli_epi32(_mm512_and_si512(e, low), 1);
        __mmask16 stay = _mm512_testn_epi32_mask(_mm512_i32gather_epi32(ids, flag, 1), one);
        _mm512_storeu_si512(to + kept, _mm512_maskz_compress_epi32(stay, e));
        kept += static_cast<unsigned>(__builtin_popcount(stay));
    }
    return scalar_keep(list, i, n, flag, to, kept);
}
std::uint32_t keep_wide(const std::uint64_t *list, std::uint32_t n, const std::uint8_t *flag,
                        std::uint64_t *to) {
    std::uint32_t kept = 0, i = 0;
    const __m256i one = _mm256_set1_epi32(1);
    for (; i + 8 <= n; i += 8) {
        __m512i e = _mm512_loadu_si512(list + i);
        __m256i ids = _mm256_srli_epi32(_mm512_cvtepi64_epi32(e), 1);
        __m256i f = _mm256_i32gather_epi32(reinterpret_cast<const int *>(flag), ids, 1);
        __mmask8 stay = _mm256_testn_epi32_mask(f, one);
        _mm512_storeu_si512(to + kept, _mm512_maskz_compress_epi64(stay, e));
        kept += static_cast<unsigned>(__builtin_popcount(stay));
    }
    return scalar_keep(list, i, n, flag, to, kept);
}

/// Gives the guests among the entries just written to the right child their ids.
template <class E>
inline void name_guests(E *right, unsigned goes, unsigned guests, const std::uint32_t *guest) {
    for (; guests != 0; guests &= guests - 1) {
        const unsigned before = (guests & (0u - guests)) - 1;
        E &e = right[__builtin_popcount(goes & before)];
        e = as_guest(e, guest);
    }
}
Dealt deal_narrow(std::uint32_t *list, std::uint32_t n, const std::uint8_t *flag, const std::uint32_t *guest,
                  std::uint32_t *right) {
    Dealt dealt;
    std::uint32_t i = 0;
    const __m512i low = _mm512_set1_epi32(0xffff), byte = _mm512_set1_epi32(3), one = _mm512_set1_epi32(1);
    for (; i + 16 <= n; i += 16) {
        __m512i e = _mm512_loadu_si512(list + i);
        __m512i ids = _mm512_srli_epi32(_mm512_and_si512(e, low), 1);
        __m512i f = _mm512_i32gather_epi32(ids, flag, 1);
        __mmask16 goes = _mm512_test_epi32_mask(f, byte), only = _mm512_test_epi32_mask(f, one);
        _mm512_storeu_si512(list + dealt.left, _mm512_maskz_compress_epi32(static_cast<__mmask16>(~only), e));
        _mm512_storeu_si512(right + dealt.right, _mm512_maskz_compress_epi32(goes, e));
        if (goes != only) name_guests(right + dealt.right, goes, goes & ~unsigned{only}, guest);
        dealt.left += 16 - static_cast<unsigned>(__builtin_popcount(only));
        dealt.right += static_cast<unsigned>(__builtin_popcount(goes));
    }
    return scalar_deal(list, i, n, flag, guest, right, dealt);
}
Dealt deal_wide(std::uint64_t *list, std::uint32_t n, const std::uint8_t *flag, const std::uint32_t *guest,
                std::uint64_t *right) {
    Dealt dealt;
    std::uint32_t i = 0;
    const __m256i byte = _mm256_set1_epi32(3), one = _mm256_set1_epi32(1);
    for (; i + 8 <= n; i += 8) {
        __m512i e = _mm512_loadu_si512(list + i);
        __m256i ids = _mm256_srli_epi32(_mm512_cvtepi64_epi32(e), 1);
        __m256i f = _mm256_i32gather_epi32(reinterpret_cast<const int *>(flag), ids, 1);
        __mmask8 goes = _mm256_test_epi32_mask(f, byte), only = _mm256_test_epi32_mask(f, one);
        _mm512_storeu_si512(list + dealt.left, _mm512_maskz_compress_epi64(static_cast<__mmask8>(~only), e));
        _mm512_storeu_si512(right + dealt.right, _mm512_maskz_compress_epi64(goes, e));
        if (goes != only) name_guests(right + dealt.right, goes, goes & ~unsigned{only}, guest);
        dealt.left += 8 - static_cast<unsigned>(__builtin_popcount(only));
        dealt.right += static_cast<unsigned>(__builtin_popcount(goes));
    }
    return scalar_deal(list, i, n, flag, guest, right, dealt);
}

/// The bits of a byte as running counts: byte i holds how many of the bits 0..i are set.
inline std::uint64_t running_counts(unsigned bits) {
    return _pdep_u64(bits, 0x0101010101010101u) * 0x0101010101010101u;
}

BlockPeak peak_narrow(const std::uint32_t *list, std::uint32_t begin, std::uint32_t end, std::uint32_t ones,
                      const TwoClass &counts, std::uint32_t &ones_after) {
    const auto n = static_cast<std::int32_t>(counts.n), all = static_cast<std::int32_t>(counts.ones);
    const __m512i lanes = _mm512_setr_epi32(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
    const __m512i whole = _mm512_set1_epi32(n),
                  least_left = _mm512_set1_epi32(static_cast<std::int32_t>(counts.min_left)),
                  least_right = _mm512_set1_epi32(static_cast<std::int32_t>(counts.min_right));
    const __m512i rank_bits = _mm512_set1_epi32(static_cast<int>(0xffff0000u)),
                  class_bit = _mm512_set1_epi32(1);
    __m512i left =
        _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<std::int32_t>(counts.start_n + begin)));
    __m512i expected = _mm512_mullo_epi32(left, _mm512_set1_epi32(all)); // n_L * ones
    const __m512i step = _mm512_set1_epi32(16), expected_step = _mm512_set1_epi32(16 * all);
    auto seen = static_cast<std::int32_t>(ones + counts.start_ones);
    __m512 best = _mm512_setzero_ps();
    std::uint32_t i = begin;
    for (; i < end; i += 16) {
        __mmask16 inside =
            end - i >= 16 ? static_cast<__mmask16>(0xffff) : static_cast<__mmask16>((1u << (end - i)) - 1);
        __m512i e = _mm512_maskz_loadu_epi32(inside, list + i),
                next = _mm512_maskz_loadu_epi32(inside, list + i + 1);
        unsigned bits = _mm512_test_epi32_mask(e, class_bit);
        std::uint64_t low = running_counts(bits & 0xff), high = running_counts(bits >> 8);
        high += (low >> 56) * 0x0101010101010101u;
        __m128i packed = _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
        __m512i here = _mm512_add_epi32(_mm512_cvtepu8_epi32(packed), _mm512_set1_epi32(seen));
        __m512i right = _mm512_sub_epi32(whole, left);
        __mmask16 admissible = _mm512_mask_test_epi32_mask(inside, _mm512_xor_si512(e, next), rank_bits);
        admissible = _mm512_mask_cmpge_epi32_mask(admissible, left, least_left);
        admissible = _mm512_mask_cmpge_epi32_mask(admissible, right, least_right);
        __m512 d = _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_mullo_epi32(here, whole), expected));
        __m512 sides = _mm512_mul_ps(_mm512_cvtepi32_ps(left), _mm512_cvtepi32_ps(right));
        best = _mm512_mask_max_ps(best, admissible, best, _mm512_div_ps(_mm512_mul_ps(d, d), sides));
        seen += __builtin_popcount(bits);
        left = _mm512_add_epi32(left, step);
        expected = _mm512_add_epi32(expected, expected_step);
    }
    ones_after = static_cast<std::uint32_t>(seen - static_cast<std::int32_t>(counts.start_ones));
    return {_mm512_reduce_max_ps(best), ones};
}

BlockPeak peak_wide(const std::uint64_t *list, std::uint32_t begin, std::uint32_t end, std::uint32_t ones,
                    const TwoClass &counts, std::uint32_t &ones_after) {
    const auto n = static_cast<double>(counts.n), all = static_cast<double>(counts.ones);
    const __m512d whole = _mm512_set1_pd(n),
                  least_left = _mm512_set1_pd(static_cast<double>(counts.min_left)),
                  least_right = _mm512_set1_pd(static_cast<double>(counts.min_right));
    const __m512i rank_bits = _mm512_set1_epi64(static_cast<long long>(0xffffffff00000000u)),
                  class_bit = _mm512_set1_epi64(1);
    __m512d left = _mm512_add_pd(_mm512_setr_pd(1, 2, 3, 4, 5, 6, 7, 8),
                                 _mm512_set1_pd(static_cast<double>(counts.start_n + begin)));
    const __m512d step = _mm512_set1_pd(8.0), expected = _mm512_set1_pd(all);
    std::int64_t seen = ones + counts.start_ones;
    __m256 best = _mm256_setzero_ps();
    for (std::uint32_t i = begin; i < end; i += 8) {
        __mmask8 inside =
            end - i >= 8 ? static_cast<__mmask8>(0xff) : static_cast<__mmask8>((1u << (end - i)) - 1);
        __m512i e = _mm512_maskz_loadu_epi64(inside, list + i),
                next = _mm512_maskz_loadu_epi64(inside, list + i + 1);
        unsigned bits = _mm512_test_epi64_mask(e, class_bit);
        __m128i packed = _mm_cvtsi64_si128(static_cast<long long>(running_counts(bits)));
        __m512i here = _mm512_add_epi64(_mm512_cvtepu8_epi64(packed), _mm512_set1_epi64(seen));
        __m512d right = _mm512_sub_pd(whole, left);
        __mmask8 admissible = _mm512_mask_test_epi64_mask(inside, _mm512_xor_si512(e, next), rank_bits);
        admissible = _mm512_mask_cmp_pd_mask(admissible, left, least_left, _CMP_GE_OQ);
        admissible = _mm512_mask_cmp_pd_mask(admissible, right, least_right, _CMP_GE_OQ);
        // Products of counts are whole doubles here: the difference is exact.
        __m256 d = _mm512_cvtpd_ps(
            _mm512_sub_pd(_mm512_mul_pd(_mm512_cvtepi64_pd(here), whole), _mm512_mul_pd(left, expected)));
        __m256 sides = _mm512_cvtpd_ps(_mm512_mul_pd(left, right));
        best = _mm256_mask_max_ps(best, admissible, best, _mm256_div_ps(_mm256_mul_ps(d, d), sides));
        seen += __builtin_popcount(bits);
        left = _mm512_add_pd(left, step);
    }
    ones_after = static_cast<std::uint32_t>(seen - counts.start_ones);
    return {_mm512_reduce_max_ps(_mm512_zextps256_ps512(best)), ones};
}

void peaks_narrow(const std::uint32_t *list, std::uint32_t n, const TwoClass &counts, BlockPeak *out) {
    each_block(list, n, counts, out, peak_narrow);
}
void peaks_wide(const std::uint64_t *list, std::uint32_t n, const TwoClass &counts, BlockPeak *out) {
    each_block(list, n, counts, out, peak_wide);
}

/// near_best of cuts of which many may reach: the first of a list.
inline std::uint64_t near_best_of(std::uint64_t cuts, const float *square, const float *sides, float margin) {
    __m512 score[4], top = _mm512_setzero_ps();
    for (int v = 0; v < 4; ++v) {
        const auto own = static_cast<__mmask16>(cuts >> (16 * v));
        score[v] = _mm512_maskz_div_ps(own, _mm512_load_ps(square + 16 * v), _mm512_load_ps(sides + 16 * v));
        top = _mm512_max_ps(top, score[v]);
    }
    const __m512 least = _mm512_set1_ps(_mm512_reduce_max_ps(top) * (1.0f - single_doubt) - margin);
    std::uint64_t near = 0;
    for (int v = 0; v < 4; ++v)
        near |= std::uint64_t{_mm512_cmp_ps_mask(score[v], least, _CMP_GE_OQ)} << (16 * v);
    return near & cuts;
}

bool hits_narrow(const std::uint32_t *list, std::uint32_t end, const TwoClass &counts, const ScoreBar &bar,
                 Stretch &stretch) {
    const auto all = static_cast<std::int32_t>(counts.ones);
    const __m512i whole = _mm512_set1_epi32(static_cast<std::int32_t>(counts.n));
    const __m512i rank_bits = _mm512_set1_epi32(static_cast<int>(0xffff0000u)),
                  class_bit = _mm512_set1_epi32(1);
    const __m512i step = _mm512_set1_epi32(16), expected_step = _mm512_set1_epi32(16 * all);
    const __m512 reach = _mm512_set1_ps(bar.reach);
    __m512i left =
        _mm512_add_epi32(_mm512_setr_epi32(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16),
                         _mm512_set1_epi32(static_cast<std::int32_t>(counts.start_n + stretch.next)));
    __m512i expected = _mm512_mullo_epi32(left, _mm512_set1_epi32(all)); // n_L * ones
    auto seen = static_cast<std::int32_t>(counts.start_ones + stretch.next_ones);
    alignas(64) float square[stretch_cuts], sides[stretch_cuts];
    while (stretch.next < end) {
        const std::uint32_t begin = stretch.next;
        const std::uint32_t size = end - begin < stretch_cuts ? end - begin : stretch_cuts;
        std::uint64_t is_one = 0, reaches = 0;
        for (std::uint32_t i = 0; i < size; i += 16) {
            const auto inside = static_cast<__mmask16>(_bzhi_u32(0xffff, size - i));
            const __m512i e = _mm512_maskz_loadu_epi32(inside, list + begin + i),
                          next = _mm512_maskz_loadu_epi32(inside, list + begin + i + 1);
            const unsigned bits = _mm512_test_epi32_mask(e, class_bit);
            std::uint64_t low = running_counts(bits & 0xff), high = running_counts(bits >> 8);
            high += (low >> 56) * 0x0101010101010101u;
            const __m128i packed = _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
            const __m512i here = _mm512_add_epi32(_mm512_cvtepu8_epi32(packed), _mm512_set1_epi32(seen));
            const __mmask16 cut = _mm512_mask_test_epi32_mask(inside, _mm512_xor_si512(e, next), rank_bits);
            const __m512 d = _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_mullo_epi32(here, whole), expected));
            const __m512 squared = _mm512_mul_ps(d, d),
                         product = _mm512_mul_ps(_mm512_cvtepi32_ps(left),
                                                 _mm512_cvtepi32_ps(_mm512_sub_epi32(whole, left)));
            _mm512_store_ps(square + i, squared);
            _mm512_store_ps(sides + i, product);
            const unsigned hits =
                _mm512_mask_cmp_ps_mask(cut, squared, _mm512_mul_ps(reach, product), _CMP_GE_OQ);
            is_one |= std::uint64_t{bits} << i;
            reaches |= std::uint64_t{hits} << i;
            seen += __builtin_popcount(bits);
            left = _mm512_add_epi32(left, step);
            expected = _mm512_add_epi32(expected, expected_step);
        }
        pass_on(stretch, is_one, reaches == 0 ? 0 : near_best_of(reaches, square, sides, bar.margin));
        if (reaches != 0) return true;
    }
    return false;
}

bool hits_wide(const std::uint64_t *list, std::uint32_t end, const TwoClass &counts, const ScoreBar &bar,
               Stretch &stretch) {
    const __m512d whole = _mm512_set1_pd(static_cast<double>(counts.n)),
                  expected = _mm512_set1_pd(static_cast<double>(counts.ones));
    const __m512i rank_bits = _mm512_set1_epi64(static_cast<long long>(0xffffffff00000000u)),
                  class_bit = _mm512_set1_epi64(1);
    const __m512d step = _mm512_set1_pd(8.0);
    const __m256 reach = _mm256_set1_ps(bar.reach);
    __m512d left = _mm512_add_pd(_mm512_setr_pd(1, 2, 3, 4, 5, 6, 7, 8),
                                 _mm512_set1_pd(static_cast<double>(counts.start_n + stretch.next)));
    std::int64_t seen = counts.start_ones + stretch.next_ones;
    alignas(64) float square[stretch_cuts], sides[stretch_cuts];
    while (stretch.next < end) {
        const std::uint32_t begin = stretch.next;
        const std::uint32_t size = end - begin < stretch_cuts ? end - begin : stretch_cuts;
        std::uint64_t is_one = 0, reaches = 0;
        for (std::uint32_t i = 0; i < size; i += 8) {
            const auto inside = static_cast<__mmask8>(_bzhi_u32(0xff, size - i));
            const __m512i e = _mm512_maskz_loadu_epi64(inside, list + begin + i),
                          next = _mm512_maskz_loadu_epi64(inside, list + begin + i + 1);
            const unsigned bits = _mm512_test_epi64_mask(e, class_bit);
            const __m128i packed = _mm_cvtsi64_si128(static_cast<long long>(running_counts(bits)));
            const __m512i here = _mm512_add_epi64(_mm512_cvtepu8_epi64(packed), _mm512_set1_epi64(seen));
            const __mmask8 cut = _mm512_mask_test_epi64_mask(inside, _mm512_xor_si512(e, next), rank_bits);
            // Products of counts are whole doubles here: the difference is exact.
            const __m256 d = _mm512_cvtpd_ps(
                _mm512_sub_pd(_mm512_mul_pd(_mm512_cvtepi64_pd(here), whole), _mm512_mul_pd(left, expected)));
            const __m256 squared = _mm256_mul_ps(d, d),
                         product = _mm512_cvtpd_ps(_mm512_mul_pd(left, _mm512_sub_pd(whole, left)));
            _mm256_store_ps(square + i, squared);
            _mm256_store_ps(sides + i, product);
            const unsigned hits =
                _mm256_mask_cmp_ps_mask(cut, squared, _mm256_mul_ps(reach, product), _CMP_GE_OQ);
            is_one |= std::uint64_t{bits} << i;
            reaches |= std::uint64_t{hits} << i;
            seen += __builtin_popcount(bits);
            left = _mm512_add_pd(left, step);
        }
        pass_on(stretch, is_one, reaches == 0 ? 0 : near_best_of(reaches, square, sides, bar.margin));
        if (reaches != 0) return true;
    }
    return false;
}

} // namespace avx512

extern const Kernels avx512_kernels;
const Kernels avx512_kernels{"avx512",
                             avx512::part_narrow,
                             avx512::part_wide,
                             avx512::keep_narrow,
                             avx512::keep_wide,
                             avx512::deal_narrow,
                             avx512::deal_wide,
                             avx512::peaks_narrow,
                             avx512::peaks_wide,
                             avx512::hits_narrow,
                             avx512::hits_wide,
                             avx512::class_hits,
                             avx512::value_sums,
                             avx512::lane_blocks_narrow,
                             avx512::lane_blocks_wide,
                             avx512::lane_hits_narrow,
                             avx512::lane_hits_wide,
                             avx512::lane_classes,
                             avx512::lane_values,
                             avx512::lane_contents,
                             avx512::take_off,
                             avx512::contents,
                             avx512::information_kernels};

} // namespace hornbeam
#endif
