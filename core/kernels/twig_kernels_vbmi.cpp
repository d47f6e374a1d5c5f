// The loops over the lists of a twig for machines that permute, compact and count bytes of a vector
// (AVX-512 VBMI, VBMI2, BITALG): a table by id is looked up for 64 rows at once.
#include "kernels/twig_kernels.hpp"

#if defined(__AVX512VBMI2__) && defined(__AVX512BITALG__) && defined(__AVX512VPOPCNTDQ__)
#include <immintrin.h>

#include <cstring>

namespace hornbeam {
namespace {

inline __mmask64 lowest(std::uint32_t n) { return n >= 64 ? ~0ull : _bzhi_u64(~0ull, n); }
inline std::uint32_t count(std::uint64_t bits) { return static_cast<std::uint32_t>(_mm_popcnt_u64(bits)); }

/// A table by id, in so many vectors.
template <std::uint32_t Tables> struct Table {
    __m512i part[Tables];
    explicit Table(const std::uint8_t *of) {
        for (std::uint32_t t = 0; t < Tables; ++t) part[t] = _mm512_loadu_si512(of + 64 * t);
    }
    __m512i operator()(__m512i ids) const {
        if constexpr (Tables == 1) {
            return _mm512_permutexvar_epi8(ids, part[0]);
        } else if constexpr (Tables == 2) {
            return _mm512_permutex2var_epi8(part[0], ids, part[1]);
        } else {
            return _mm512_mask_blend_epi8(_mm512_movepi8_mask(ids),
                                          _mm512_permutex2var_epi8(part[0], ids, part[1]),
                                          _mm512_permutex2var_epi8(part[2], ids, part[3]));
        }
    }
};

/// Calls `body` with the number of tables as a constant.
template <class Body> auto with_tables(std::uint32_t tables, Body body) {
    if (tables == 1) return body(std::integral_constant<std::uint32_t, 1>{});
    if (tables == 2) return body(std::integral_constant<std::uint32_t, 2>{});
    return body(std::integral_constant<std::uint32_t, 4>{});
}

template <std::uint32_t Tables>
std::uint32_t part_by(std::uint8_t *list, std::uint32_t n, const std::uint8_t *flag) {
    const Table<Tables> flags(flag);
    if (n <= 64) {
        const __m512i ids = _mm512_loadu_si512(list);
        const __mmask64 all = lowest(n),
                        go = _mm512_mask_test_epi8_mask(all, flags(ids), _mm512_set1_epi8(1));
        const __mmask64 stay = all & ~go;
        const std::uint32_t left = count(stay);
        const __m512i parted = _mm512_mask_expand_epi8(
            _mm512_maskz_compress_epi8(stay, ids), all ^ lowest(left), _mm512_maskz_compress_epi8(go, ids));
        // Behind it another list may begin, which is written as it was.
        _mm512_storeu_si512(list, _mm512_mask_blend_epi8(all, ids, parted));
        return left;
    }
    std::uint8_t stays[twig_rows + twig_room], goes[twig_rows + twig_room];
    std::uint32_t left = 0;
    for (std::uint32_t i = 0; i < n; i += 64) {
        const __m512i ids = _mm512_loadu_si512(list + i);
        const __mmask64 all = lowest(n - i),
                        go = _mm512_mask_test_epi8_mask(all, flags(ids), _mm512_set1_epi8(1));
        _mm512_storeu_si512(stays + left, _mm512_maskz_compress_epi8(all & ~go, ids));
        _mm512_storeu_si512(goes + (i - left), _mm512_maskz_compress_epi8(go, ids));
        left += count(all & ~go);
    }
    std::memcpy(list, stays, left);
    std::memcpy(list + left, goes, n - left);
    return left;
}
std::uint32_t part(std::uint8_t *list, std::uint32_t n, const std::uint8_t *flag, std::uint32_t tables) {
    return with_tables(tables, [&](auto t) { return part_by<t()>(list, n, flag); });
}

std::uint32_t keep(const std::uint8_t *list, std::uint32_t n, const std::uint8_t *flag, std::uint32_t tables,
                   std::uint8_t *to) {
    return with_tables(tables, [&](auto t) {
        const Table<t()> flags(flag);
        std::uint32_t kept = 0;
        for (std::uint32_t i = 0; i < n; i += 64) {
            const __m512i ids = _mm512_loadu_si512(list + i);
            const __mmask64 stay =
                _mm512_mask_testn_epi8_mask(lowest(n - i), flags(ids), _mm512_set1_epi8(1));
            _mm512_storeu_si512(to + kept, _mm512_maskz_compress_epi8(stay, ids));
            kept += count(stay);
        }
        return kept;
    });
}

/// Cuts of the 64 entries from `begin` on that lie between two values and leave enough rows.
template <std::uint32_t Tables> __mmask64 cuts_among(const std::uint8_t *list, std::uint32_t begin,
                                                     const Table<Tables> &ranks, const TwigCuts &cuts) {
    const __mmask64 here = _mm512_cmpneq_epu8_mask(ranks(_mm512_loadu_si512(list + begin)),
                                                   ranks(_mm512_loadu_si512(list + begin + 1)));
    const std::uint32_t first = cuts.first > begin ? cuts.first - begin : 0;
    return here & lowest(cuts.end - begin) & ~lowest(first);
}

/// The ones among the first 1, 2, .., 64 of these bits.
inline __m512i running_ones(std::uint64_t bits) {
    const __m512i all = _mm512_set1_epi64(static_cast<long long>(bits));
    const __m512i byte_of =
        _mm512_set_epi64(0x0707070707070707, 0x0606060606060606, 0x0505050505050505, 0x0404040404040404,
                         0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
    const __m512i up_to = _mm512_set1_epi64(static_cast<long long>(0xff7f3f1f0f070301));
    const __m512i within = _mm512_popcnt_epi8(_mm512_and_si512(_mm512_permutexvar_epi8(byte_of, all), up_to));
    const __m512i before =
        _mm512_set_epi64(0x00ffffffffffffff, 0x0000ffffffffffff, 0x000000ffffffffff, 0x00000000ffffffff,
                         0x0000000000ffffff, 0x000000000000ffff, 0x00000000000000ff, 0);
    const __m512i earlier = _mm512_popcnt_epi64(_mm512_and_si512(all, before));
    const __m512i first_byte = _mm512_set1_epi64(0);
    const __m512i second = _mm512_set1_epi64(0x0808080808080808);
    const __m512i spread = _mm512_mask_blend_epi64(0xaa, first_byte, second);
    return _mm512_add_epi8(within, _mm512_shuffle_epi8(earlier, spread));
}

inline __m512i sixteen(__m512i bytes, int group) {
    switch (group) {
    case 0:
        return _mm512_cvtepu8_epi32(_mm512_castsi512_si128(bytes));
    case 1:
        return _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(bytes, 1));
    case 2:
        return _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(bytes, 2));
    default:
        return _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(bytes, 3));
    }
}

template <std::uint32_t Tables> float two_by(const std::uint8_t *list, const std::uint8_t *classes,
                                             const std::uint8_t *rank, const TwigCuts &cuts,
                                             TwigScores &out) {
    const Table<Tables> ranks(rank), ones(classes);
    const TwigSides sides(cuts.n);
    const __m512 none = _mm512_set1_ps(-1.0f), whole = _mm512_set1_ps(static_cast<float>(cuts.n)),
                 expected = _mm512_set1_ps(cuts.ones);
    __m512 top = none;
    std::uint32_t seen = 0;
    for (std::uint32_t begin = 0; begin < cuts.end; begin += 64) {
        const __mmask64 cut = cuts_among(list, begin, ranks, cuts);
        const std::uint64_t bits = _mm512_mask_test_epi8_mask(
            lowest(cuts.n - begin), ones(_mm512_loadu_si512(list + begin)), _mm512_set1_epi8(1));
        const __m512i left = _mm512_add_epi8(running_ones(bits), _mm512_set1_epi8(static_cast<char>(seen)));
        seen += count(bits);
        _mm512_storeu_si512(out.ones.data() + begin, left);
#pragma GCC unroll 4
        for (int g = 0; g < 4; ++g) {
            const std::uint32_t at = begin + 16 * static_cast<std::uint32_t>(g);
            const auto here = static_cast<__mmask16>(cut >> 16 * g);
            const __m512 d = _mm512_sub_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sixteen(left, g)), whole),
                                           _mm512_mul_ps(expected, _mm512_loadu_ps(sides.left + at)));
            const __m512 score =
                _mm512_mul_ps(_mm512_mul_ps(d, d), _mm512_mul_ps(_mm512_loadu_ps(sides.over_left + at),
                                                                 _mm512_loadu_ps(sides.over_right + at)));
            const __m512 told = _mm512_mask_blend_ps(here, none, score);
            _mm512_storeu_ps(out.score.data() + at, told);
            top = _mm512_max_ps(top, told);
        }
    }
    return _mm512_reduce_max_ps(top);
}
float two(const std::uint8_t *list, const std::uint8_t *classes, const std::uint8_t *rank,
          const TwigCuts &cuts, TwigScores &out) {
    return with_tables(cuts.tables, [&](auto t) { return two_by<t()>(list, classes, rank, cuts, out); });
}

/// Adds to each number those before it.
inline __m512i added_up(__m512i words) {
    const __m512i zero = _mm512_setzero_si512();
    words = _mm512_add_epi32(words, _mm512_alignr_epi32(words, zero, 15));
    words = _mm512_add_epi32(words, _mm512_alignr_epi32(words, zero, 14));
    words = _mm512_add_epi32(words, _mm512_alignr_epi32(words, zero, 12));
    return _mm512_add_epi32(words, _mm512_alignr_epi32(words, zero, 8));
}

template <std::uint32_t Tables> float many_by(const std::uint8_t *list, const std::uint8_t *classes,
                                              const std::uint8_t *rank, const TwigCuts &cuts,
                                              TwigScores &out) {
    const Table<Tables> ranks(rank), class_of(classes);
    const TwigSides sides(cuts.n);
    const __m512 none = _mm512_set1_ps(-1.0f);
    const __m512i squares = _mm512_set1_epi32(cuts.squares), last = _mm512_set1_epi32(15),
                  low = _mm512_set1_epi32(0xffff), one = _mm512_set1_epi32(1);
    alignas(64) std::uint8_t numbers[64];
    for (std::uint8_t i = 0; i < 64; ++i) numbers[i] = static_cast<std::uint8_t>(i + 1);
    const __m512i nth = _mm512_load_si512(numbers);
    std::uint8_t seen[twig_rows];
    std::memset(seen, 0, cuts.n_present);
    __m512 top = none;
    __m512i carried = _mm512_setzero_si512();
    for (std::uint32_t begin = 0; begin < cuts.end; begin += 64) {
        const __mmask64 cut = cuts_among(list, begin, ranks, cuts), all = lowest(cuts.n - begin);
        const __m512i codes = class_of(_mm512_loadu_si512(list + begin));
        // Which of its class an entry is, and how many its class has.
        __m512i place = _mm512_setzero_si512(), rows = place;
        for (std::uint32_t p = 0; p < cuts.n_present; ++p) {
            const __mmask64 of_class =
                _mm512_mask_cmpeq_epi8_mask(all, codes, _mm512_set1_epi8(static_cast<char>(cuts.present[p])));
            place = _mm512_mask_expand_epi8(
                place, of_class, _mm512_add_epi8(nth, _mm512_set1_epi8(static_cast<char>(seen[p]))));
            rows = _mm512_mask_mov_epi8(rows, of_class, _mm512_set1_epi8(static_cast<char>(cuts.count[p])));
            seen[p] = static_cast<std::uint8_t>(seen[p] + count(of_class));
        }
#pragma GCC unroll 4
        for (int g = 0; g < 4; ++g) {
            const std::uint32_t at = begin + 16 * static_cast<std::uint32_t>(g);
            const auto here = static_cast<__mmask16>(cut >> 16 * g);
            const __m512i nths = sixteen(place, g);
            const __m512i step = _mm512_add_epi32(_mm512_sub_epi32(_mm512_add_epi32(nths, nths), one),
                                                  _mm512_slli_epi32(sixteen(rows, g), 16));
            const __m512i sums = _mm512_add_epi32(added_up(step), carried);
            carried = _mm512_permutexvar_epi32(last, sums);
            _mm512_storeu_si512(out.sums.data() + at, sums);
            const __m512i s = _mm512_and_si512(sums, low), x = _mm512_srli_epi32(sums, 16);
            const __m512i right = _mm512_add_epi32(_mm512_sub_epi32(squares, _mm512_add_epi32(x, x)), s);
            const __m512 score = _mm512_add_ps(
                _mm512_mul_ps(_mm512_cvtepi32_ps(s), _mm512_loadu_ps(sides.over_left + at)),
                _mm512_mul_ps(_mm512_cvtepi32_ps(right), _mm512_loadu_ps(sides.over_right + at)));
            const __m512 told = _mm512_mask_blend_ps(here, none, score);
            _mm512_storeu_ps(out.score.data() + at, told);
            top = _mm512_max_ps(top, told);
        }
    }
    return _mm512_reduce_max_ps(top);
}
float many(const std::uint8_t *list, const std::uint8_t *classes, const std::uint8_t *rank,
           const TwigCuts &cuts, TwigScores &out) {
    return with_tables(cuts.tables, [&](auto t) { return many_by<t()>(list, classes, rank, cuts, out); });
}

/// Writes the scores of 16 cuts from the sums of phi_k behind them, and keeps the highest.
inline void put_scores(__m512i sums, __mmask16 cut, std::uint32_t at, const TwigInformation &tables,
                       TwigScores &out, __m512 &top) {
    const __m512i phi = _mm512_loadu_si512(tables.phi.data() + at + 1);
    __m512 score =
        _mm512_cvtepi32_ps(_mm512_add_epi32(_mm512_sub_epi32(sums, phi), _mm512_set1_epi32(tables.above)));
    if (tables.ratio)
        score = _mm512_div_ps(
            score, _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_set1_epi32(tables.whole_log - 2), phi)));
    const __m512 told = _mm512_mask_blend_ps(cut, _mm512_set1_ps(-1.0f), score);
    _mm512_storeu_ps(out.score.data() + at, told);
    top = _mm512_max_ps(top, told);
}
/// table[at], where `at` is from 0 to 16.
inline __m512i look_up_near(const std::int32_t *table, __m512i at) {
    const __m512i found =
        _mm512_permutexvar_epi32(_mm512_sub_epi32(at, _mm512_set1_epi32(1)), _mm512_loadu_si512(table + 1));
    return _mm512_mask_mov_epi32(found, _mm512_testn_epi32_mask(at, at), _mm512_set1_epi32(table[0]));
}

template <std::uint32_t Tables>
float two_by_information_of(const std::uint8_t *list, const std::uint8_t *classes, const std::uint8_t *rank,
                            const TwigCuts &cuts, const TwigInformation &tables, TwigScores &out) {
    const Table<Tables> ranks(rank), ones(classes);
    const __m512i places = _mm512_setr_epi32(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
    __m512 top = _mm512_set1_ps(-1.0f);
    std::uint32_t seen = 0;
    for (std::uint32_t begin = 0; begin < cuts.end; begin += 64) {
        const __mmask64 cut = cuts_among(list, begin, ranks, cuts);
        const std::uint64_t bits = _mm512_mask_test_epi8_mask(
            lowest(cuts.n - begin), ones(_mm512_loadu_si512(list + begin)), _mm512_set1_epi8(1));
        const __m512i within = running_ones(bits);
        _mm512_storeu_si512(out.ones.data() + begin,
                            _mm512_add_epi8(within, _mm512_set1_epi8(static_cast<char>(seen))));
#pragma GCC unroll 4
        for (int g = 0; g < 4; ++g) {
            const std::uint32_t before = 16 * static_cast<std::uint32_t>(g), at = begin + before,
                                ones_before = count(bits & lowest(before));
            const __m512i here =
                _mm512_sub_epi32(sixteen(within, g), _mm512_set1_epi32(static_cast<int>(ones_before)));
            const __m512i sums =
                _mm512_add_epi32(look_up_near(tables.phi_of_ones.data() + seen + ones_before, here),
                                 look_up_near(tables.phi_of_zeros.data() + (at - seen - ones_before),
                                              _mm512_sub_epi32(places, here)));
            put_scores(sums, static_cast<__mmask16>(cut >> 16 * g), at, tables, out, top);
        }
        seen += count(bits);
    }
    return _mm512_reduce_max_ps(top);
}
float two_by_information(const std::uint8_t *list, const std::uint8_t *classes, const std::uint8_t *rank,
                         const TwigCuts &cuts, const TwigInformation &tables, TwigScores &out) {
    return with_tables(cuts.tables, [&](auto t) {
        return two_by_information_of<t()>(list, classes, rank, cuts, tables, out);
    });
}

template <std::uint32_t Tables>
float many_by_information_of(const std::uint8_t *list, const std::uint8_t *classes, const std::uint8_t *rank,
                             const TwigCuts &cuts, const TwigInformation &tables, TwigScores &out) {
    const Table<Tables> ranks(rank), class_of(classes);
    const __m512i last = _mm512_set1_epi32(15);
    const std::int16_t *next[twig_rows];
    for (std::uint32_t p = 0; p < cuts.n_present; ++p) next[p] = tables.steps.data() + tables.steps_begin[p];
    __m512 top = _mm512_set1_ps(-1.0f);
    __m512i carried = _mm512_setzero_si512();
    for (std::uint32_t begin = 0; begin < cuts.end; begin += 64) {
        const __mmask64 cut = cuts_among(list, begin, ranks, cuts), all = lowest(cuts.n - begin);
        const __m512i codes = class_of(_mm512_loadu_si512(list + begin));
        // What each entry changes: the next steps of a class, put where its entries are.
        __m512i steps[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
        for (std::uint32_t p = 0; p < cuts.n_present; ++p) {
            const __mmask64 of_class =
                _mm512_mask_cmpeq_epi8_mask(all, codes, _mm512_set1_epi8(static_cast<char>(cuts.present[p])));
            for (int h = 0; h < 2; ++h) {
                const auto here = static_cast<__mmask32>(of_class >> 32 * h);
                steps[h] = _mm512_mask_expand_epi16(steps[h], here, _mm512_loadu_si512(next[p]));
                next[p] += count(here);
            }
        }
#pragma GCC unroll 4
        for (int g = 0; g < 4; ++g) {
            const __m512i two_groups = steps[g / 2];
            const __m512i step = _mm512_cvtepi16_epi32(g % 2 == 0 ? _mm512_castsi512_si256(two_groups)
                                                                  : _mm512_extracti64x4_epi64(two_groups, 1));
            const __m512i sums = _mm512_add_epi32(added_up(step), carried);
            carried = _mm512_permutexvar_epi32(last, sums);
            put_scores(sums, static_cast<__mmask16>(cut >> 16 * g),
                       begin + 16 * static_cast<std::uint32_t>(g), tables, out, top);
        }
    }
    return _mm512_reduce_max_ps(top);
}
float many_by_information(const std::uint8_t *list, const std::uint8_t *classes, const std::uint8_t *rank,
                          const TwigCuts &cuts, const TwigInformation &tables, TwigScores &out) {
    return with_tables(cuts.tables, [&](auto t) {
        return many_by_information_of<t()>(list, classes, rank, cuts, tables, out);
    });
}

TwigHits at_least(const TwigScores &scores, const TwigCuts &cuts, float bar) {
    TwigHits hits{};
    const __m512 least = _mm512_set1_ps(bar);
    for (std::uint32_t i = 0; i < cuts.end; i += 16) {
        const std::uint64_t here =
            _mm512_cmp_ps_mask(_mm512_loadu_ps(scores.score.data() + i), least, _CMP_GE_OQ);
        hits[i / 64] |= here << i % 64;
    }
    return hits;
}

} // namespace

extern const TwigKernels vbmi_twig_kernels;
const TwigKernels vbmi_twig_kernels{part, keep, two, many, two_by_information, many_by_information, at_least};

} // namespace hornbeam
#endif
