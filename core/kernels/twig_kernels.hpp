// The loops over the lists of a twig: bytes that name at most 256 rows, a vector of 64 at a time where the
// machine has the instructions. All versions give equal hits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/kernels.hpp"

namespace hornbeam {

/// Rows that a twig may have: their ids are bytes.
inline constexpr std::size_t twig_rows = 256;
/// Lists that it may have: they and their tables take some 1.5 KB each.
inline constexpr std::size_t twig_lists = 4096;
/// What whole vectors may read and write behind a list.
inline constexpr std::size_t twig_room = 64;

/// A number for each row of a twig, or for each cut of one of its lists.
template <class T> using ByTwigRow = std::array<T, twig_rows + twig_room>;

/// What the cuts of all lists of one node have in common. Cut i leaves i + 1 rows on the left; those in
/// [first, end) leave enough on both sides.
struct TwigCuts {
    std::uint32_t n = 0, first = 0, end = 0;
    std::uint32_t tables = 1; // vectors of 64 that the ids of the twig fill: 1, 2 or 4
    float ones = 0.0f;        // of two classes
    // Of many: the sum of the squared class counts, the classes present and the rows of each.
    std::int32_t squares = 0;
    std::uint32_t n_present = 0;
    ByTwigRow<std::uint8_t> present, count;
};

/// Numbers that every node of n rows asks for by cut: the rows on the left, 1 / n_L and 1 / n_R.
struct TwigSides {
    const float *left, *over_left, *over_right;
    explicit TwigSides(std::uint32_t n);
};

/// What a scan of one list leaves behind, by cut: a score in single precision, -1 where it is none that may
/// be taken; and what the literal gain is made of: the ones on the left, or the sum of l_k^2 and, 16 bits
/// further up, that of l_k c_k (l on the left, c in the node).
struct TwigScores {
    ByTwigRow<float> score;
    ByTwigRow<std::uint8_t> ones;
    ByTwigRow<std::uint32_t> sums;
};

/// The same of cuts by information, in whole units: phi as kernels/information.hpp has it, by what is on the
/// left; and what the next entry of a class changes, class after class. A score is above the sum of phi_k
/// less phi by `above`, and never below 0; by ratio it is divided by the information of the split.
struct TwigInformation {
    std::int32_t above = 0, whole_log = 0;
    bool ratio = false;
    std::array<std::int32_t, twig_rows + 2 * twig_room> phi, phi_of_zeros, phi_of_ones;
    std::array<std::int16_t, twig_rows + 2 * twig_room> steps;
    std::array<std::uint16_t, twig_rows> steps_begin; // of each class that is present
};

/// Bit i: the cut may be the best.
using TwigHits = std::array<std::uint64_t, twig_rows / 64>;

/// Arrays by id have `twig_rows` entries; lists may be read and, but for `part`, written `twig_room` bytes
/// past their end.
struct TwigKernels {
    /// Stable: ids whose flag is 0 come first; returns how many. What lies behind the list stays as it is.
    std::uint32_t (*part)(std::uint8_t *list, std::uint32_t n, const std::uint8_t *flag,
                          std::uint32_t tables);
    /// Copies the ids whose flag is 0, in order; returns how many.
    std::uint32_t (*keep)(const std::uint8_t *list, std::uint32_t n, const std::uint8_t *flag,
                          std::uint32_t tables, std::uint8_t *to);
    /// Scores of the cuts of a list by D^2 / (n_L n_R); returns the highest. Classes are 0 and 1.
    float (*two)(const std::uint8_t *list, const std::uint8_t *classes, const std::uint8_t *rank,
                 const TwigCuts &cuts, TwigScores &out);
    /// The same by the sum over both sides of the sum of squared class counts over their rows.
    float (*many)(const std::uint8_t *list, const std::uint8_t *classes, const std::uint8_t *rank,
                  const TwigCuts &cuts, TwigScores &out);
    /// The same by information.
    float (*two_by_information)(const std::uint8_t *list, const std::uint8_t *classes,
                                const std::uint8_t *rank, const TwigCuts &cuts, const TwigInformation &tables,
                                TwigScores &out);
    float (*many_by_information)(const std::uint8_t *list, const std::uint8_t *classes,
                                 const std::uint8_t *rank, const TwigCuts &cuts,
                                 const TwigInformation &tables, TwigScores &out);
    /// The cuts whose score comes up to the bar.
    TwigHits (*at_least)(const TwigScores &scores, const TwigCuts &cuts, float bar);
};

/// Those that go with the kernels: vectors of bytes are for machines with AVX-512 VBMI2 and BITALG.
const TwigKernels &twig_kernels_of(const Kernels &kernels);

} // namespace hornbeam
