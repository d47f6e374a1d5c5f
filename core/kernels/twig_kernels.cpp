// The loops over the lists of a twig in plain C++, and which ones a machine runs.
#include "kernels/twig_kernels.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace hornbeam {

extern const TwigKernels plain_twig_kernels;
#if defined(HORNBEAM_X86_KERNELS)
extern const TwigKernels vbmi_twig_kernels;
#endif

namespace {

/// Whole vectors are read from the middle of a table.
constexpr std::size_t beside = twig_room;
template <class Number> constexpr auto table_of(Number number) {
    std::array<float, twig_rows + 2 * beside> table{};
    for (std::size_t i = 0; i < twig_rows; ++i) table[i] = number(i);
    return table;
}
constexpr auto rows_left = table_of([](std::size_t i) { return static_cast<float>(i + 1); });
constexpr auto over_left = table_of([](std::size_t i) { return 1.0f / static_cast<float>(i + 1); });
/// The last entry is 1 / 1: what a cut leaves on the right counts down.
constexpr auto over_right = table_of([](std::size_t i) { return 1.0f / static_cast<float>(twig_rows - i); });

std::uint32_t part(std::uint8_t *list, std::uint32_t n, const std::uint8_t *flag, std::uint32_t) {
    std::uint8_t right[twig_rows];
    std::uint32_t left = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint8_t id = list[i], go = flag[id] != 0;
        right[i - left] = id;
        list[left] = id;
        left += 1u - go;
    }
    std::memcpy(list + left, right, n - left);
    return left;
}

std::uint32_t keep(const std::uint8_t *list, std::uint32_t n, const std::uint8_t *flag, std::uint32_t,
                   std::uint8_t *to) {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
        to[kept] = list[i];
        kept += flag[list[i]] == 0;
    }
    return kept;
}

/// Calls `score(i)` for the cuts that may be taken, and returns the highest.
template <class Add, class Score> float each_cut(const std::uint8_t *list, const std::uint8_t *rank,
                                                 const TwigCuts &cuts, TwigScores &out, Add add,
                                                 Score score) {
    float top = -1.0f;
    for (std::uint32_t i = 0; i < cuts.end; ++i) {
        add(i);
        out.score[i] = i < cuts.first || rank[list[i]] == rank[list[i + 1]] ? -1.0f : score(i);
        top = std::max(top, out.score[i]);
    }
    return top;
}

float two(const std::uint8_t *list, const std::uint8_t *classes, const std::uint8_t *rank,
          const TwigCuts &cuts, TwigScores &out) {
    const TwigSides sides(cuts.n);
    const auto whole = static_cast<float>(cuts.n);
    std::uint8_t ones = 0;
    return each_cut(
        list, rank, cuts, out,
        [&](std::uint32_t i) {
            ones = static_cast<std::uint8_t>(ones + classes[list[i]]);
            out.ones[i] = ones;
        },
        [&](std::uint32_t i) {
            const float d = static_cast<float>(ones) * whole - cuts.ones * sides.left[i];
            return d * d * (sides.over_left[i] * sides.over_right[i]);
        });
}

float many(const std::uint8_t *list, const std::uint8_t *classes, const std::uint8_t *rank,
           const TwigCuts &cuts, TwigScores &out) {
    const TwigSides sides(cuts.n);
    std::uint32_t step[twig_rows], sums = 0;
    for (std::uint32_t p = 0; p < cuts.n_present; ++p)
        step[cuts.present[p]] = 1 | static_cast<std::uint32_t>(cuts.count[p]) << 16;
    return each_cut(
        list, rank, cuts, out,
        [&](std::uint32_t i) {
            std::uint32_t &of_class = step[classes[list[i]]];
            out.sums[i] = sums += of_class;
            of_class += 2;
        },
        [&](std::uint32_t i) {
            const auto s = static_cast<std::int32_t>(sums & 0xffff),
                       x = static_cast<std::int32_t>(sums >> 16);
            return static_cast<float>(s) * sides.over_left[i] +
                   static_cast<float>(cuts.squares - 2 * x + s) * sides.over_right[i];
        });
}

/// The score of cut i from the sum of phi_k behind it.
float information_score(const TwigInformation &tables, std::uint32_t i, std::int32_t sum) {
    const auto gain = static_cast<float>(sum - tables.phi[i + 1] + tables.above);
    return tables.ratio ? gain / static_cast<float>(tables.whole_log - tables.phi[i + 1] - 2) : gain;
}

float two_by_information(const std::uint8_t *list, const std::uint8_t *classes, const std::uint8_t *rank,
                         const TwigCuts &cuts, const TwigInformation &tables, TwigScores &out) {
    std::uint32_t ones = 0;
    return each_cut(
        list, rank, cuts, out,
        [&](std::uint32_t i) {
            ones += classes[list[i]];
            out.ones[i] = static_cast<std::uint8_t>(ones);
        },
        [&](std::uint32_t i) {
            return information_score(tables, i, tables.phi_of_ones[ones] + tables.phi_of_zeros[i + 1 - ones]);
        });
}

float many_by_information(const std::uint8_t *list, const std::uint8_t *classes, const std::uint8_t *rank,
                          const TwigCuts &cuts, const TwigInformation &tables, TwigScores &out) {
    const std::int16_t *next[twig_rows];
    for (std::uint32_t p = 0; p < cuts.n_present; ++p)
        next[cuts.present[p]] = tables.steps.data() + tables.steps_begin[p];
    std::int32_t sum = 0;
    return each_cut(
        list, rank, cuts, out, [&](std::uint32_t i) { sum += *next[classes[list[i]]]++; },
        [&](std::uint32_t i) { return information_score(tables, i, sum); });
}

TwigHits at_least(const TwigScores &scores, const TwigCuts &cuts, float bar) {
    TwigHits hits{};
    for (std::uint32_t i = cuts.first; i < cuts.end; ++i)
        hits[i / 64] |= std::uint64_t{scores.score[i] >= bar} << i % 64;
    return hits;
}

} // namespace

TwigSides::TwigSides(std::uint32_t n)
    : left(rows_left.data()), over_left(hornbeam::over_left.data()),
      over_right(hornbeam::over_right.data() + (twig_rows + 1 - n)) {}

const TwigKernels plain_twig_kernels{part,    keep, two, many, two_by_information, many_by_information,
                                     at_least};

const TwigKernels &twig_kernels_of([[maybe_unused]] const Kernels &kernels) {
#if defined(HORNBEAM_X86_KERNELS)
    if (std::string_view(kernels.name) == "avx512" && __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bitalg") &&
        __builtin_cpu_supports("avx512vpopcntdq"))
        return vbmi_twig_kernels;
#endif
    return plain_twig_kernels;
}

} // namespace hornbeam
