// A stop that also tells Python how far a growth is.
#pragma once

#include "bind.hpp"

#include "growth/grow.hpp"

namespace hornbeam {

/// Tells Python every tenth of a second which share of the rows rests in a leaf.
class ReportingCancel : public SignalCancel {
  public:
    ReportingCancel(const GrowProgress &progress, const nb::object &report)
        : progress_(progress), report_(report) {}

  protected:
    void look() override {
        SignalCancel::look();
        if (report_.is_none()) return;
        auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(100)) return;
        last_ = now;
        auto all = static_cast<double>(progress_.all.load()),
             settled = static_cast<double>(progress_.settled.load());
        WithGil gil(*this);
        if (!call_or_park(*this, [report = report_.ptr(), share = all == 0.0 ? 0.0 : settled / all] {
                PyObject *answer = PyObject_CallFunction(report, "d", share);
                Py_XDECREF(answer);
                return answer != nullptr;
            }))
            throw nb::python_error();
    }

  private:
    const GrowProgress &progress_;
    const nb::object &report_;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

} // namespace hornbeam
