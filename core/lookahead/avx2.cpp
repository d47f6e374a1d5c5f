// Sampling trees on AVX2 machines, which gather and count bits in one instruction.
#include "lookahead/samplers.hpp"

#if defined(__AVX2__)
#include <immintrin.h>

namespace hornbeam {
namespace {

#include "lookahead/body.hpp"

} // namespace

Sampler *new_avx2_sampler(const SamplerSetting &setting) { return new BitSampler(setting); }

} // namespace hornbeam
#endif
