// The native module: one bind_<room>.cpp for each room of the core.
#include "bind.hpp"

namespace nb = nanobind;

NB_MODULE(_core, m) {
    // A thread or a traceback may still hold an object at exit; the interpreter frees it all the same.
    nb::set_leak_warnings(false);
    m.doc() = "Hornbeam's native core.";
    hornbeam::bind_canonical(m);
    hornbeam::bind_checksum(m);
    hornbeam::bind_column(m);
    hornbeam::bind_cuts(m);
    hornbeam::bind_grow(m);
    hornbeam::bind_labels(m);
    hornbeam::bind_lookahead(m);
    hornbeam::bind_prune(m);
    hornbeam::bind_relational(m);
    hornbeam::bind_rows(m);
    hornbeam::bind_scan(m);
    hornbeam::bind_scores(m);
    hornbeam::bind_settling(m);
    hornbeam::bind_stop(m);
    hornbeam::bind_tree(m);
}
