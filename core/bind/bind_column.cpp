// Encoding of columns for Python.
#include "bind.hpp"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "table/column.hpp"
#include "tree_arrays.hpp"

namespace hornbeam {

namespace {

[[noreturn]] void refuse(std::size_t j, const std::string &what) {
    throw nb::value_error(("column " + std::to_string(j) + ": " + what).c_str());
}

/// Turns columns into sources that point into the caller's arrays, and keeps these alive.
class Reader {
  public:
    explicit Reader(std::size_t n_rows) : n_rows_(n_rows) {}

    Source read(nb::handle column, std::size_t j) {
        nb::tuple fields;
        if (!nb::try_cast(column, fields, false) || fields.size() != 4) {
            refuse(j, "not a tuple (kind, values, missing, n_categories)");
        }
        int kind = -1;
        if (!nb::try_cast(fields[0], kind, false)) refuse(j, "kind is not an integer");
        if (kind != 1 && !fields[2].is_none()) {
            refuse(j, "only an integer column (kind 1) takes a missing mask");
        }
        if (kind == 0) return view<double>(fields[1], "float64", j);
        if (kind == 1) {
            IntegerSource source{view<std::int64_t>(fields[1], "int64", j), nullptr};
            if (!fields[2].is_none()) {
                source.missing = view<std::uint8_t, nb::c_contig>(fields[2], "contiguous uint8", j).data;
            }
            return source;
        }
        if (kind != 2) {
            refuse(j, "kind " + std::to_string(kind) + "; allowed are 0 float, 1 integer, 2 nominal");
        }
        NominalSource source;
        if (!nb::try_cast(fields[3], source.n_categories, false) || source.n_categories < 0) {
            refuse(j, "n_categories is not an integer from 0 to 2147483647");
        }
        source.codes = view<std::int32_t, nb::c_contig>(fields[1], "contiguous int32", j).data;
        return source;
    }

  private:
    /// Never a copy.
    template <class T, class... Order> Strided<T> view(nb::handle values, const char *type, std::size_t j) {
        nb::ndarray<const T, nb::ndim<1>, nb::device::cpu, Order...> array;
        if (!nb::try_cast(values, array, false)) {
            refuse(j, std::string("not a one-dimensional ") + type + " array");
        }
        if (array.shape(0) != n_rows_) {
            refuse(j, std::to_string(array.shape(0)) + " values in a table of " + std::to_string(n_rows_) +
                          " rows");
        }
        kept_.emplace_back(array);
        return {array.data(), static_cast<std::ptrdiff_t>(array.stride(0))};
    }

    std::size_t n_rows_;
    std::vector<nb::ndarray<nb::ro>> kept_;
};

EncodedTable encode_columns(nb::list columns, std::int64_t n_rows, int threads) {
    if (n_rows < 0 || n_rows > 0x7FFFFFFF) {
        throw nb::value_error(
            ("n_rows is " + std::to_string(n_rows) + "; allowed are 0 to 2147483647").c_str());
    }
    if (threads < 1) {
        throw nb::value_error(("threads is " + std::to_string(threads) + "; at least 1 is needed").c_str());
    }
    const auto n = static_cast<std::size_t>(n_rows);
    Reader reader(n);
    std::vector<Source> sources;
    for (nb::handle column : columns) sources.push_back(reader.read(column, sources.size()));
    SignalCancel cancel;
    WithoutGil released(cancel);
    return encode(sources, n, static_cast<unsigned>(threads), cancel);
}

nb::dict describe(NumericColumn column) {
    SignalCancel cancel;
    column.list_rows(cancel);
    std::vector<std::uint32_t> ranks, rows;
    for (const Entry e : column.entries) {
        ranks.push_back(rank_of(e));
        rows.push_back(row_of(e));
    }
    nb::dict out;
    out["kind"] = column.is_integer ? 1 : 0;
    out["ranks"] = own_array(std::move(ranks));
    out["rows"] = own_array(std::move(rows));
    if (column.is_integer)
        out["values"] = own_array(std::vector(column.integers));
    else
        out["values"] = own_array(std::vector(column.floats));
    return out;
}

nb::dict describe(const NominalColumn &column) {
    nb::dict out;
    out["kind"] = 2;
    out["codes"] = own_array(std::vector(column.codes));
    out["n_categories"] = column.n_categories;
    return out;
}

nb::dict column_of(const EncodedTable &table, std::int64_t j) {
    if (j < 0 || j >= static_cast<std::int64_t>(table.columns.size())) {
        throw nb::index_error(("column " + std::to_string(j) + " of a table of " +
                               std::to_string(table.columns.size()) + " columns")
                                  .c_str());
    }
    return std::visit([](const auto &column) { return describe(column); },
                      table.columns[static_cast<std::size_t>(j)]);
}

} // namespace

void bind_column(nb::module_ &m) {
    nb::class_<EncodedTable>(m, "EncodedTable", "Columns presorted for the grower.")
        .def_ro("n_rows", &EncodedTable::n_rows)
        .def_prop_ro("n_columns", [](const EncodedTable &table) { return table.columns.size(); })
        .def("column", &column_of, nb::arg("j"), "A copy of column j as a dict of arrays.");
    m.def("encode", &encode_columns, nb::arg("columns"), nb::arg("n_rows"), nb::arg("threads") = 1,
          "Presorts columns given as tuples (kind, values, missing, n_categories).");
}

} // namespace hornbeam
