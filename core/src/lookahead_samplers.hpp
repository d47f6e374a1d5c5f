// The samplers by instruction set.
#pragma once

#include "hornbeam/lookahead_node.hpp"
#include "hornbeam/lookahead_subset.hpp"

namespace hornbeam {

Sampler *new_plain_sampler(const SamplerSetting &setting);
Sampler *new_avx2_sampler(const SamplerSetting &setting);
Sampler *new_avx512_sampler(const SamplerSetting &setting);

} // namespace hornbeam
