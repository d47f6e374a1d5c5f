// Rows of a source as Python hands them over, and as it keeps them.
#pragma once

#include "bind.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include "numbers/keys.hpp"
#include "scans/rows.hpp"
#include "table/column.hpp"
#include "tree_arrays.hpp"

namespace hornbeam {

using Numbers = nb::ndarray<nb::ndim<1>, nb::device::cpu, nb::ro>;
using Flags = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Classes = nb::ndarray<const ClassCode, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Keys = nb::ndarray<const RowKey, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Words = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// (0, lowest, highest) floats, (1, lowest, highest) integers, (2, categories, None). Integers that span all
/// 64 bits need a fourth number, one between them that no row has.
inline AttributeShape shape_of(nb::handle given) {
    auto fields = nb::cast<nb::tuple>(given);
    AttributeShape shape;
    const int kind = nb::cast<int>(fields[0]);
    if (kind == 2) {
        shape.kind = ValueKind::nominal;
        shape.highest = static_cast<RowKey>(std::max<std::int64_t>(1, nb::cast<std::int64_t>(fields[1])) - 1);
        return shape;
    }
    shape.kind = kind == 0 ? ValueKind::floats : ValueKind::integers;
    if (fields[1].is_none()) return shape; // no value
    auto key = [&](nb::handle value) {
        return kind == 0 ? key_of(nb::cast<double>(value)) : key_of(nb::cast<std::int64_t>(value));
    };
    shape.lowest = key(fields[1]);
    if (fields.size() > 3) shape.unused = key(fields[3]) - shape.lowest;
    shape.highest = shape.key_at(key(fields[2]) - shape.lowest);
    return shape;
}

/// (lowest, highest), or None where there is no number but 0.
inline ExponentSpan span_of(const nb::object &given) {
    ExponentSpan span;
    if (given.is_none()) return span;
    std::tie(span.lowest, span.highest) = nb::cast<std::pair<int, int>>(given);
    span.empty = false;
    return span;
}

inline std::shared_ptr<RowLayout> layout_of(const nb::list &attributes, std::size_t n_classes,
                                            std::size_t n_folds, const nb::object &weights,
                                            const nb::object &targets, std::size_t n_targets,
                                            std::uint64_t rows) {
    if (n_classes == 0 || n_folds == 0) throw std::invalid_argument("there are no classes or no folds");
    if (n_targets != 0 && n_classes != 1)
        throw std::invalid_argument("either classes or numbers are predicted");
    SumShape sums(span_of(weights), span_of(targets), n_targets, rows);
    std::vector<AttributeShape> shapes;
    for (nb::handle a : attributes) shapes.push_back(shape_of(a));
    return std::make_shared<RowLayout>(std::move(shapes), n_classes, n_folds, std::move(sums));
}

inline ChunkColumn::Type type_of(nb::dlpack::dtype type) {
    using Type = ChunkColumn::Type;
    if (type == nb::dtype<float>()) return Type::f32;
    if (type == nb::dtype<double>()) return Type::f64;
    if (type == nb::dtype<std::int8_t>()) return Type::i8;
    if (type == nb::dtype<std::int16_t>()) return Type::i16;
    if (type == nb::dtype<std::int32_t>()) return Type::i32;
    if (type == nb::dtype<std::int64_t>()) return Type::i64;
    if (type == nb::dtype<std::uint8_t>()) return Type::u8;
    if (type == nb::dtype<std::uint16_t>()) return Type::u16;
    if (type == nb::dtype<std::uint32_t>()) return Type::u32;
    throw std::invalid_argument("a column is of no type that scans read");
}

/// A chunk and the arrays that it points into.
struct HeldChunk {
    Chunk chunk;
    std::vector<Numbers> arrays;
    std::vector<Flags> flags;
    std::vector<Classes> classes;
    std::vector<Doubles> doubles;

    /// (values, missing or None) for each column; classes or targets, and weights, as the layout says.
    HeldChunk(const RowLayout &layout, const nb::list &columns, const nb::object &of_rows,
              const nb::object &folds, const nb::object &weights, const nb::object &targets) {
        const std::size_t q = layout.sums.n_targets();
        if (of_rows.is_none() != (q != 0) || targets.is_none() != (q == 0) ||
            weights.is_none() == layout.sums.weighted())
            throw std::invalid_argument("classes, targets or weights are not those of the layout");
        chunk.n = q != 0 ? nb::cast<Doubles>(targets).shape(0) : nb::cast<Classes>(of_rows).shape(0);
        if (columns.size() != layout.attributes.size())
            throw std::invalid_argument("a chunk has other columns than its layout");
        for (nb::handle column : columns) add(nb::cast<nb::tuple>(column));
        if (q == 0) {
            classes.push_back(nb::cast<Classes>(of_rows));
            chunk.classes = {classes.back().data(), chunk.n};
        }
        for (ClassCode c : chunk.classes)
            if (c >= layout.n_classes) throw std::invalid_argument("a class code is not below n_classes");
        if (q != 0) chunk.targets = numbers(targets, chunk.n * q, layout.sums.targets());
        if (!weights.is_none()) chunk.weights = numbers(weights, chunk.n, layout.sums.weights());
        if (folds.is_none() != (layout.n_folds == 1))
            throw std::invalid_argument("folds are given where there are several, and only there");
        if (folds.is_none()) return;
        classes.push_back(nb::cast<Classes>(folds));
        chunk.folds = {classes.back().data(), classes.back().shape(0)};
        if (chunk.folds.size() != chunk.n) throw std::invalid_argument("folds and rows differ in number");
        for (std::uint16_t f : chunk.folds)
            if (f >= layout.n_folds) throw std::invalid_argument("a fold is not below n_folds");
    }

  private:
    /// Numbers that sums have room for.
    std::span<const double> numbers(const nb::object &given, std::size_t size, const ExponentSpan &span) {
        doubles.push_back(nb::cast<Doubles>(given));
        if (doubles.back().size() != size) throw std::invalid_argument("numbers and rows differ in number");
        if (!holds(span, {doubles.back().data(), size}))
            throw std::invalid_argument(
                "a target or weight is another than the rows had before: the source has changed");
        return {doubles.back().data(), size};
    }
    void add(const nb::tuple &column) {
        arrays.push_back(nb::cast<Numbers>(column[0]));
        const Numbers &values = arrays.back();
        ChunkColumn c{type_of(values.dtype()), values.data(), static_cast<std::ptrdiff_t>(values.stride(0)),
                      nullptr};
        if (values.shape(0) != chunk.n)
            throw std::invalid_argument("the columns of a chunk differ in length");
        if (!column[1].is_none()) {
            flags.push_back(nb::cast<Flags>(column[1]));
            if (flags.back().shape(0) != chunk.n) throw std::invalid_argument("a mask differs in length");
            c.missing = flags.back().data();
        }
        chunk.columns.push_back(c);
    }
};

/// Rows that were kept, and how they are laid out.
struct KeptRows {
    std::shared_ptr<const RowLayout> layout;
    RowStore store;

    KeptRows(std::shared_ptr<const RowLayout> layout, RowStore store)
        : layout(std::move(layout)), store(std::move(store)) {}
    KeptRows(const KeptRows &) = delete;
    KeptRows(KeptRows &&) = default;

    nb::list blocks() const {
        nb::list out;
        store.each([&](const std::uint8_t *bytes, std::size_t n) {
            out.append(nb::bytes(bytes, n * layout->stride));
        });
        return out;
    }
};

using RowParts = std::vector<std::span<const std::uint8_t>>;

/// Reads rows that lie in several parts, a block at a time: body(block, number of the block's first row).
template <class Body>
void read_parts(const RowLayout &layout, const RowParts &parts, Cancel &cancel, Body body) {
    RowBlock block(layout);
    std::size_t at = 0;
    for (auto part : parts)
        for (std::size_t first = 0, rows = part.size() / layout.stride; first < rows; first += block_rows) {
            cancel.poll();
            block.open(layout, part.data() + first * layout.stride, std::min(block_rows, rows - first));
            body(block, at);
            at += block.n;
        }
}

/// A column as the grower has it.
inline Column encoded_column(const AttributeShape &shape, std::unique_ptr<RowKey[]> keys, std::size_t n,
                             Cancel &cancel) {
    if (shape.nominal()) {
        NominalColumn column;
        column.n_categories = static_cast<std::int32_t>(shape.highest + 1);
        column.codes.resize(n);
        for (std::size_t i = 0; i < n; ++i)
            column.codes[i] = keys[i] == shape.missing() ? -1 : static_cast<std::int32_t>(keys[i]);
        return column;
    }
    if (shape.kind == ValueKind::floats) {
        auto values = std::make_unique_for_overwrite<double[]>(n);
        for (std::size_t i = 0; i < n; ++i)
            values[i] = keys[i] == shape.missing() ? std::numeric_limits<double>::quiet_NaN()
                                                   : shape.float_at(keys[i]);
        keys.reset();
        return encode_floats({values.get(), 1}, n, cancel);
    }
    auto values = std::make_unique_for_overwrite<std::int64_t[]>(n);
    std::vector<std::uint8_t> missing;
    for (std::size_t i = 0; i < n; ++i) {
        if (keys[i] == shape.missing()) {
            missing.resize(n);
            missing[i] = 1;
        }
        values[i] = keys[i] == shape.missing() ? 0 : shape.integer_at(keys[i]);
    }
    keys.reset();
    return encode_integers({values.get(), 1}, missing.empty() ? nullptr : missing.data(), n, cancel);
}

/// The columns of all attributes, a few at a time: their keys lie side by side, so that going through the
/// rows serves all of them, and a few take little beside the table.
inline void encode_columns(const RowLayout &layout, const RowParts &parts, EncodedTable &table,
                           Cancel &cancel) {
    constexpr std::size_t few = 4;
    const std::size_t n = table.n_rows, n_attributes = layout.attributes.size();
    for (std::size_t first = 0; first < n_attributes; first += few) {
        std::vector<std::unique_ptr<RowKey[]>> keys(std::min(few, n_attributes - first));
        for (auto &k : keys) k = std::make_unique_for_overwrite<RowKey[]>(n);
        read_parts(layout, parts, cancel, [&](RowBlock &block, std::size_t at) {
            for (std::size_t i = 0; i < keys.size(); ++i)
                std::copy_n(block.keys(layout, first + i), block.n, keys[i].get() + at);
        });
        for (std::size_t i = 0; i < keys.size(); ++i)
            table.columns.push_back(
                encoded_column(layout.attributes[first + i], std::move(keys[i]), n, cancel));
    }
}

/// What the grower takes: the table, the class or the targets of each row, and its weight and fold or None.
inline nb::tuple encode_parts(const RowLayout &layout, const RowParts &parts) {
    std::size_t n = 0;
    for (auto part : parts) n += part.size() / layout.stride;
    if (n > 0x7FFFFFFF) throw std::invalid_argument("a table has at most 2147483647 rows");
    EncodedTable table;
    table.n_rows = n;
    std::vector<ClassCode> classes(n);
    std::vector<std::uint16_t> folds(layout.n_folds > 1 ? n : 0);
    const std::size_t q = layout.sums.n_targets();
    std::vector<double> targets(n * q), weights(layout.sums.weighted() ? n : 0);
    {
        SignalCancel cancel;
        WithoutGil released(cancel);
        encode_columns(layout, parts, table, cancel);
        read_parts(layout, parts, cancel, [&](const RowBlock &block, std::size_t at) {
            std::copy_n(block.targets.begin(), block.n * q, targets.data() + at * q);
            if (!weights.empty()) std::copy_n(block.weights.begin(), block.n, weights.data() + at);
            for (std::size_t i = 0; i < block.n; ++i) {
                classes[at + i] = static_cast<ClassCode>(block.joint[i] % layout.n_classes);
                if (!folds.empty())
                    folds[at + i] = static_cast<std::uint16_t>(block.joint[i] / layout.n_classes);
            }
        });
    }
    nb::object of_folds = folds.empty() ? nb::none() : nb::cast(own_array(std::move(folds)));
    nb::object of_weights = weights.empty() ? nb::none() : nb::cast(own_array(std::move(weights)));
    nb::object said =
        q == 0 ? nb::cast(own_array(std::move(classes))) : nb::cast(own_array(std::move(targets)));
    return nb::make_tuple(std::move(table), said, of_weights, of_folds);
}

/// Rows that were put away, as arrays of bytes.
struct HeldBlocks {
    std::vector<Bytes> arrays;
    std::vector<std::span<const std::uint8_t>> rows;

    HeldBlocks(const RowLayout &layout, const nb::list &blocks) {
        for (nb::handle block : blocks) {
            arrays.push_back(nb::cast<Bytes>(block));
            rows.emplace_back(arrays.back().data(), arrays.back().shape(0));
            if (rows.back().size() % layout.stride != 0)
                throw std::invalid_argument("a block is not whole rows");
        }
    }
};

} // namespace hornbeam
