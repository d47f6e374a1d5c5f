// The kernels in plain C++: every machine has these.
#include "hornbeam/kernels.hpp"

namespace hornbeam {
namespace plain {

#include "kernels_body.hpp"

std::uint32_t part_narrow(std::uint32_t *list, std::uint32_t n, const std::uint8_t *flag, std::uint32_t *right) {
    return scalar_part(list, 0, n, flag, right, 0);
}
std::uint32_t part_wide(std::uint64_t *list, std::uint32_t n, const std::uint8_t *flag, std::uint64_t *right) {
    return scalar_part(list, 0, n, flag, right, 0);
}

} // namespace plain

extern const Kernels plain_kernels;
const Kernels plain_kernels{"plain", plain::part_narrow, plain::part_wide, plain::peaks_narrow, plain::peaks_wide};

} // namespace hornbeam
