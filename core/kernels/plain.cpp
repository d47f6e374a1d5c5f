// The kernels in plain C++: every machine has these.
#include <utility>

#include "kernels/kernels.hpp"

namespace hornbeam {
namespace plain {

#include "kernels/body.hpp"

inline bool any_lane(const LaneInts &lanes) {
    std::int32_t any = 0;
    for (std::size_t i = 0; i < lane_width; ++i) any |= lanes[i];
    return any != 0;
}
inline unsigned lane_bits(const LaneInts &lanes) {
    unsigned bits = 0;
    for (std::size_t i = 0; i < lane_width; ++i) bits |= static_cast<unsigned>(lanes[i] != 0) << i;
    return bits;
}
/// a / b, off by less than `nearly`.
inline LaneFloats nearly_over(LaneFloats a, LaneFloats b) { return a / b; }
#include "kernels/lane_classes.hpp"

#include "kernels/lane_blocks.hpp"

constexpr std::size_t vector_bytes = 16;
typedef std::int32_t AnyInts __attribute__((vector_size(vector_bytes)));
inline bool any_bit(AnyInts some) {
    std::uint64_t half[2];
    __builtin_memcpy(half, &some, sizeof(half));
    return (half[0] | half[1]) != 0;
}
/// Of numbers that are 0 or -1.
inline unsigned sign_bits(AnyInts all) {
    all &= AnyInts{1, 2, 4, 8};
    std::uint64_t half[2];
    __builtin_memcpy(half, &all, sizeof(half));
    const std::uint64_t both = half[0] | half[1];
    return static_cast<unsigned>(both | both >> 32);
}
/// table[at], where `at` is up to as much as there are numbers in a vector.
inline AnyInts near(const std::int32_t *table, AnyInts at) {
    return AnyInts{table[at[0]], table[at[1]], table[at[2]], table[at[3]]};
}
#include "kernels/lane_parts.hpp"

#include "kernels/lane_information.hpp"

#include "kernels/one_lane_information.hpp"

std::uint32_t part_narrow(std::uint32_t *list, std::uint32_t n, const std::uint8_t *flag,
                          std::uint32_t *right) {
    return scalar_part(list, 0, n, flag, right, 0);
}
std::uint32_t part_wide(std::uint64_t *list, std::uint32_t n, const std::uint8_t *flag,
                        std::uint64_t *right) {
    return scalar_part(list, 0, n, flag, right, 0);
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

} // namespace plain

extern const Kernels plain_kernels;
const Kernels plain_kernels{"plain",
                            plain::part_narrow,
                            plain::part_wide,
                            plain::keep_narrow,
                            plain::keep_wide,
                            plain::deal_narrow,
                            plain::deal_wide,
                            plain::peaks_narrow,
                            plain::peaks_wide,
                            plain::hits_narrow,
                            plain::hits_wide,
                            plain::class_hits,
                            plain::value_sums,
                            plain::lane_blocks_narrow,
                            plain::lane_blocks_wide,
                            plain::lane_hits_narrow,
                            plain::lane_hits_wide,
                            plain::lane_classes,
                            plain::lane_values,
                            plain::lane_contents,
                            plain::take_off,
                            plain::contents,
                            plain::information_kernels};

} // namespace hornbeam
