// Hashes of rows for Python.
#include "bind.hpp"

#include <string>
#include <utility>
#include <vector>

#include "table/checksum.hpp"
#include "tree_arrays.hpp"

namespace hornbeam {

namespace {

using Values = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Words = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using WordColumns = nb::typed<nb::list, nb::any>;

[[noreturn]] void refuse(std::size_t j, const char *what) {
    throw nb::value_error(("column " + std::to_string(j) + ": " + what).c_str());
}

template <class... T> bool point_at(Cells &cells, const Values &values, std::variant<const T *...>) {
    const auto one = [&]<class U>(const U *) {
        if (values.dtype() != nb::dtype<U>()) return false;
        cells = static_cast<const U *>(values.data());
        return true;
    };
    return (one(static_cast<const T *>(nullptr)) || ...);
}

/// The tuples keep the arrays alive for as long as the call lasts.
WordColumn read(nb::handle item, std::size_t j, std::size_t n_rows) {
    nb::tuple fields;
    Values values;
    WordColumn out;
    if (!nb::try_cast(item, fields, false) || fields.size() != 4)
        refuse(j, "not a tuple (values, missing, factor, table)");
    if (!nb::try_cast(fields[0], values, false) || !point_at(out.cells, values, Cells()))
        refuse(j, "not a contiguous array of integers, float32 or float64");
    if (values.shape(0) != n_rows) refuse(j, "the values are not as many as the rows");
    if (!nb::try_cast(fields[2], out.factor, false)) refuse(j, "the factor is not an integer of 64 bits");
    Bytes missing;
    Words table;
    if (!fields[1].is_none()) {
        if (!nb::try_cast(fields[1], missing, false) || missing.shape(0) != n_rows)
            refuse(j, "missing is not a uint8 array of as many rows");
        out.missing = missing.data();
    }
    if (!fields[3].is_none()) {
        if (!nb::try_cast(fields[3], table, false) || table.shape(0) == 0)
            refuse(j, "the table is not a uint64 array of at least one word");
        out.table = {table.data(), table.shape(0)};
    }
    return out;
}

std::vector<WordColumn> read_all(const nb::list &columns, std::size_t n_rows) {
    std::vector<WordColumn> out;
    for (nb::handle column : columns) out.push_back(read(column, out.size(), n_rows));
    return out;
}

std::uint64_t sum_rows(const WordColumns &columns, std::size_t n_rows) {
    const auto given = read_all(columns, n_rows);
    SignalCancel cancel;
    WithoutGil released(cancel);
    return checksum(given, n_rows);
}

auto hashes_of_rows(const WordColumns &columns, std::size_t n_rows) {
    const auto given = read_all(columns, n_rows);
    std::vector<std::uint64_t> hashes(n_rows);
    {
        SignalCancel cancel;
        WithoutGil released(cancel);
        hash_rows(given, hashes);
    }
    return own_array(std::move(hashes));
}

nb::tuple folds_of_rows(nb::handle key, std::size_t n_rows, std::uint16_t k, std::uint64_t seed) {
    if (k == 0) throw nb::value_error("k is 0; at least 1 fold is needed");
    const WordColumn column = read(key, 0, n_rows);
    std::vector<std::uint16_t> folds(n_rows);
    std::size_t missing = 0;
    {
        SignalCancel cancel;
        WithoutGil released(cancel);
        missing = deal_folds(column, k, seed, folds);
    }
    return nb::make_tuple(own_array(std::move(folds)), missing);
}

} // namespace

void bind_checksum(nb::module_ &m) {
    m.def("checksum", &sum_rows, nb::arg("columns"), nb::arg("n_rows"),
          "The sum of the hashes of rows, columns given as tuples (values, missing, factor, table).");
    m.def("hash_rows", &hashes_of_rows, nb::arg("columns"), nb::arg("n_rows"),
          "The hash of each row (uint64), of which `checksum` gives the sum.");
    m.def("deal_folds", &folds_of_rows, nb::arg("key"), nb::arg("n_rows"), nb::arg("k"), nb::arg("seed"),
          "The fold of each row (uint16) by its key, such a tuple with the factor 1, and how many are "
          "missing.");
}

} // namespace hornbeam
