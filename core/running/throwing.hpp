// Making a thread able to throw while there is still memory for it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <exception>

namespace hornbeam {

/// Touches this thread's record of exceptions. It is thread-local storage of the C++ runtime, which comes
/// from malloc at the first touch; where that touch is a throw for want of memory, the C library may find
/// none and end the process. So it is touched early.
inline void prepare_to_throw() {
    volatile int record = std::uncaught_exceptions(); // volatile: the call is pure, and would be left out
    (void)record;
}

/// The same for a thread that is new: false, and nothing is touched, where memory is already too short. The
/// block asked for is far larger than the record, so that what other threads take meanwhile does no harm.
inline bool try_to_prepare_to_throw() {
    constexpr std::size_t spare = std::size_t{1} << 18;
    void *block = std::malloc(spare);
    if (block == nullptr) return false;
    *static_cast<volatile char *>(block) = 0; // or the compiler would leave out both calls
    std::free(block);
    prepare_to_throw();
    return true;
}

} // namespace hornbeam
