// Sampling trees on AVX-512 machines.
#include "lookahead/samplers.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>

namespace hornbeam {
namespace {

#include "lookahead/body.hpp"

} // namespace

Sampler *new_avx512_sampler(const SamplerSetting &setting) { return new BitSampler(setting); }

} // namespace hornbeam
#endif
