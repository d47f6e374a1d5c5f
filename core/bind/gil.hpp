// Work without Python's lock (the GIL), which no thread takes back once the interpreter is ending.
//
// A daemon thread may be in native work when the main thread ends. Taking the lock then never succeeds: up to
// Python 3.13 it ends the thread by pthread_exit, which the C++ runtime carries out as an unwinding that
// aborts the process at the first destructor, noexcept or catch(...); from 3.14 on it hangs. So every taking
// of the lock, and every call that may run Python code, goes through this file, and such a thread is parked
// in it.
#pragma once

#include <chrono>
#include <nanobind/nanobind.h>
#include <utility>
#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

#include "running/cancel.hpp"
#include "running/throwing.hpp"

namespace hornbeam {

/// Whether the interpreter is ending, or has ended; does not need the lock.
bool finalizing();

/// Asks the other threads of the work to stop, and waits for the process to end.
[[noreturn]] void park(Cancel &cancel);

/// Calls `call`, which takes the lock or may run Python code. Its own frame must have nothing to destroy.
template <class Call> auto call_or_park(Cancel &cancel, Call call) {
#ifdef __GLIBCXX__
    try {
        return call();
    } catch (const abi::__forced_unwind &) { // not rethrown, because it is never left
        park(cancel);
    }
#else
    return call(); // musl and macOS end the thread without unwinding
#endif
}

/// Looks at pending signals at most every 10 ms, taking the lock only then. A handler that raised (Ctrl-C)
/// becomes nb::python_error, which carries the Python exception through the native frames; so does what
/// another thread asked for, as the same exception.
class SignalCancel : public Cancel {
  public:
    SignalCancel() { prepare_to_throw(); } // every call into the core makes one, before its work

  protected:
    void look() override;

    /// Holds the lock for a moment of native work, whether that has given it away or not.
    class WithGil {
      public:
        explicit WithGil(SignalCancel &cancel) : cancel_(cancel), away_(cancel.state_ != nullptr) {
            if (away_) cancel_.take();
        }
        WithGil(const WithGil &) = delete;
        WithGil &operator=(const WithGil &) = delete;
        ~WithGil() {
            if (away_) cancel_.give_away();
        }

      private:
        SignalCancel &cancel_;
        bool away_;
    };

  private:
    friend class WithoutGil;

    PyThreadState *state_ = nullptr; // of this thread while the lock is given away
    bool ends_ = false;              // whether this thread is the one that ends the interpreter
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();

    void give_away();
    void take();
};

/// Native work that lets other Python threads run. It looks for a stop by this cancel alone, which knows that
/// the lock is away.
class WithoutGil {
  public:
    explicit WithoutGil(SignalCancel &cancel) : cancel_(cancel) { cancel_.give_away(); }
    WithoutGil(const WithoutGil &) = delete;
    WithoutGil &operator=(const WithoutGil &) = delete;
    ~WithoutGil() { cancel_.take(); }

  private:
    SignalCancel &cancel_;
};

} // namespace hornbeam
