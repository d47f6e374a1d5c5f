// Memory that runs out where a test says so.
#pragma once

#include <cstdint>

/// The driver's own operator new: it counts, and fails the n-th allocation from now on, that one alone or all
/// that follow too.
struct Allocations {
    static void fail_at(std::int64_t nth, bool ever_after);
    static void fail_never();
    /// Since one of the above.
    static std::int64_t counted();
    /// Allocated and not given back.
    static std::int64_t living();
};
