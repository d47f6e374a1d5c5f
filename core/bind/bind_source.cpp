// Scans over sources, and nodes settled from them, for Python.
#include "bind.hpp"

#include <bit>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "grow_options.hpp"
#include "grown.hpp"
#include "hornbeam/keys.hpp"
#include "hornbeam/settling.hpp"
#include "tree_arrays.hpp"

namespace hornbeam {
namespace {

using Numbers = nb::ndarray<nb::ndim<1>, nb::device::cpu, nb::ro>;
using Flags = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Classes = nb::ndarray<const ClassCode, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Keys = nb::ndarray<const RowKey, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Words = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// ---- rows ----

/// (0, lowest, highest) floats, (1, lowest, highest) integers, (2, categories, None).
AttributeShape shape_of(nb::handle given) {
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
    shape.highest = key(fields[2]) - shape.lowest;
    return shape;
}

/// (lowest, highest), or None where there is no number but 0.
ExponentSpan span_of(const nb::object &given) {
    ExponentSpan span;
    if (given.is_none()) return span;
    std::tie(span.lowest, span.highest) = nb::cast<std::pair<int, int>>(given);
    span.empty = false;
    return span;
}

std::shared_ptr<RowLayout> layout_of(const nb::list &attributes, std::size_t n_classes, std::size_t n_folds,
                                     const nb::object &weights, const nb::object &targets,
                                     std::size_t n_targets, std::uint64_t rows) {
    if (n_classes == 0 || n_folds == 0) throw std::invalid_argument("there are no classes or no folds");
    if (n_targets != 0 && n_classes != 1)
        throw std::invalid_argument("either classes or numbers are predicted");
    SumShape sums(span_of(weights), span_of(targets), n_targets, rows);
    std::vector<AttributeShape> shapes;
    for (nb::handle a : attributes) shapes.push_back(shape_of(a));
    return std::make_shared<RowLayout>(std::move(shapes), n_classes, n_folds, std::move(sums));
}

ChunkColumn::Type type_of(nb::dlpack::dtype type) {
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
        ExponentSpan here;
        for (std::size_t i = 0; i < size; ++i) here.add(doubles.back().data()[i]);
        if (!here.empty && (span.empty || here.lowest < span.lowest || here.highest > span.highest))
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

/// Reads rows that lie in several parts, a block at a time: unpack(block, bytes, rows), then
/// body(block, number of the block's first row).
template <class Unpack, class Body>
void read_parts(const RowLayout &layout, const RowParts &parts, Cancel &cancel, Unpack unpack, Body body) {
    RowBlock block(layout);
    std::size_t at = 0;
    for (auto part : parts)
        for (std::size_t first = 0, rows = part.size() / layout.stride; first < rows; first += block_rows) {
            cancel.poll();
            unpack(block, part.data() + first * layout.stride, std::min(block_rows, rows - first));
            body(block, at);
            at += block.n;
        }
}

/// A column as the grower has it. Other columns are not touched, so that one at a time is unpacked.
Column encoded_column(const RowLayout &layout, const RowParts &parts, std::int32_t attribute, std::size_t n,
                      Cancel &cancel) {
    const auto a = static_cast<std::size_t>(attribute);
    const AttributeShape &shape = layout.attributes[a];
    auto read = [&](auto put) {
        read_parts(
            layout, parts, cancel,
            [&](RowBlock &block, const std::uint8_t *rows, std::size_t n_rows) {
                block.unpack_keys(layout, rows, n_rows, a);
            },
            [&](const RowBlock &block, std::size_t at) {
                for (std::size_t i = 0; i < block.n; ++i) put(at + i, block.keys[a][i]);
            });
    };
    if (shape.nominal()) {
        NominalColumn column;
        column.n_categories = static_cast<std::int32_t>(shape.highest + 1);
        column.codes.resize(n);
        read([&](std::size_t i, RowKey key) {
            column.codes[i] = key == shape.missing() ? -1 : static_cast<std::int32_t>(key);
        });
        return column;
    }
    if (shape.kind == ValueKind::floats) {
        auto values = std::make_unique_for_overwrite<double[]>(n);
        read([&](std::size_t i, RowKey key) {
            values[i] =
                key == shape.missing() ? std::numeric_limits<double>::quiet_NaN() : shape.float_at(key);
        });
        return encode_floats({values.get(), 1}, n, cancel);
    }
    auto values = std::make_unique_for_overwrite<std::int64_t[]>(n);
    std::vector<std::uint8_t> missing;
    read([&](std::size_t i, RowKey key) {
        if (key == shape.missing()) {
            missing.resize(n);
            missing[i] = 1;
        }
        values[i] = key == shape.missing() ? 0 : shape.integer_at(key);
    });
    return encode_integers({values.get(), 1}, missing.empty() ? nullptr : missing.data(), n, cancel);
}

/// What the grower takes: the table, the class or the targets and the weight of each row, and its fold.
nb::tuple encode_parts(const RowLayout &layout, const RowParts &parts) {
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
        nb::gil_scoped_release release;
        for (std::size_t a = 0; a < layout.attributes.size(); ++a)
            table.columns.push_back(encoded_column(layout, parts, static_cast<std::int32_t>(a), n, cancel));
        read_parts(
            layout, parts, cancel,
            [&](RowBlock &block, const std::uint8_t *rows, std::size_t n_rows) {
                block.unpack_joint(layout, rows, n_rows);
                if (!layout.sums.empty()) block.unpack_numbers(layout, rows, n_rows);
            },
            [&](const RowBlock &block, std::size_t at) {
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
    nb::object said =
        q == 0 ? nb::cast(own_array(std::move(classes))) : nb::cast(own_array(std::move(targets)));
    nb::object weigh = weights.empty() ? nb::none() : nb::cast(own_array(std::move(weights)));
    return nb::make_tuple(std::move(table), nb::make_tuple(said, weigh), of_folds);
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

// ---- plans ----

std::vector<std::uint8_t> flags_of(nb::handle given) {
    auto a = nb::cast<Flags>(given);
    return {a.data(), a.data() + a.shape(0)};
}

Watch watch_of(const Grid &grid, nb::handle given) {
    auto fields = nb::cast<nb::tuple>(given);
    Watch watch{nb::cast<std::int32_t>(fields[0]), {}};
    if (watch.attribute < 0 || static_cast<std::size_t>(watch.attribute) >= grid.of.size())
        throw std::invalid_argument("there is no such attribute");
    if (!fields[1].is_none()) {
        watch.wanted = flags_of(fields[1]);
        if (watch.wanted.size() != std::size_t{grid.of[static_cast<std::size_t>(watch.attribute)].size()} + 1)
            throw std::invalid_argument("a watch has a flag for each bucket, and one for missing");
    }
    return watch;
}

RouteTest test_of(const nb::dict &given, const RowLayout &layout, std::size_t n_places) {
    RouteTest test;
    const auto kind = nb::cast<std::string>(given["kind"]);
    test.attribute = nb::cast<std::int32_t>(given["attribute"]);
    if (test.attribute < 0 || static_cast<std::size_t>(test.attribute) >= layout.attributes.size())
        throw std::invalid_argument("there is no such attribute");
    test.missing = nb::cast<std::int32_t>(given["missing"]);
    test.children = nb::cast<std::vector<std::int32_t>>(given["children"]);
    for (std::int32_t child : test.children)
        if (child >= static_cast<std::int32_t>(n_places))
            throw std::invalid_argument("there is no such place");
    if (kind == "coarse") {
        test.kind = RouteTest::Kind::coarse;
        test.first = nb::cast<std::uint32_t>(given["first"]);
        test.last = nb::cast<std::uint32_t>(given["last"]);
    } else if (kind == "numeric") {
        test.lo = nb::cast<RowKey>(given["lo"]);
    } else if (kind == "nominal") {
        test.kind = RouteTest::Kind::nominal;
        test.child_of = nb::cast<std::vector<std::int32_t>>(given["child_of"]);
        const RowKey highest = layout.attributes[static_cast<std::size_t>(test.attribute)].highest;
        if (test.child_of.size() != highest + 1) throw std::invalid_argument("a category has no child");
    } else {
        throw std::invalid_argument("a test is coarse, numeric or nominal");
    }
    return test;
}

Place place_of(const nb::dict &given, const RowLayout &layout, const Grid &grid, std::size_t n_places) {
    Place place;
    place.counted = nb::cast<std::vector<std::int32_t>>(given["counted"]);
    for (std::int32_t a : place.counted)
        if (a < 0 || static_cast<std::size_t>(a) >= layout.attributes.size())
            throw std::invalid_argument("there is no such attribute");
    place.keeps = nb::cast<bool>(given["keeps"]);
    place.sums = nb::cast<bool>(given["sums"]);
    for (nb::handle watch : nb::cast<nb::list>(given["watches"]))
        place.watches.push_back(watch_of(grid, watch));
    for (nb::handle test : nb::cast<nb::list>(given["tests"]))
        place.tests.push_back(test_of(nb::cast<nb::dict>(test), layout, n_places));
    return place;
}

/// A scan, and what it is laid out by.
struct BoundScan {
    std::shared_ptr<const RowLayout> layout;
    std::shared_ptr<const Grid> grid;
    SourceScan scan;

    BoundScan(const BoundScan &of, SourceScan fresh)
        : layout(of.layout), grid(of.grid), scan(std::move(fresh)) {}
    BoundScan(std::shared_ptr<RowLayout> l, std::shared_ptr<Grid> g, const nb::list &places)
        : layout(l), grid(g), scan(l, g, places_of(places, *l, *g)) {}

    static std::vector<Place> places_of(const nb::list &given, const RowLayout &layout, const Grid &grid) {
        std::vector<Place> places;
        for (nb::handle place : given)
            places.push_back(place_of(nb::cast<nb::dict>(place), layout, grid, given.size()));
        if (places.empty()) throw std::invalid_argument("a scan has at least one place");
        return places;
    }
    std::int32_t checked(std::int32_t p) const {
        if (p < 0 || static_cast<std::size_t>(p) >= scan.n_places()) throw nb::index_error("no such place");
        return p;
    }
};

/// The exact test of a settled node as a way for rows.
RouteTest route_of(const Settled &settled, const RowLayout &layout, std::vector<std::int32_t> children) {
    const Choice &c = settled.choice;
    RouteTest test;
    test.attribute = c.attribute;
    test.missing = c.default_child;
    test.children = std::move(children);
    if (test.children.size() != settled.children.size())
        throw std::invalid_argument("a test has as many children as places");
    if (c.kind == TestKind::numeric) {
        test.lo = settled.lo;
    } else {
        test.kind = RouteTest::Kind::nominal;
        test.child_of.assign(layout.attributes[static_cast<std::size_t>(c.attribute)].highest + 1,
                             c.default_child);
        for (auto [code, child] : c.branches) test.child_of[static_cast<std::size_t>(code)] = child;
    }
    return test;
}

nb::dict as_dict(const RouteTest &test) {
    nb::dict out;
    out["kind"] = test.kind == RouteTest::Kind::numeric ? "numeric" : "nominal";
    out["attribute"] = test.attribute;
    out["missing"] = test.missing;
    out["children"] = test.children;
    if (test.kind == RouteTest::Kind::numeric)
        out["lo"] = test.lo;
    else
        out["child_of"] = test.child_of;
    return out;
}

// ---- settling ----

/// What is known of all attributes at a place, for a training set that leaves a fold out.
class SetsAt final : public SetReader {
  public:
    SetsAt(SourceScan &scan, std::int32_t place, std::int32_t left_out, Cancel &cancel)
        : scan_(scan), place_(place), cancel_(cancel), refining_(scan, place, left_out) {
        const Place &here = scan.place(place);
        for (std::size_t a = 0; a < scan.layout().attributes.size(); ++a) {
            const auto attribute = static_cast<std::int32_t>(a);
            const auto counted = std::find(here.counted.begin(), here.counted.end(), attribute);
            const bool listed = std::any_of(here.watches.begin(), here.watches.end(), [&](const Watch &w) {
                return w.attribute == attribute && w.wanted.empty();
            });
            if (counted != here.counted.end())
                known_.push_back({attribute, counted - here.counted.begin()});
            else if (listed)
                known_.push_back({attribute, -1});
        }
    }
    std::size_t size() const override { return known_.size(); }
    RefinedSet read(std::size_t i) const override {
        const KeyTable keys = scan_.keys_of(place_, known_[i].attribute, cancel_);
        return known_[i].counted < 0 ? refining_.listed(known_[i].attribute, keys)
                                     : refining_.counted(static_cast<std::size_t>(known_[i].counted), keys);
    }
    std::int32_t attribute(std::size_t i) const { return known_[i].attribute; }
    bool exact(std::size_t i) const override {
        return known_[i].counted < 0 || scan_.buckets(known_[i].attribute).all_single();
    }

  private:
    struct Known {
        std::int32_t attribute;
        std::ptrdiff_t counted; // which of the counted attributes; -1: all of its keys are kept
    };
    SourceScan &scan_;
    std::int32_t place_;
    Cancel &cancel_;
    Refining refining_;
    std::vector<Known> known_;
};

LookedInto looked_into_of(const Grid &grid, const nb::list &watches, const Settled *best) {
    LookedInto before{best, {}};
    for (nb::handle given : watches) {
        Watch watch = watch_of(grid, given);
        before.buckets.resize(grid.of.size());
        before.buckets[static_cast<std::size_t>(watch.attribute)] = std::move(watch.wanted);
    }
    return before;
}

SettleTask task_of(const std::string &criterion, const std::string &nominal,
                   std::shared_ptr<RowLayout> layout, const nb::list &wholes, std::int64_t max_depth,
                   const nb::object &min_samples_split, const nb::object &min_samples_leaf,
                   const nb::object &min_objs, double min_impurity_decrease,
                   const std::vector<std::vector<std::uint8_t>> &many_valued, const std::string &kernels,
                   const nb::list &sums, const nb::object &class_weight, const nb::object &costs) {
    SettleTask task;
    task.criterion = criterion;
    task.layout = std::move(layout);
    GrowParameters &p = task.parameters;
    p.nominal = nominal_mode(nominal);
    p.max_depth = max_depth;
    p.min_samples_split = size_rule(min_samples_split);
    p.settings = {{size_rule(min_samples_leaf), min_objs.is_none() ? -1.0 : nb::cast<double>(min_objs)}};
    p.min_impurity_decrease = min_impurity_decrease;
    p.kernels = kernels_named(kernels);
    if (p.kernels == nullptr)
        throw std::invalid_argument("kernels '" + kernels + "' are not available on this machine");
    for (nb::handle whole : wholes) {
        const auto given = nb::cast<std::vector<std::int64_t>>(whole);
        if (given.size() != task.layout->n_classes)
            throw std::invalid_argument("a set has a count for each class");
        ClassCounts counts(given.size());
        counts.c = given;
        for (std::int64_t c : given) counts.n += c;
        task.wholes.push_back(std::move(counts));
    }
    task.many_valued = many_valued;
    for (nb::handle of_set : sums) {
        const auto given = nb::cast<Words>(of_set);
        task.whole_sums.emplace_back(given.data(), given.data() + given.size());
        if (given.size() != task.layout->n_classes * task.layout->sums.words())
            throw std::invalid_argument("the sums of a set are of another layout");
    }
    if (!task.layout->sums.empty() && task.whole_sums.size() != task.wholes.size())
        throw std::invalid_argument("there are sums for each set");
    task.costs = class_costs(class_weight, costs, task.layout->n_classes);
    return task;
}

} // namespace

void bind_source(nb::module_ &m) {
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
             "weights, targets: the exponents that they span, of so many rows.")
        .def_prop_ro(
            "sum_words", [](const RowLayout &layout) { return layout.sums.words(); },
            "Words of the sums that a row has besides its number.")
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
                    keys.insert(keys.end(), block.keys[0].begin(),
                                block.keys[0].begin() + static_cast<std::ptrdiff_t>(block.n));
                }
                return own_array(std::move(keys));
            },
            nb::arg("attribute"), nb::arg("values"), nb::arg("missing").none() = nb::none(),
            "The keys of values: whole numbers from 0 in their order; a missing one is past the highest.")
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
            "The table of these rows, and of others that were put away; (classes or targets, weights); "
            "folds.")
        .def("take", [](KeptRows &k, KeptRows &other) { k.store.take(std::move(other.store)); });
    nb::class_<BoundScan>(m, "SourceScan")
        .def(nb::init<std::shared_ptr<RowLayout>, std::shared_ptr<Grid>, const nb::list &>(),
             nb::arg("layout"), nb::arg("grid"), nb::arg("places"))
        .def(
            "add",
            [](BoundScan &s, const nb::list &columns, const nb::object &classes, const nb::object &folds,
               const nb::object &weights, const nb::object &targets) {
                const HeldChunk held(*s.layout, columns, classes, folds, weights, targets);
                SignalCancel cancel;
                nb::gil_scoped_release release;
                s.scan.add(held.chunk, cancel);
            },
            nb::arg("columns"), nb::arg("classes").none(), nb::arg("folds").none() = nb::none(),
            nb::arg("weights").none() = nb::none(), nb::arg("targets").none() = nb::none(),
            "Rows as (values, missing or None) for each column, with their classes or targets.")
        .def(
            "add_rows",
            [](BoundScan &s, const Bytes &rows, std::int32_t place) {
                if (rows.shape(0) % s.layout->stride != 0) throw std::invalid_argument("rows are not whole");
                s.checked(place);
                SignalCancel cancel;
                nb::gil_scoped_release release;
                s.scan.add_rows(rows.data(), rows.shape(0) / s.layout->stride, place, cancel);
            },
            nb::arg("rows"), nb::arg("place") = 0, "Rows that were kept, from a place on.")
        .def(
            "add_kept",
            [](BoundScan &s, const KeptRows &rows, std::int32_t place) {
                s.checked(place);
                SignalCancel cancel;
                nb::gil_scoped_release release;
                rows.store.each([&](const std::uint8_t *bytes, std::size_t n) {
                    s.scan.add_rows(bytes, n, place, cancel);
                });
            },
            nb::arg("rows"), nb::arg("place") = 0)
        .def(
            "send_on",
            [](BoundScan &s, const nb::list &blocks, std::int32_t place) {
                const HeldBlocks held(*s.layout, blocks);
                s.checked(place);
                SignalCancel cancel;
                nb::gil_scoped_release release;
                for (auto rows : held.rows)
                    s.scan.send_on(rows.data(), rows.size() / s.layout->stride, place, cancel);
            },
            nb::arg("rows"), nb::arg("place"), "Sends rows that a place has counted before on their way.")
        .def(
            "put_back",
            [](BoundScan &s, KeptRows &rows, std::int32_t place) {
                s.scan.at(s.checked(place)).rows.take(std::move(rows.store));
            },
            nb::arg("rows"), nb::arg("place"), "Rows that a place has counted before are kept there again.")
        .def("merge",
             [](BoundScan &s, BoundScan &other) {
                 if (s.scan.n_places() != other.scan.n_places())
                     throw std::invalid_argument("scans of different plans are not merged");
                 nb::gil_scoped_release release;
                 s.scan.merge(std::move(other.scan));
             })
        .def(
            "fresh", [](const BoundScan &s) { return BoundScan(s, s.scan.fresh()); },
            "A scan of the same places that has seen no rows.")
        .def(
            "to_bytes",
            [](BoundScan &s) {
                const std::vector<std::uint8_t> found = s.scan.to_bytes();
                return nb::bytes(found.data(), found.size());
            },
            "All that was found, for another process to merge.")
        .def(
            "merge_bytes",
            [](BoundScan &s, const nb::bytes &found) {
                s.scan.merge_bytes({static_cast<const std::uint8_t *>(found.data()), found.size()});
            },
            nb::arg("found"), "Takes in what another scan of the same places has found.")
        .def("totals",
             [](BoundScan &s, std::int32_t p) {
                 return own_array(std::vector<std::uint64_t>(s.scan.at(s.checked(p)).totals));
             })
        .def(
            "total_sums",
            [](BoundScan &s, std::int32_t p, std::int32_t left_out) {
                return own_array(Refining(s.scan, s.checked(p), left_out).total_sums());
            },
            nb::arg("place"), nb::arg("left_out") = -1, "By class, of the rows of all folds but one.")
        .def(
            "counts",
            [](BoundScan &s, std::int32_t p, std::int32_t attribute) {
                const Place &place = s.scan.place(s.checked(p));
                const auto found = std::find(place.counted.begin(), place.counted.end(), attribute);
                if (found == place.counted.end()) throw std::invalid_argument("the attribute is not counted");
                const PlaceResult &result = s.scan.at(p);
                const auto first = result.first[static_cast<std::size_t>(found - place.counted.begin())];
                const std::size_t cells =
                    (std::size_t{s.scan.buckets(attribute).size()} + 1) * s.layout->n_joint();
                const auto begin = result.counts.begin() + static_cast<std::ptrdiff_t>(first);
                return own_array(
                    std::vector<std::uint32_t>(begin, begin + static_cast<std::ptrdiff_t>(cells)));
            },
            nb::arg("place"), nb::arg("attribute"), "[bucket, then missing][joint class], flat.")
        .def(
            "forget_watches",
            [](BoundScan &s, std::int32_t p) {
                s.scan.place(s.checked(p)).watches.clear();
                s.scan.at(p).keys.clear();
            },
            "Lets the keys that were kept go.")
        .def(
            "release", [](BoundScan &s, std::int32_t p) { s.scan.release(s.checked(p)); },
            "Lets go of all that is known of a place but its totals.")
        .def("rows_at", [](BoundScan &s, std::int32_t p) { return s.scan.at(s.checked(p)).rows.rows(); })
        .def("bytes_at", [](BoundScan &s, std::int32_t p) { return s.scan.at(s.checked(p)).rows.bytes(); })
        .def("complete", [](const BoundScan &s, std::int32_t p) { return s.scan.complete(s.checked(p)); })
        .def(
            "take_rows",
            [](BoundScan &s, std::int32_t p) {
                KeptRows kept{s.layout, std::move(s.scan.at(s.checked(p)).rows)};
                s.scan.at(p).rows = {};
                return kept;
            },
            "The rows that are kept at a place, which has none then.")
        .def("gather",
             [](BoundScan &s, std::int32_t p) { return KeptRows{s.layout, s.scan.gather(s.checked(p))}; })
        .def("add_place",
             [](BoundScan &s, const nb::dict &place) {
                 return s.scan.add_place(place_of(place, *s.layout, *s.grid, s.scan.n_places()));
             })
        .def(
            "decide",
            [](BoundScan &s, std::int32_t p, const Settled &settled,
               const std::vector<std::int32_t> &children) {
                for (std::int32_t child : children)
                    if (child >= static_cast<std::int32_t>(s.scan.n_places()))
                        throw nb::index_error("no such place");
                RouteTest test = route_of(settled, *s.layout, children);
                s.checked(p);
                SignalCancel cancel;
                nb::gil_scoped_release release;
                s.scan.decide(p, std::move(test), cancel);
            },
            "Gives a place its true test, and sends the rows it held on their way.")
        .def(
            "look_up",
            [](BoundScan &s, std::int32_t p, const nb::list &watches) {
                std::vector<Watch> given;
                for (nb::handle watch : watches) given.push_back(watch_of(*s.grid, watch));
                s.checked(p);
                SignalCancel cancel;
                nb::gil_scoped_release release;
                s.scan.look_up(p, std::move(given), cancel);
            },
            nb::arg("place"), nb::arg("watches"),
            "Finds the keys of some buckets among the rows that are kept at and below a place.")
        .def(
            "look_on",
            [](BoundScan &s, const Bytes &rows, std::int32_t p, std::size_t n_watches) {
                if (s.scan.place(s.checked(p)).watches.size() < n_watches)
                    throw std::invalid_argument("so much is not looked up");
                if (rows.shape(0) % s.layout->stride != 0) throw std::invalid_argument("rows are not whole");
                SignalCancel cancel;
                nb::gil_scoped_release release;
                s.scan.look_on(rows.data(), rows.shape(0) / s.layout->stride, p, n_watches, cancel);
            },
            nb::arg("rows"), nb::arg("place"), nb::arg("n_watches"),
            "The same for the last watches, among rows that were put away.")
        .def("counted",
             [](BoundScan &s, std::int32_t p) { return !s.scan.place(s.checked(p)).counted.empty(); })
        .def("keeps", [](BoundScan &s, std::int32_t p) { return s.scan.place(s.checked(p)).keeps; })
        .def_prop_ro("weighted", [](const BoundScan &s) { return s.layout->sums.weighted(); })
        .def_prop_ro("bytes", [](const BoundScan &s) { return s.scan.bytes(); })
        .def_prop_ro("rows_kept", [](const BoundScan &s) { return s.scan.rows_kept(); });
    nb::class_<Settled>(m, "Settled")
        .def_prop_ro("state",
                     [](const Settled &s) {
                         return s.state == Settled::State::leaf   ? "leaf"
                                : s.state == Settled::State::test ? "test"
                                                                  : "open";
                     })
        .def_prop_ro("attribute", [](const Settled &s) { return s.choice.attribute; })
        .def_prop_ro("numeric", [](const Settled &s) { return s.choice.kind == TestKind::numeric; })
        .def_ro("lo", &Settled::lo)
        .def_ro("hi", &Settled::hi)
        .def_prop_ro("default_child", [](const Settled &s) { return s.choice.default_child; })
        .def_prop_ro("branches", [](const Settled &s) { return s.choice.branches; })
        .def_prop_ro("quality", [](const Settled &s) { return s.choice.quality; })
        .def_prop_ro("gain", [](const Settled &s) { return s.choice.gain; })
        .def_ro("bound", &Settled::bound)
        .def_prop_ro(
            "exact", [](const Settled &s) { return s.choice.found() && s.ends.empty(); },
            "Whether there is a test, and the values on both sides of its cut are known.")
        .def_prop_ro("n_children", [](const Settled &s) { return s.children.size(); })
        .def_prop_ro("alive",
                     [](const Settled &s) {
                         std::vector<std::pair<std::int32_t, std::uint32_t>> out;
                         for (const AliveBucket &b : s.alive) out.emplace_back(b.attribute, b.bucket);
                         return out;
                     })
        .def("child_counts",
             [](const Settled &s, std::size_t child) {
                 return own_array(std::vector<std::int64_t>(s.children.at(child).c));
             })
        .def("route", [](const Settled &s, const std::shared_ptr<RowLayout> &layout,
                         const std::vector<std::int32_t> &children) {
            return as_dict(route_of(s, *layout, children));
        });
    nb::class_<Settling>(m, "Settling")
        .def(
            nb::new_([](const std::string &criterion, const std::string &nominal,
                        std::shared_ptr<RowLayout> layout, const nb::list &wholes, std::int64_t max_depth,
                        const nb::object &min_samples_split, const nb::object &min_samples_leaf,
                        const nb::object &min_objs, double min_impurity_decrease,
                        const std::vector<std::vector<std::uint8_t>> &many_valued, const std::string &kernels,
                        const nb::list &sums, const nb::object &class_weight, const nb::object &costs) {
                SignalCancel cancel;
                return Settling::make(task_of(criterion, nominal, std::move(layout), wholes, max_depth,
                                              min_samples_split, min_samples_leaf, min_objs,
                                              min_impurity_decrease, many_valued, kernels, sums, class_weight,
                                              costs),
                                      cancel);
            }),
            nb::kw_only(), nb::arg("criterion"), nb::arg("nominal"), nb::arg("layout"), nb::arg("wholes"),
            nb::arg("max_depth"), nb::arg("min_samples_split"), nb::arg("min_samples_leaf"),
            nb::arg("min_objs").none(), nb::arg("min_impurity_decrease"), nb::arg("many_valued"),
            nb::arg("kernels") = "auto", nb::arg("sums") = nb::list(),
            nb::arg("class_weight").none() = nb::none(), nb::arg("costs").none() = nb::none())
        .def(
            "whole",
            [](const Settling &s, std::int32_t set) {
                WholeSet whole = s.whole(set);
                return nb::make_tuple(whole.mass, whole.weight, whole.many_valued, whole.factor);
            },
            nb::arg("set"), "(mass, weight, many_valued, factors of classes) of a training set.")
        .def("set_many_valued", &Settling::set_many_valued, nb::arg("set"), nb::arg("many_valued"))
        .def(
            "class_weight",
            [](Settling &s, std::int32_t set) {
                const auto &weights = s.forest().class_weight;
                return weights.empty() ? std::vector<double>() : weights.at(static_cast<std::size_t>(set));
            },
            nb::arg("set"), "What each class weighs in a training set; nothing where all weigh the same.")
        .def(
            "open_apart",
            [](Settling &s, std::int32_t set, const std::vector<std::int64_t> &counts, const Words &sums) {
                ClassCounts total(counts.size());
                total.c = counts;
                for (std::int64_t c : counts) total.n += c;
                return s.open_apart(set, std::move(total), {sums.data(), sums.data() + sums.size()});
            },
            nb::arg("set"), nb::arg("counts"), nb::arg("sums"),
            "A node that is only judged, by its rows of each class and their sums.")
        .def("open_root", &Settling::open_root, nb::arg("set"), "The node of a set's root; -1 for a leaf.")
        .def(
            "settle",
            [](Settling &s, std::int64_t node, BoundScan &scan, std::int32_t place, std::int32_t left_out,
               double margin, const nb::list &looked_into, const Settled *best) {
                scan.checked(place);
                const LookedInto before = looked_into_of(*scan.grid, looked_into, best);
                SignalCancel cancel;
                nb::gil_scoped_release release;
                return s.settle(node, SetsAt(scan.scan, place, left_out, cancel), before, margin, cancel);
            },
            nb::arg("node"), nb::arg("scan"), nb::arg("place"), nb::arg("left_out") = -1,
            nb::arg("margin") = 0.0, nb::arg("looked_into") = nb::list(), nb::arg("best").none() = nb::none(),
            "Judges a node by what a scan knows of its place. Buckets that were looked into before, as "
            "watches, do not leave it open; the best test until then, if given, is one of those to choose "
            "from.")
        .def(
            "look",
            [](Settling &s, std::int64_t node, BoundScan &scan, std::int32_t place, std::int32_t attribute,
               std::int32_t left_out) {
                scan.checked(place);
                SignalCancel cancel;
                nb::gil_scoped_release release;
                const SetsAt sets(scan.scan, place, left_out, cancel);
                for (std::size_t i = 0; i < sets.size(); ++i)
                    if (sets.attribute(i) == attribute) return s.look(node, sets.read(i), cancel);
                throw std::invalid_argument("the scan knows nothing of this attribute");
            },
            nb::arg("node"), nb::arg("scan"), nb::arg("place"), nb::arg("attribute"),
            nb::arg("left_out") = -1, "The best test of one attribute.")
        .def(
            "choose",
            [](Settling &s, std::int64_t node, const nb::list &found) {
                std::vector<Settled> given;
                for (nb::handle one : found) given.push_back(nb::cast<Settled>(one));
                return s.choose(node, given);
            },
            "The test of a node from those of its attributes, in their order.")
        .def("split", &Settling::split,
             "Writes the test of a node down; its children's nodes, -1 for leaves.")
        .def("depth", [](const Settling &s, std::int64_t node) { return s.node(node).depth; })
        .def("counts",
             [](const Settling &s, std::int64_t node) {
                 return own_array(std::vector<std::int64_t>(s.node(node).total.c));
             })
        .def(
            "graft",
            [](Settling &s, std::int64_t node, Grown &grown, std::int32_t set) {
                auto [forest, at] = grown.find(set);
                s.graft(node, forest, at);
            },
            nb::arg("node"), nb::arg("forest"), nb::arg("set") = 0,
            "Puts a tree grown from the rows of a node in its place.")
        .def("tree", [](Settling &s, std::int32_t set) {
            SignalCancel cancel;
            return to_arrays(s.forest().extract(set, 0, cancel));
        });
}

} // namespace hornbeam
