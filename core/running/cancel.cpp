// What a loop does once it is stopped.
#include "running/cancel.hpp"

namespace hornbeam {

void Cancel::look() {}

void Cancel::stop() { throw Cancelled(); }

} // namespace hornbeam
