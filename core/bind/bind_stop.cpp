// Native work of one thread, ended by another: what Ctrl-C is to the main thread.
#include <unordered_set>

#include "bind.hpp"

namespace hornbeam {
namespace {

/// Threads, by Python's number, that somebody asked to stop; guarded by the GIL.
std::unordered_set<unsigned long> &asked() {
    static std::unordered_set<unsigned long> threads;
    return threads;
}

} // namespace

bool stop_asked() { return !asked().empty() && asked().erase(PyThread_get_thread_ident()) > 0; }

void bind_stop(nb::module_ &m) {
    m.def(
        "stop_thread", [](unsigned long thread) { asked().insert(thread); }, nb::arg("thread"),
        "The native work that a thread is in, or comes to next, ends soon with KeyboardInterrupt.");
    m.def(
        "forget_stop", [](unsigned long thread) { asked().erase(thread); }, nb::arg("thread"),
        "Takes such a request back, if it was not heard.");
}

} // namespace hornbeam
