// How a long native loop learns that it should stop: the caller passes one of these in.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <thread>

namespace hornbeam {

/// Thrown out of a native loop when the caller asked it to stop.
struct Cancelled : std::runtime_error {
    Cancelled() : std::runtime_error("stopped on request") {}
};

/// A cooperative stop: call `poll` at least every few milliseconds, from any thread. Only the thread that
/// made the object looks further (bindings override `look` to see signals); the others see its flag.
class Cancel {
  public:
    virtual ~Cancel() = default;
    void request() { flag_.store(true, std::memory_order_relaxed); }
    bool requested() const { return flag_.load(std::memory_order_relaxed); }
    void poll() {
        if (std::this_thread::get_id() == owner_) look();
        check();
    }
    void check() const {
        if (requested()) stop();
    }

  protected:
    virtual void look();

  private:
    std::atomic<bool> flag_{false};
    std::thread::id owner_ = std::this_thread::get_id();

    // Not inline, nor is `look`: loops that are compiled for some machines only would bring copies for all.
    [[noreturn]] static void stop();
};

/// Looks for a stop about every millisecond of a loop whose steps take `cost` nanoseconds, roughly.
class Pace {
  public:
    Pace(Cancel &cancel, std::size_t cost) : cancel_(cancel), cost_(cost) {}
    void step(std::size_t times = 1) {
        if ((done_ += times * cost_) < 1'000'000) return;
        done_ = 0;
        cancel_.poll();
    }

  private:
    Cancel &cancel_;
    std::size_t cost_, done_ = 0;
};

/// Calls body(begin, end) for stretches of [0, n), and looks for a stop between them. A stretch should take a
/// few milliseconds.
template <std::size_t Stretch = std::size_t{1} << 16, class Body>
void in_stretches(std::size_t n, Cancel &cancel, Body body) {
    for (std::size_t begin = 0; begin < n; begin += Stretch) {
        if (begin > 0) cancel.poll();
        body(begin, std::min(n, begin + Stretch));
    }
}

} // namespace hornbeam
