// Which sampler this machine can run: that of the kernels of the same name.
#include "lookahead/samplers.hpp"

#include <stdexcept>
#include <string>

#include "kernels/kernels.hpp"

namespace hornbeam {

Sampler::~Sampler() = default;

std::unique_ptr<Sampler> make_sampler(std::string_view kernels, const SamplerSetting &setting) {
    const Kernels *known = kernels_named(kernels);
    if (known == nullptr)
        throw std::invalid_argument("kernels '" + std::string(kernels) +
                                    "' are not available on this machine");
    const std::string_view name = known->name;
#if defined(HORNBEAM_X86_KERNELS)
    if (name == "avx512") return std::unique_ptr<Sampler>(new_avx512_sampler(setting));
    if (name == "avx2") return std::unique_ptr<Sampler>(new_avx2_sampler(setting));
#endif
    return std::unique_ptr<Sampler>(new_plain_sampler(setting));
}

} // namespace hornbeam
