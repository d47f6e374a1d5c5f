// Encoding of columns: values become unsigned keys of the same order, rows are sorted by key and ranked.
#include "hornbeam/column.hpp"
#include "hornbeam/parallel.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "presort.hpp"

namespace hornbeam {

namespace {

constexpr std::size_t stretch = std::size_t{1} << 16; // rows staged at a time

/// Columns may be staged in the storage of their entries, hence no access by type.
template <class T> T load(const Strided<T> &values, std::size_t i) {
    T v;
    std::memcpy(&v, values.data + static_cast<std::ptrdiff_t>(i) * values.stride, sizeof v);
    return v;
}

/// The two columns of working memory that a thread keeps for all columns it encodes.
struct Scratch {
    explicit Scratch(std::size_t n)
        : keys(std::make_unique_for_overwrite<Key[]>(n)), spare(std::make_unique_for_overwrite<Key[]>(n)) {}
    std::unique_ptr<Key[]> keys, spare;
};

/// How a kind of column maps values to keys and back, and which code of 22 bits spreads its keys.
struct Floats {
    using Value = double;
    static Key key(double v) { return key_of(v); }
    static double value(Key k) { return float_of(k); }
    static bool by_buckets(Presort &sort, std::size_t n, Key least, Key greatest) {
        const double range = float_of(greatest) - float_of(least), scale = 0x3FFFFF / range;
        const bool usable = range <= 0x1p1023 && scale <= 0x1p1023; // false for NaN
        return usable && sort.by_buckets(n, Linear{float_of(least), scale});
    }
};
struct Integers {
    using Value = std::int64_t;
    static Key key(std::int64_t v) { return key_of(v); }
    static std::int64_t value(Key k) { return integer_of(k); }
    static bool by_buckets(Presort &sort, std::size_t n, Key least, Key greatest) {
        const auto bits = static_cast<unsigned>(std::bit_width(greatest - least));
        return sort.by_buckets(n, Leading{least, bits - 22});
    }
};
struct IntegersAsFloats : Integers {
    using Value = double;
    static Key key(double v) {
        return key_of(v) == missing_key ? missing_key : key_of(static_cast<std::int64_t>(v));
    }
    static double value(Key k) { return static_cast<double>(integer_of(k)); }
};

/// Returns whether the entries hold key - least; otherwise spare holds the keys in order.
template <class Kind> bool sort_entries(Presort &sort, std::size_t n, Key least, Key greatest) {
    const bool wide = n >= many_rows && greatest - least >= Key{1} << 22;
    if (wide && Kind::by_buckets(sort, n, least, greatest)) return false;
    if (sort.by_leading_bits(0, n, least, greatest)) return true;
    sort.by_all_bits(0, n);
    return false;
}

/// Fills `entries` and `distinct` from n values, which may lie in the storage of `entries`.
template <class Kind, class T, class Known>
void presort(const Strided<T> &values, std::size_t n, Known known, Scratch &scratch,
             std::vector<Entry> &entries, std::vector<typename Kind::Value> &distinct, const Cancel &cancel) {
    entries.resize(n);
    Key *keys = scratch.keys.get(), *spare = scratch.spare.get();
    Entry *rows = entries.data();
    Key least = ~Key{0}, greatest = 0;
    std::size_t m = 0;
    bool ascending = true;
    for_range(0, n, cancel, [&](std::size_t row) {
        const Key k = Kind::key(load(values, row));
        keys[row] = k;
        if (!known(row, k)) return;
        ascending &= k >= greatest;
        least = std::min(least, k);
        greatest = std::max(greatest, k);
        rows[m++] = row;
    });

    Presort sort(keys, rows, spare, cancel);
    if (ascending) sort.by_all_bits(0, m);
    const bool coded = !ascending && sort_entries<Kind>(sort, m, least, greatest);
    Key previous = least;
    std::uint32_t rank = 0;
    for_range(0, m, cancel, [&](std::size_t i) {
        const Key k = coded ? least + rank_of(rows[i]) : spare[i];
        rank += k != previous;
        previous = k;
        rows[i] = make_entry(rank, row_of(rows[i]));
        spare[rank] = std::bit_cast<Key>(Kind::value(k)); // rank <= i: read before
    });
    entries.resize(m);
    if (m < n / 2) entries.shrink_to_fit();
    distinct.resize(m == 0 ? 0 : rank + 1);
    if (m > 0) std::memcpy(distinct.data(), spare, distinct.size() * sizeof(Key));
}

/// Whether every number is an integer of at most 53 bits: such columns sort by few bits.
bool are_integers(const Strided<double> &values, std::size_t n, const Cancel &cancel) {
    for (std::size_t i = 0; i < n; ++i) {
        if (i % block == 0) cancel.check();
        const double v = load(values, i);
        if (!(v >= -0x1p53 && v <= 0x1p53)) {
            if (key_of(v) != missing_key) return false;
        } else if (key_of(static_cast<double>(static_cast<std::int64_t>(v))) != key_of(v)) {
            return false;
        }
    }
    return true;
}

void encode_into(NumericColumn &column, const Strided<double> &values, std::size_t n, Scratch &scratch,
                 const Cancel &cancel) {
    const auto known = [](std::size_t, Key k) { return k != missing_key; };
    if (are_integers(values, n, cancel)) {
        presort<IntegersAsFloats>(values, n, known, scratch, column.entries, column.floats, cancel);
    } else {
        presort<Floats>(values, n, known, scratch, column.entries, column.floats, cancel);
    }
}

void encode_into(NumericColumn &column, const IntegerSource &source, std::size_t n, Scratch &scratch,
                 const Cancel &cancel) {
    column.is_integer = true;
    const auto encode = [&](auto known) {
        presort<Integers>(source.values, n, known, scratch, column.entries, column.integers, cancel);
    };
    if (source.missing) {
        encode([missing = source.missing](std::size_t row, Key) { return missing[row] == 0; });
    } else {
        encode([](std::size_t, Key) { return true; });
    }
}

NominalColumn copy_codes(const NominalSource &source, std::size_t n, std::size_t j, const Cancel &cancel) {
    NominalColumn column{std::vector<std::int32_t>(n), source.n_categories};
    for_range(0, n, cancel, [&](std::size_t i) {
        const std::int32_t code = source.codes[i];
        if (code < -1 || code >= source.n_categories) {
            throw std::invalid_argument("column " + std::to_string(j) + ": code " + std::to_string(code) +
                                        " at row " + std::to_string(i) + "; allowed are -1 (missing) to " +
                                        std::to_string(source.n_categories - 1));
        }
        column.codes[i] = code;
    });
    return column;
}

/// Columns of one row-major matrix, read together: one after the other they would fetch every cache line of
/// the matrix once per column. The values wait in the storage of their column's entries.
class Staging {
  public:
    void add(const void *data, std::ptrdiff_t stride, Entry *to) {
        lanes_.push_back({static_cast<const char *>(data), stride * 8, to});
    }
    bool empty() const { return lanes_.empty(); }
    void copy(std::size_t lo, std::size_t hi) const {
        for (std::size_t g = 0; g < lanes_.size(); g += group) {
            const std::size_t end = std::min(lanes_.size(), g + group);
            for (std::size_t at = lo; at < hi; at += tile) {
                const std::size_t stop = std::min(hi, at + tile);
                for (std::size_t k = g; k < end; ++k) copy_lane(lanes_[k], at, stop);
            }
        }
    }

  private:
    struct Lane {
        const char *data;
        std::ptrdiff_t step; // in bytes
        Entry *to;
    };
    static constexpr std::size_t group = 64, tile = 32; // a tile's lines stay in the L1 cache
    static void copy_lane(const Lane &lane, std::size_t lo, std::size_t hi) {
        const char *from = lane.data + static_cast<std::ptrdiff_t>(lo) * lane.step;
        for (std::size_t i = lo; i < hi; ++i, from += lane.step) {
            std::memcpy(lane.to + i, from, sizeof(Entry));
        }
    }
    std::vector<Lane> lanes_;
};

/// Has columns that lie far apart in memory staged, and lets `sources` point there.
void stage(std::vector<Source> &sources, EncodedTable &table, Staging &staging) {
    const auto move = [&](auto &values, std::size_t j) {
        if (std::abs(values.stride) < 4) return; // two values of a cache line are used
        auto &entries = std::get<NumericColumn>(table.columns[j]).entries;
        entries.resize(table.n_rows);
        staging.add(values.data, values.stride, entries.data());
        using T = std::remove_cvref_t<decltype(values[0])>;
        values = {reinterpret_cast<const T *>(entries.data()), 1};
    };
    for (std::size_t j = 0; j < sources.size(); ++j) {
        if (auto *floats = std::get_if<Strided<double>>(&sources[j])) move(*floats, j);
        if (auto *integers = std::get_if<IntegerSource>(&sources[j])) move(integers->values, j);
    }
}

} // namespace

NumericColumn encode_floats(Strided<double> values, std::size_t n, const Cancel &cancel) {
    NumericColumn column;
    Scratch scratch(n);
    encode_into(column, values, n, scratch, cancel);
    return column;
}

NumericColumn encode_integers(Strided<std::int64_t> values, const std::uint8_t *missing, std::size_t n,
                              const Cancel &cancel) {
    NumericColumn column;
    Scratch scratch(n);
    encode_into(column, IntegerSource{values, missing}, n, scratch, cancel);
    return column;
}

EncodedTable encode(std::span<const Source> sources, std::size_t n_rows, unsigned threads, Cancel &cancel) {
    EncodedTable table{n_rows, std::vector<Column>(sources.size())};
    const bool small = n_rows * sources.size() < 200'000; // some milliseconds: not worth a thread
    std::vector<Source> from(sources.begin(), sources.end());
    Staging staging;
    if (!small) stage(from, table, staging);
    std::vector<std::optional<Scratch>> scratch(std::max(threads, 1u));
    const auto encode_column = [&](std::size_t j, unsigned worker) {
        if (const auto *nominal = std::get_if<NominalSource>(&from[j])) {
            table.columns[j] = copy_codes(*nominal, n_rows, j, cancel);
            return;
        }
        if (!scratch[worker]) scratch[worker].emplace(n_rows);
        auto &column = std::get<NumericColumn>(table.columns[j]);
        if (const auto *floats = std::get_if<Strided<double>>(&from[j])) {
            encode_into(column, *floats, n_rows, *scratch[worker], cancel);
        } else {
            encode_into(column, std::get<IntegerSource>(from[j]), n_rows, *scratch[worker], cancel);
        }
    };
    if (small) {
        for (std::size_t j = 0; j < from.size(); ++j) encode_column(j, 0);
        return table;
    }
    if (!staging.empty()) {
        share((n_rows + stretch - 1) / stretch, threads, cancel, [&](std::size_t t, unsigned) {
            cancel.check();
            staging.copy(t * stretch, std::min(n_rows, (t + 1) * stretch));
        });
    }
    share(from.size(), threads, cancel, encode_column);
    return table;
}

} // namespace hornbeam
