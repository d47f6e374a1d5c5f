// What the binding files share: the rooms' entry points, and a Cancel that looks at Python's signals.
#pragma once

#include <chrono>
#include <nanobind/nanobind.h>

#include "hornbeam/cancel.hpp"
#include "hornbeam/throwing.hpp"

namespace hornbeam {

namespace nb = nanobind;

void bind_canonical(nb::module_ &m);
void bind_checksum(nb::module_ &m);
void bind_column(nb::module_ &m);
void bind_cuts(nb::module_ &m);
void bind_grow(nb::module_ &m);
void bind_labels(nb::module_ &m);
void bind_lookahead(nb::module_ &m);
void bind_prune(nb::module_ &m);
void bind_relational(nb::module_ &m);
void bind_rows(nb::module_ &m);
void bind_scan(nb::module_ &m);
void bind_scores(nb::module_ &m);
void bind_settling(nb::module_ &m);
void bind_stop(nb::module_ &m);
void bind_tree(nb::module_ &m);

/// Whether another thread has asked the work of this one to end; a request is heard once. Needs the GIL.
bool stop_asked();

/// Looks at pending signals at most every 10 ms, taking the GIL only then. A handler that raised (Ctrl-C)
/// becomes nb::python_error, which carries the Python exception through the native frames; so does what
/// another thread asked for, as the same exception.
class SignalCancel : public Cancel {
  public:
    SignalCancel() { prepare_to_throw(); } // every call into the core makes one, before its work

  protected:
    void look() override {
        auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(10)) return;
        last_ = now;
        nb::gil_scoped_acquire gil;
        bool stop = PyErr_CheckSignals() != 0;
        if (!stop && stop_asked()) {
            PyErr_SetNone(PyExc_KeyboardInterrupt);
            stop = true;
        }
        if (stop) {
            request();
            throw nb::python_error();
        }
    }

  private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

} // namespace hornbeam
