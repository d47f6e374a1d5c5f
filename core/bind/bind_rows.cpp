// Rows that are kept, and the buckets that they are counted by, for Python.
#include "bind.hpp"

#include <functional>
#include <optional>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "scans/source_scan.hpp"
#include "source_rows.hpp"

namespace hornbeam {

void bind_rows(nb::module_ &m) {
    nb::register_exception_translator([](const std::exception_ptr &thrown, void *) {
        try {
            std::rethrow_exception(thrown);
        } catch (const DamagedBytes &damaged) {
            const nb::object error = nb::module_::import_("hornbeam.errors").attr("StorageError");
            PyErr_SetString(error.ptr(), damaged.what());
        }
    });
    m.def(
        "exponent_span",
        [](const Doubles &values) -> std::optional<std::pair<int, int>> {
            ExponentSpan span;
            for (std::size_t i = 0; i < values.size(); ++i) span.add(values.data()[i]);
            if (span.empty) return std::nullopt;
            return std::pair(span.lowest, span.highest);
        },
        nb::arg("values"),
        "(a, b): every number is a whole multiple of 2^a and below 2^b in size; None: all are 0.");
    nb::class_<RowLayout>(m, "RowLayout")
        .def(nb::new_(&layout_of), nb::arg("attributes"), nb::arg("n_classes"), nb::arg("n_folds") = 1,
             nb::arg("weights").none() = nb::none(), nb::arg("targets").none() = nb::none(),
             nb::arg("n_targets") = 0, nb::arg("rows") = 0,
             "attributes: (0, lowest, highest) floats, (1, lowest, highest) integers, (2, categories, None). "
             "Integers that span all 64 bits need a fourth number, one between them that no row has. "
             "weights, targets: the exponents that they span, of so many rows.")
        .def_prop_ro(
            "sum_words", [](const RowLayout &layout) { return layout.sums.words(); },
            "Words of the sums that a row has besides its number.")
        .def_prop_ro(
            "sum_fields",
            [](const RowLayout &layout) {
                const SumShape &sums = layout.sums;
                std::vector<std::size_t> words;
                if (sums.weighted()) words.push_back(sums.weight_words());
                words.insert(words.end(), sums.n_targets(), sums.y_words());
                words.insert(words.end(), sums.n_targets(), sums.yy_words());
                return words;
            },
            "Words of each sum: of weights, where rows weigh differently; of each target; of its squares.")
        .def_ro("stride", &RowLayout::stride)
        .def(
            "keys",
            [](const RowLayout &layout, std::size_t attribute, const Numbers &values,
               const nb::object &missing) {
                if (attribute >= layout.attributes.size()) throw nb::index_error("no such attribute");
                std::vector<AttributeShape> one{layout.attributes[attribute]};
                const RowLayout alone(std::move(one), 1, 1);
                std::vector<ClassCode> classes(values.shape(0));
                Chunk chunk;
                chunk.n = values.shape(0);
                chunk.classes = classes;
                Flags flags;
                ChunkColumn column{type_of(values.dtype()), values.data(),
                                   static_cast<std::ptrdiff_t>(values.stride(0)), nullptr};
                if (!missing.is_none()) {
                    flags = nb::cast<Flags>(missing);
                    column.missing = flags.data();
                }
                chunk.columns = {column};
                RowBlock block(alone);
                std::vector<RowKey> keys;
                for (std::size_t first = 0; first < chunk.n; first += block_rows) {
                    block.read(alone, chunk, first, std::min(block_rows, chunk.n - first));
                    const RowKey *read = block.keys(alone, 0);
                    keys.insert(keys.end(), read, read + block.n);
                }
                return own_array(std::move(keys));
            },
            nb::arg("attribute"), nb::arg("values"), nb::arg("missing").none() = nb::none(),
            "The keys of values: whole numbers from 0 in their order; a missing one is past the highest.")
        .def(
            "value",
            [](const RowLayout &layout, std::size_t attribute, RowKey key) -> nb::object {
                const AttributeShape &shape = layout.attributes.at(attribute);
                if (shape.kind == ValueKind::floats) return nb::cast(shape.float_at(key));
                return nb::cast(shape.nominal() ? static_cast<std::int64_t>(key) : shape.integer_at(key));
            },
            nb::arg("attribute"), nb::arg("key"), "The value that a key stands for.")
        .def("missing_key", [](const RowLayout &layout, std::size_t attribute) {
            if (attribute >= layout.attributes.size()) throw nb::index_error("no such attribute");
            return layout.attributes[attribute].missing();
        });
    nb::class_<Grid>(m, "Grid")
        .def(nb::new_([](std::shared_ptr<RowLayout> layout, const nb::list &edges) {
                 auto table = std::make_shared<Grid>();
                 if (edges.size() != layout->attributes.size())
                     throw std::invalid_argument("there are edges, or None, for each attribute");
                 for (std::size_t a = 0; a < edges.size(); ++a) {
                     const AttributeShape &shape = layout->attributes[a];
                     std::vector<RowKey> of_attribute;
                     if (!edges[a].is_none()) {
                         auto given = nb::cast<Keys>(edges[a]);
                         of_attribute.assign(given.data(), given.data() + given.shape(0));
                         if (of_attribute.empty() || of_attribute.back() != shape.highest ||
                             !std::is_sorted(of_attribute.begin(), of_attribute.end(), std::less_equal<>()))
                             throw std::invalid_argument("edges ascend to the highest key");
                     } else if (shape.highest >= std::uint32_t{1} << 31) {
                         throw std::invalid_argument("an attribute has too many values for a bucket each");
                     }
                     table->of.emplace_back(shape, std::move(of_attribute));
                 }
                 return table;
             }),
             nb::arg("layout"), nb::arg("edges"))
        .def(
            "size", [](const Grid &t, std::size_t a) { return t.of.at(a).size(); }, nb::arg("attribute"))
        .def(
            "edges",
            [](const Grid &t, std::size_t a) -> nb::object {
                const std::vector<RowKey> &edges = t.of.at(a).edges();
                return edges.empty() ? nb::none() : nb::cast(own_array(std::vector<RowKey>(edges)));
            },
            nb::arg("attribute"), "What the grid was made from.")
        .def(
            "single", [](const Grid &t, std::size_t a, std::uint32_t b) { return t.of.at(a).single(b); },
            nb::arg("attribute"), nb::arg("bucket"))
        .def(
            "low", [](const Grid &t, std::size_t a, std::uint32_t b) { return t.of.at(a).low(b); },
            nb::arg("attribute"), nb::arg("bucket"), "The least key of a bucket.")
        .def(
            "high", [](const Grid &t, std::size_t a, std::uint32_t b) { return t.of.at(a).high(b); },
            nb::arg("attribute"), nb::arg("bucket"), "The greatest key of a bucket.")
        .def(
            "of",
            [](const Grid &t, std::size_t a, const Keys &keys) {
                std::vector<std::uint32_t> out(keys.shape(0));
                for (std::size_t i = 0; i < out.size(); ++i) out[i] = t.of.at(a).of(keys.data()[i]);
                return own_array(std::move(out));
            },
            nb::arg("attribute"), nb::arg("keys"), "The bucket of each key.");
    nb::class_<KeptRows>(m, "KeptRows")
        .def_prop_ro("rows", [](const KeptRows &k) { return k.store.rows(); })
        .def_prop_ro("bytes", [](const KeptRows &k) { return k.store.bytes(); })
        .def("blocks", &KeptRows::blocks, "The rows as bytes, block by block.")
        .def(
            "encode",
            [](const KeptRows &k, const nb::list &others) {
                const HeldBlocks held(*k.layout, others);
                RowParts parts = held.rows;
                k.store.each([&](const std::uint8_t *bytes, std::size_t n) {
                    parts.emplace_back(bytes, n * k.layout->stride);
                });
                return encode_parts(*k.layout, parts);
            },
            nb::arg("others") = nb::list(),
            "The table of these rows, and of others that were put away; their classes or targets, weights "
            "and folds.")
        .def("take", [](KeptRows &k, KeptRows &other) { k.store.take(std::move(other.store)); });
    m.def(
        "give_back",
        [] {
#ifdef __GLIBC__
            // What is freed in the middle of its heap glibc keeps otherwise, and a limit counts it.
            malloc_trim(0);
#endif
        },
        "Give memory that is free back to the operating system.");
}

} // namespace hornbeam
