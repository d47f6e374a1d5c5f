// The kernels for AVX-512 machines: gathered flags, entries compacted by the compress instruction.
#include "hornbeam/kernels.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>

namespace hornbeam {
namespace avx512 {

#include "kernels_body.hpp"

std::uint32_t part_narrow(std::uint32_t *list, std::uint32_t n, const std::uint8_t *flag, std::uint32_t *right) {
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
    return scalar_part(list, i, n, flag, right, left);
}

std::uint32_t part_wide(std::uint64_t *list, std::uint32_t n, const std::uint8_t *flag, std::uint64_t *right) {
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

} // namespace avx512

extern const Kernels avx512_kernels;
const Kernels avx512_kernels{"avx512", avx512::part_narrow, avx512::part_wide, avx512::peaks_narrow,
                             avx512::peaks_wide};

} // namespace hornbeam
#endif
