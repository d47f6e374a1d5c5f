// Memory that will be written as a whole comes by few calls, where the system knows how: a fault for each
// page would take longer than what is written there.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "running/cancel.hpp"

namespace hornbeam {

/// Brings in the pages that lie wholly within some memory. Harmless where that cannot be done.
inline void bring_in([[maybe_unused]] void *begin, [[maybe_unused]] std::size_t bytes) {
#ifdef __linux__
    constexpr std::uintptr_t page = 4096;
    constexpr int populate_write = 23; // MADV_POPULATE_WRITE, new in headers
    const auto start = reinterpret_cast<std::uintptr_t>(begin);
    const std::uintptr_t lo = (start + page - 1) & ~(page - 1), hi = (start + bytes) & ~(page - 1);
    if (lo < hi) (void)madvise(reinterpret_cast<void *>(lo), hi - lo, populate_write); // may fail
#endif
}

/// The same for room of any size, looking for a stop now and then. Small room mostly is there already.
inline void bring_in(void *begin, std::size_t bytes, Cancel &cancel) {
    constexpr std::size_t small = std::size_t{1} << 20;
    if (bytes < small) return;
    in_stretches<std::size_t{8} << 20>(bytes, cancel, [&](std::size_t lo, std::size_t hi) {
        bring_in(static_cast<char *>(begin) + lo, hi - lo);
    });
}

} // namespace hornbeam
