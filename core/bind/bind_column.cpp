// Encoding of columns for Python.
#include "bind.hpp"

#include "hornbeam/column.hpp"

namespace hornbeam {

void bind_column(nb::module_ &m) { nb::class_<EncodedTable>(m, "EncodedTable"); }

} // namespace hornbeam
