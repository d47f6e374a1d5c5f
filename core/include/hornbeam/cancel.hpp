// How a long native loop learns that it should stop: the caller passes one of these in.
#pragma once

#include <atomic>
#include <stdexcept>

namespace hornbeam {

/// Thrown out of a native loop when the caller asked it to stop.
struct Cancelled : std::runtime_error {
    Cancelled() : std::runtime_error("stopped on request") {}
};

/// A cooperative stop. Workers ask `requested`; the calling thread asks `poll`, which may look at
/// signals (bindings override `look`). Both are cheap; call one at least every few milliseconds.
class Cancel {
  public:
    virtual ~Cancel() = default;
    void request() { flag_.store(true, std::memory_order_relaxed); }
    bool requested() const { return flag_.load(std::memory_order_relaxed); }
    /// Only from the thread that made the call.
    void poll() {
        look();
        check();
    }
    void check() const {
        if (requested()) throw Cancelled();
    }

  protected:
    virtual void look() {}

  private:
    std::atomic<bool> flag_{false};
};

} // namespace hornbeam
