#include "allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
std::atomic<std::int64_t> count{0}, alive{0}, first{never};
std::atomic<bool> all_after{false};

void *allocate(std::size_t size, std::size_t alignment) {
    const std::int64_t nth = ++count;
    if (const std::int64_t fails = first; nth == fails || (all_after && nth > fails)) throw std::bad_alloc();
    if (size == 0) size = 1;
    void *memory = alignment == 0
                       ? std::malloc(size)
                       : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory == nullptr) throw std::bad_alloc();
    ++alive;
    return memory;
}

void give_back(void *memory) noexcept {
    if (memory == nullptr) return;
    --alive;
    std::free(memory);
}

} // namespace

void Allocations::fail_at(std::int64_t nth, bool ever_after) {
    first = never;
    count = 0, all_after = ever_after;
    first = nth;
}
void Allocations::fail_never() { fail_at(never, false); }
std::int64_t Allocations::counted() { return count; }
std::int64_t Allocations::living() { return alive; }

void *operator new(std::size_t size) { return allocate(size, 0); }
void *operator new[](std::size_t size) { return allocate(size, 0); }
void *operator new(std::size_t size, std::align_val_t at) {
    return allocate(size, static_cast<std::size_t>(at));
}
void *operator new[](std::size_t size, std::align_val_t at) {
    return allocate(size, static_cast<std::size_t>(at));
}
void operator delete(void *memory) noexcept { give_back(memory); }
void operator delete[](void *memory) noexcept { give_back(memory); }
void operator delete(void *memory, std::size_t) noexcept { give_back(memory); }
void operator delete[](void *memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void *memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void *memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void *memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
