// Giving Python's lock away and taking it back.
#include "gil.hpp"

#include <dlfcn.h>
#include <thread>

#include "bind.hpp"

namespace hornbeam {

bool finalizing() {
    using Question = int (*)();
    // The stable ABI has it from 3.13 on; before, it goes by its private name.
    static const auto ask = [] {
        void *found = dlsym(RTLD_DEFAULT, "Py_IsFinalizing");
        return reinterpret_cast<Question>(found ? found : dlsym(RTLD_DEFAULT, "_Py_IsFinalizing"));
    }();
    return ask != nullptr && ask() != 0;
}

void park(Cancel &cancel) {
    cancel.request();
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

void SignalCancel::give_away() {
    ends_ = finalizing(); // with the lock in its hand, no other thread can be the one
    state_ = PyEval_SaveThread();
}

void SignalCancel::take() {
    if (!ends_ && finalizing()) park(*this);
    // The interpreter may begin to end between this look and the taking, or while this thread waits for it.
    PyThreadState *state = std::exchange(state_, nullptr);
    call_or_park(*this, [state] { PyEval_RestoreThread(state); });
}

void SignalCancel::look() {
    auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(10)) return;
    last_ = now;
    WithGil gil(*this);
    bool stop = call_or_park(*this, [] { return PyErr_CheckSignals(); }) != 0;
    if (!stop && stop_asked()) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
        stop = true;
    }
    if (stop) {
        request();
        throw nb::python_error();
    }
}

} // namespace hornbeam
