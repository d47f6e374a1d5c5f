// Encoding of labels for Python: lists and arrays of str, arrays of fixed-width text, arrays of int64.
#include "bind.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include <nanobind/stl/string.h>

#include "table/labels.hpp"
#include "tree_arrays.hpp"

namespace hornbeam {

namespace {

/// A buffer that is released on every way out.
struct Buffer {
    explicit Buffer(nb::handle source) {
        if (PyObject_GetBuffer(source.ptr(), &view, PyBUF_RECORDS_RO) != 0) throw nb::python_error();
    }
    ~Buffer() { PyBuffer_Release(&view); }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    Py_buffer view;
};

/// Codes of Python strings. Rows often share one object, so the code of a recent address is remembered.
class ObjectEncoder {
  public:
    explicit ObjectEncoder(std::size_t n) : codes_(n) {}

    void add(std::size_t i, PyObject *value) {
        if (i % 65536 == 0) look_at_signals();
        auto &[address, code] = recent_[std::bit_cast<std::uintptr_t>(value) * 0x9E3779B97F4A7C15u >> 54];
        if (address != value || value == nullptr) {
            code = code_of(i, value);
            address = value;
        }
        codes_[i] = code;
    }
    EncodedLabels finish() {
        SignalCancel cancel;
        return sort_labels(std::move(codes_), {table_.labels().begin(), table_.labels().end()}, cancel);
    }

  private:
    /// A handler may run Python code, after which an address can belong to another object.
    void look_at_signals() {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        recent_ = {};
    }
    std::int32_t code_of(std::size_t i, PyObject *value) {
        if (value == nullptr || value == Py_None) return -1;
        if (PyUnicode_Check(value)) {
            Py_ssize_t size = 0;
            const char *text = PyUnicode_AsUTF8AndSize(value, &size);
            if (text) return table_.code({text, static_cast<std::size_t>(size)});
            if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) throw nb::python_error();
            PyErr_Clear();
            throw nb::value_error(("label at position " + std::to_string(i) +
                                   " is not Unicode text (lone surrogate); only text that UTF-8 can hold is "
                                   "allowed: repair it")
                                      .c_str());
        }
        if (PyFloat_Check(value) && std::isnan(PyFloat_AsDouble(value))) return -1;
        throw nb::type_error(("label at position " + std::to_string(i) + " is of type " +
                              nb::cast<std::string>(nb::handle(value).type().attr("__name__")) +
                              "; allowed are str, and None or NaN for missing: convert the labels to str")
                                 .c_str());
    }

    struct Recent {
        PyObject *address = nullptr;
        std::int32_t code = -1;
    };
    std::array<Recent, 1024> recent_;
    LabelTable table_;
    std::vector<std::int32_t> codes_;
};

EncodedLabels encode_list(nb::handle list) {
    const auto n = static_cast<std::size_t>(PyList_Size(list.ptr()));
    ObjectEncoder encoder(n);
    for (std::size_t i = 0; i < n; ++i) {
        PyObject *value = PyList_GetItem(list.ptr(), static_cast<Py_ssize_t>(i));
        if (!value) throw nb::python_error();
        encoder.add(i, value);
    }
    return encoder.finish();
}

EncodedLabels encode_objects(const Py_buffer &view) {
    const auto n = static_cast<std::size_t>(view.shape[0]);
    ObjectEncoder encoder(n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto offset = static_cast<Py_ssize_t>(i) * view.strides[0];
        PyObject *value;
        std::memcpy(&value, static_cast<const char *>(view.buf) + offset, sizeof value);
        encoder.add(i, value);
    }
    return encoder.finish();
}

EncodedLabels encode_fixed(const Py_buffer &view) {
    const bool big = view.format[0] == '>', native_big = std::endian::native == std::endian::big;
    const FixedText text{static_cast<const char *>(view.buf), view.strides[0],
                         static_cast<std::size_t>(view.shape[0]), static_cast<std::size_t>(view.itemsize) / 4,
                         big != native_big && (big || view.format[0] == '<')};
    SignalCancel cancel;
    WithoutGil released(cancel);
    return encode_text(text, cancel);
}

EncodedLabels encode_any(nb::handle values) {
    if (PyList_Check(values.ptr())) return encode_list(values);
    if (PyObject_CheckBuffer(values.ptr())) {
        const Buffer buffer(values);
        const std::string format = buffer.view.format ? buffer.view.format : "";
        if (buffer.view.ndim == 1 && format == "O") return encode_objects(buffer.view);
        if (buffer.view.ndim == 1 && format.ends_with('w')) return encode_fixed(buffer.view);
    }
    throw nb::type_error(("labels of type " + nb::cast<std::string>(values.type().attr("__name__")) +
                          "; allowed are a list of str or a one-dimensional array of str: convert them")
                             .c_str());
}

nb::tuple encode_labels(nb::handle values) {
    EncodedLabels encoded = encode_any(values);
    nb::list labels;
    SignalCancel cancel;
    Pace pace(cancel, 100);
    for (const std::string &label : encoded.labels) {
        pace.step();
        labels.append(nb::str(label.data(), label.size()));
    }
    return nb::make_tuple(own_array(std::move(encoded.codes)), labels);
}

nb::tuple encode_ints(nb::ndarray<const std::int64_t, nb::ndim<1>, nb::device::cpu> values) {
    EncodedIntegers encoded;
    {
        SignalCancel cancel;
        WithoutGil released(cancel);
        encoded = encode_integer_labels({values.data(), static_cast<std::ptrdiff_t>(values.stride(0))},
                                        values.shape(0), cancel);
    }
    return nb::make_tuple(own_array(std::move(encoded.codes)), own_array(std::move(encoded.distinct)));
}

using Places = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class... T>
std::vector<std::int32_t> recode_any(const Places &values, Table table, std::int64_t low) {
    std::vector<std::int32_t> codes;
    const auto one = [&]<class U>(const U *) {
        if (values.dtype() != nb::dtype<U>()) return false;
        SignalCancel cancel;
        WithoutGil released(cancel);
        codes = recode<U>({static_cast<const U *>(values.data()), values.shape(0)},
                          {table.data(), table.shape(0)}, low);
        return true;
    };
    if (table.shape(0) == 0)
        throw nb::value_error("the table has no entry; give at least the one for others");
    if (!(one(static_cast<const T *>(nullptr)) || ...))
        throw nb::type_error("the values are not integers; give an array of int8 to uint64");
    return codes;
}

auto recode_values(const Places &values, Table table, std::int64_t low) {
    return own_array(recode_any<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                                std::uint16_t, std::uint32_t, std::uint64_t>(values, table, low));
}

} // namespace

void bind_labels(nb::module_ &m) {
    m.def("encode_labels", &encode_labels, nb::arg("values").none(),
          "Codes (int32, -1 for None or NaN) and the labels in order of their UTF-8 bytes.");
    m.def("encode_ints", &encode_ints, nb::arg("values").noconvert(),
          "Codes (int32) and the distinct values in ascending order.");
    m.def("recode", &recode_values, nb::arg("values").noconvert(), nb::arg("table").noconvert(),
          nb::arg("low") = 0,
          "The entry of a table that begins at low for each integer, and its last for those beyond it.");
}

} // namespace hornbeam
