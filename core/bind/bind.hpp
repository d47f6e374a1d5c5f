// What the binding files share: the rooms' entry points, and native work without Python's lock.
#pragma once

#include <nanobind/nanobind.h>

#include "gil.hpp"

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

} // namespace hornbeam
