// Which kernels this build has and this machine can run.
#include "kernels/kernels.hpp"

namespace hornbeam {

extern const Kernels plain_kernels;
#if defined(HORNBEAM_X86_KERNELS)
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;
#endif

namespace {

std::vector<const Kernels *> runnable() {
    std::vector<const Kernels *> out{&plain_kernels};
#if defined(HORNBEAM_X86_KERNELS)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) {
        out.push_back(&avx2_kernels);
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
            out.push_back(&avx512_kernels);
    }
#endif
    return out;
}

} // namespace

const Kernels *kernels_named(std::string_view name) {
    auto all = runnable();
    if (name == "auto") return all.back();
    for (const Kernels *k : all)
        if (name == k->name) return k;
    return nullptr;
}

std::vector<std::string_view> kernels_available() {
    std::vector<std::string_view> out;
    for (const Kernels *k : runnable()) out.emplace_back(k->name);
    return out;
}

} // namespace hornbeam
