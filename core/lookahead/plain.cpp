// Sampling trees in plain C++: every machine can do that.
#include "lookahead/samplers.hpp"

namespace hornbeam {
namespace {

#include "lookahead/body.hpp"

} // namespace

Sampler *new_plain_sampler(const SamplerSetting &setting) { return new BitSampler(setting); }

} // namespace hornbeam
