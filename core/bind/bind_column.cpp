#include "bind.hpp"
#include <nanobind/ndarray.h>
#include "hornbeam/column.hpp"
namespace hornbeam {
void bind_column(nb::module_ &m) { nb::class_<EncodedTable>(m, "EncodedTable");
 m.def("encode", [](nb::list cols, std::size_t n, int threads){ EncodedTable t; t.n_rows=n; Cancel c;
   for (auto h : cols) { auto tup = nb::cast<nb::tuple>(h); int kind = nb::cast<int>(tup[0]);
     if (kind==0) { auto a = nb::cast<nb::ndarray<const double, nb::ndim<1>>>(tup[1]); t.columns.emplace_back(encode_floats({a.data(), a.stride(0)}, n, c)); }
     else { auto a = nb::cast<nb::ndarray<const int32_t, nb::ndim<1>>>(tup[1]); NominalColumn k; k.codes.assign(a.data(), a.data()+n); k.n_categories = nb::cast<int>(tup[3]); t.columns.emplace_back(std::move(k)); } }
   return t; }, nb::arg("columns"), nb::arg("n_rows"), nb::arg("threads")=1); }
}
