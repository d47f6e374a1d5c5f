// How a long native loop learns that it should stop: the caller passes one of these in.
#pragma once

#include <atomic>
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
        if (requested()) throw Cancelled();
    }

  protected:
    virtual void look() {}

  private:
    std::atomic<bool> flag_{false};
    std::thread::id owner_ = std::this_thread::get_id();
};

} // namespace hornbeam
