// The samplers by instruction set.
#pragma once

#include "lookahead/node.hpp"
#include "lookahead/subset.hpp"

namespace hornbeam {

Sampler *new_plain_sampler(const SamplerSetting &setting);
Sampler *new_avx2_sampler(const SamplerSetting &setting);
Sampler *new_avx512_sampler(const SamplerSetting &setting);

} // namespace hornbeam
