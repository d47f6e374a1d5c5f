// The native module: one bind_<room>.cpp for each room of the core.
#include "bind.hpp"

NB_MODULE(_core, m) {
    m.doc() = "Hornbeam's native core.";
    hornbeam::bind_column(m);
    hornbeam::bind_grow(m);
    hornbeam::bind_labels(m);
    hornbeam::bind_tree(m);
}
