// Encoding of columns: values become unsigned keys of the same order, rows are sorted by key and ranked.
#include "table/column.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "running/paging.hpp"
#include "running/parallel.hpp"
#include "table/presort.hpp"

namespace hornbeam {

namespace {

constexpr std::size_t stretch = std::size_t{1} << 16; // rows staged at a time

/// Columns may be staged in the storage of their entries, hence no access by type.
template <class T> T load(const Strided<T> &values, std::size_t i) {
    T v;
    std::memcpy(&v, values.data + static_cast<std::ptrdiff_t>(i) * values.stride, sizeof v);
    return v;
}

/// Resizes to n. A fault for each page would take a quarter of the time.
void make_room(std::vector<Entry> &entries, std::size_t n, Cancel &cancel) {
    if (entries.size() == n) return;
    entries.reserve(n);
    for (std::size_t size = 0; size < n;) {
        if (size > 0) cancel.poll();
        const std::size_t end = std::min(n, size + 4 * block);
        if (n >= many_rows) bring_in(entries.data() + size, (end - size) * sizeof(Entry));
        entries.resize(size = end);
    }
}

/// The working memory that a thread keeps for all columns it encodes.
struct Scratch {
    explicit Scratch(std::size_t n)
        : spare(std::make_unique_for_overwrite<Key[]>(n)),
          numbers(std::make_unique_for_overwrite<std::uint16_t[]>(n)) {}
    std::vector<Entry> entries; // becomes those of a column, whose storage comes here
    std::unique_ptr<Key[]> spare;
    std::unique_ptr<std::uint16_t[]> numbers;
    Numbering numbering;
};

/// How a kind of column maps values to keys and back, and which code of 22 bits spreads its keys.
struct Floats {
    using Value = double;
    static constexpr bool few_bits = false;
    static Key key(double v) { return key_of(v); }
    static double value(Key k) { return float_of(k); }
    template <class... How>
    static bool by_buckets(Presort &sort, std::size_t n, Key least, Key greatest, How... how) {
        const double range = float_of(greatest) - float_of(least), scale = 0x3FFFFF / range;
        const bool usable = range <= 0x1p1023 && scale <= 0x1p1023; // false for NaN
        return usable && sort.by_buckets(n, Linear{float_of(least), scale}, how...);
    }
};
struct Integers {
    using Value = std::int64_t;
    static constexpr bool few_bits = true; // mostly
    static Key key(std::int64_t v) { return key_of(v); }
    static std::int64_t value(Key k) { return integer_of(k); }
    template <class... How>
    static bool by_buckets(Presort &sort, std::size_t n, Key least, Key greatest, How... how) {
        const auto bits = static_cast<unsigned>(std::bit_width(greatest - least));
        return sort.by_buckets(n, Leading{least, bits - 22}, how...);
    }
};
struct IntegersAsFloats : Integers {
    using Value = double;
    static Key key(double v) {
        return key_of(v) == missing_key ? missing_key : key_of(static_cast<std::int64_t>(v));
    }
    static double value(Key k) { return static_cast<double>(integer_of(k)); }
};

/// Gives ranks to sorted entries, stretch after stretch. `keys` are those of the entries in order, and become
/// the values of the ranks.
template <class Kind> class Ranking {
  public:
    Ranking(Entry *entries, Key *keys, Key least) : entries_(entries), keys_(keys), previous_(least) {}

    void rank(std::size_t lo, std::size_t hi) {
        rank_by(lo, hi, [this](std::size_t i) { return keys_[i]; });
    }
    /// The same where entries hold key - least.
    void rank_coded(std::size_t lo, std::size_t hi, Key least) {
        rank_by(lo, hi, [this, least](std::size_t i) { return least + rank_of(entries_[i]); });
    }
    std::size_t n_ranks() const { return n_ranks_; }

  private:
    template <class KeyAt> void rank_by(std::size_t lo, std::size_t hi, KeyAt key_at) {
        if (lo == hi) return;
        Key previous = previous_; // in registers
        std::uint32_t rank = static_cast<std::uint32_t>(std::max<std::size_t>(n_ranks_, 1) - 1);
        for (std::size_t i = lo; i < hi; ++i) {
            const Key k = key_at(i);
            rank += k != previous;
            previous = k;
            entries_[i] = make_entry(rank, row_of(entries_[i]));
            keys_[rank] = std::bit_cast<Key>(Kind::value(k)); // rank <= i: read before
        }
        previous_ = previous;
        n_ranks_ = std::size_t{rank} + 1;
    }

    Entry *entries_;
    Key *keys_, previous_;
    std::size_t n_ranks_ = 0;
};

/// Sorts the m listed rows by leading bits, and ranks them.
template <class Kind> void sort_and_rank(Presort &sort, Ranking<Kind> &ranking, std::size_t m, Key least,
                                         Key greatest, Cancel &cancel) {
    const bool coded = sort.by_leading_bits(0, m, least, greatest);
    if (!coded) sort.by_all_bits(0, m);
    in_stretches<block>(m, cancel, [&](std::size_t lo, std::size_t hi) {
        coded ? ranking.rank_coded(lo, hi, least) : ranking.rank(lo, hi);
    });
}

/// Copies a few values at a time: what `resize` writes is still in the cache.
template <class T>
void keep(const Key *values, std::size_t n_ranks, std::vector<T> &distinct, Cancel &cancel) {
    distinct.reserve(n_ranks);
    bring_in(distinct.data(), n_ranks * sizeof(T), cancel);
    in_stretches<2048>(n_ranks, cancel, [&](std::size_t lo, std::size_t hi) {
        distinct.resize(hi);
        std::memcpy(distinct.data() + lo, values + lo, (hi - lo) * sizeof(T));
    });
}

/// Fills `entries` and `distinct` from values, which may lie in the storage of `entries`: their keys take its
/// place, and entries are made in that of the scratch.
template <class Kind, class T, class Known>
void encode_many(const Strided<T> &values, Known known, Scratch &scratch, std::vector<Entry> &entries,
                 std::vector<typename Kind::Value> &distinct, Cancel &cancel) {
    const std::size_t n = entries.size();
    make_room(scratch.entries, n, cancel);
    Key *keys = entries.data(), *spare = scratch.spare.get();
    Entry *rows = scratch.entries.data();
    Key least = ~Key{0}, greatest = 0;
    std::size_t m = 0;
    bool ascending = true;
    const bool listed = n < many_rows || Kind::few_bits; // buckets ask for no list
    for_range(0, n, cancel, [&](std::size_t row) {
        const Key k = Kind::key(load(values, row));
        keys[row] = k;
        if (!known(row, k)) return;
        ascending &= k >= greatest;
        least = std::min(least, k);
        greatest = std::max(greatest, k);
        if (listed) rows[m] = row;
        ++m;
    });
    Presort sort(keys, rows, spare, cancel);
    Ranking<Kind> ranking(rows, spare, least);
    auto rank = [&ranking](std::size_t lo, std::size_t hi) { ranking.rank(lo, hi); };
    auto list = [&](Entry *to) { // without a branch: gaps are hard to foresee
        std::size_t size = 0;
        for_range(0, n, cancel, [&](std::size_t row) {
            to[size] = row;
            size += known(row, keys[row]);
        });
    };
    auto by_buckets = [&] {
        if (ascending || m < many_rows || greatest - least < Key{1} << 22) return false;
        if (m == n) return Kind::by_buckets(sort, m, least, greatest, [](std::size_t i) { return i; }, rank);
        list(spare);
        return Kind::by_buckets(sort, m, least, greatest, [spare](std::size_t i) { return spare[i]; }, rank);
    };
    if (!by_buckets()) {
        if (!listed) list(rows);
        if (ascending) {
            sort.by_all_bits(0, m);
            in_stretches<block>(m, cancel, rank);
        } else {
            sort_and_rank(sort, ranking, m, least, greatest, cancel);
        }
    }
    keep(spare, ranking.n_ranks(), distinct, cancel);
    scratch.entries.resize(m);
    std::swap(scratch.entries, entries);
}

/// The same where different values are few: rows get the number of their value, then its rank or, by
/// counting, their place. Else returns false and changes nothing.
template <class Kind, class T, class Known> bool encode_few(const Strided<T> &values, Known known,
                                                            Scratch &scratch, NumericColumn &column,
                                                            std::vector<T> &distinct, Cancel &cancel) {
    std::vector<Entry> &entries = column.entries;
    const std::size_t n = entries.size(), start = std::min<std::size_t>(1024, 32 + n / 16);
    const std::size_t sample = n < few_rows ? 64 : 256;
    Numbering &numbering = scratch.numbering;
    std::uint16_t *numbers = scratch.numbers.get();
    numbering.clear();
    for (std::size_t row = 0; row < n; ++row) {
        if (row % block == 0) cancel.poll();
        if (row == sample && numbering.size() + 4 > sample) return false; // hardly a value came twice
        const Key raw = Kind::key(load(values, row)), key = known(row, raw) ? raw : missing_key;
        numbers[row] = numbering.count(key, [=] { return start + row / 4; });
        if (numbers[row] == 0 && known(row, raw)) return false;
    }

    const std::size_t size = numbering.size();
    Entry *rows = entries.data();
    std::vector<Key> keys(size);
    Key least = ~Key{0}, greatest = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const Key k = keys[i] = numbering[i + 1].key;
        least = std::min(least, k);
        greatest = std::max(greatest, k);
        rows[i] = i;
    }
    Key *spare = scratch.spare.get();
    Presort sort(keys.data(), rows, spare, cancel);
    Ranking<Kind> ranking(rows, spare, least);
    sort_and_rank(sort, ranking, size, least, greatest, cancel);
    keep(spare, size, distinct, cancel);
    if (size <= most_ranked_values) {
        std::uint16_t rank_of_number[most_ranked_values + 1];
        rank_of_number[0] = static_cast<std::uint16_t>(size);
        for (std::size_t i = 0; i < size; ++i)
            rank_of_number[row_of(rows[i]) + 1] = static_cast<std::uint16_t>(rank_of(rows[i]));
        column.ranks.resize(n);
        for_range(0, n, cancel, [&](std::size_t row) { column.ranks[row] = rank_of_number[numbers[row]]; });
        std::vector<Entry>().swap(entries);
        return true;
    }
    std::uint32_t place = 0;
    for (std::size_t i = 0; i < size; ++i) {
        Numbering::Value &value = numbering[row_of(rows[i]) + 1];
        value.rank = rank_of(rows[i]);
        place += std::exchange(value.count, place);
    }
    numbering[0].count = place; // missing rows, behind the others
    for_range(0, n, cancel, [&](std::size_t row) {
        Numbering::Value &value = numbering[numbers[row]];
        rows[value.count++] = make_entry(value.rank, static_cast<std::uint32_t>(row));
    });
    entries.resize(place);
    return true;
}

/// Whether every number is an integer of at most 53 bits: such columns sort by few bits.
bool are_integers(const Strided<double> &values, std::size_t n, Cancel &cancel) {
    for (std::size_t i = 0; i < n; ++i) {
        if (i % block == 0) cancel.poll();
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
                 Cancel &cancel) {
    make_room(column.entries, n, cancel);
    const auto known = [](std::size_t, Key k) { return k != missing_key; };
    if (encode_few<Floats>(values, known, scratch, column, column.floats, cancel)) return;
    if (are_integers(values, n, cancel)) {
        encode_many<IntegersAsFloats>(values, known, scratch, column.entries, column.floats, cancel);
    } else {
        encode_many<Floats>(values, known, scratch, column.entries, column.floats, cancel);
    }
}

void encode_into(NumericColumn &column, const IntegerSource &source, std::size_t n, Scratch &scratch,
                 Cancel &cancel) {
    column.is_integer = true;
    make_room(column.entries, n, cancel);
    const auto encode = [&](auto known) {
        const auto &values = source.values;
        if (encode_few<Integers>(values, known, scratch, column, column.integers, cancel)) return;
        encode_many<Integers>(values, known, scratch, column.entries, column.integers, cancel);
    };
    if (source.missing) {
        encode([missing = source.missing](std::size_t row, Key) { return missing[row] == 0; });
    } else {
        encode([](std::size_t, Key) { return true; });
    }
}

[[noreturn]] void refuse_code(std::size_t column, std::size_t row, std::int32_t code, std::int32_t n) {
    throw std::invalid_argument("column " + std::to_string(column) + ": code " + std::to_string(code) +
                                " at row " + std::to_string(row) + "; allowed are -1 (missing) to " +
                                std::to_string(n - 1));
}

NominalColumn copy_codes(const NominalSource &source, std::size_t n, std::size_t j, Cancel &cancel) {
    NominalColumn column{{}, source.n_categories};
    column.codes.reserve(n);
    in_stretches(n, cancel, [&](std::size_t lo, std::size_t hi) {
        const std::span<const std::int32_t> some(&source.codes[lo], hi - lo);
        const std::int32_t many = source.n_categories;
        std::int32_t wrong = 0; // looked for behind the loop, which has no branch then
        for (std::int32_t code : some) wrong |= (code < -1) | (code >= many);
        for (std::size_t i = lo; wrong != 0 && i < hi; ++i)
            if (const std::int32_t code = source.codes[i]; code < -1 || code >= many)
                refuse_code(j, i, code, many);
        column.codes.insert(column.codes.end(), some.begin(), some.end());
    });
    return column;
}

/// Copies columns whose values lie far apart to the storage of their entries, and lets `sources` point there.
/// Neighbours in a row-major matrix are read together: they share cache lines.
void stage(std::span<Source> sources, std::span<Column> columns, std::size_t n, Cancel &cancel) {
    struct Lane {
        const char *from;
        std::ptrdiff_t step; // in bytes
        Entry *to;
    };
    std::vector<Lane> lanes;
    const auto move = [&](auto &values, Column &column) {
        if (std::abs(values.stride) < 4) return; // two values of a cache line are used
        auto &entries = std::get<NumericColumn>(column).entries;
        make_room(entries, n, cancel);
        lanes.push_back({reinterpret_cast<const char *>(values.data), values.stride * 8, entries.data()});
        using T = std::remove_cvref_t<decltype(values[0])>;
        values = {reinterpret_cast<const T *>(entries.data()), 1};
    };
    for (std::size_t j = 0; j < sources.size(); ++j) {
        cancel.poll();
        if (auto *floats = std::get_if<Strided<double>>(&sources[j])) move(*floats, columns[j]);
        if (auto *integers = std::get_if<IntegerSource>(&sources[j])) move(integers->values, columns[j]);
    }
    constexpr std::size_t tile = 16; // rows whose cache lines stay in the L1 cache
    for (std::size_t lo = 0; lo < n; lo += tile) {
        if (lo % stretch == 0) cancel.poll();
        for (Lane &lane : lanes) {
            for (std::size_t i = lo, hi = std::min(n, lo + tile); i < hi; ++i, lane.from += lane.step) {
                __builtin_prefetch(lane.from + static_cast<std::ptrdiff_t>(tile) * lane.step);
                std::memcpy(lane.to + i, lane.from, sizeof(Entry));
            }
        }
    }
}

} // namespace

void NumericColumn::list_rows(Cancel &cancel) {
    if (!entries.empty() || ranks.empty()) return;
    std::uint32_t place[most_ranked_values + 1] = {}, size = 0;
    for_range(0, ranks.size(), cancel, [&](std::size_t row) { ++place[ranks[row]]; });
    for (std::size_t r = 0; r < n_ranks(); ++r) size += std::exchange(place[r], size);
    entries.resize(size);
    for_range(0, ranks.size(), cancel, [&](std::size_t row) {
        const std::uint16_t rank = ranks[row];
        if (rank < n_ranks()) entries[place[rank]++] = make_entry(rank, static_cast<std::uint32_t>(row));
    });
}

NumericColumn encode_floats(Strided<double> values, std::size_t n, Cancel &cancel) {
    NumericColumn column;
    const auto scratch = std::make_unique<Scratch>(n); // too large for the stack of some threads
    encode_into(column, values, n, *scratch, cancel);
    return column;
}

NumericColumn encode_integers(Strided<std::int64_t> values, const std::uint8_t *missing, std::size_t n,
                              Cancel &cancel) {
    NumericColumn column;
    const auto scratch = std::make_unique<Scratch>(n);
    encode_into(column, IntegerSource{values, missing}, n, *scratch, cancel);
    return column;
}

EncodedTable encode(std::span<const Source> sources, std::size_t n_rows, unsigned threads, Cancel &cancel) {
    EncodedTable table{n_rows, std::vector<Column>(sources.size())};
    const bool small = n_rows * sources.size() < 200'000; // a millisecond: not worth a thread
    if (small || sources.size() < 2 || threads == 0) threads = 1;
    Workers workers(threads, cancel);
    std::vector<Source> from(sources.begin(), sources.end());
    std::vector<std::unique_ptr<Scratch>> scratch(workers.places());
    const auto encode_column = [&](std::size_t j, Scratch &own) {
        if (const auto *nominal = std::get_if<NominalSource>(&from[j])) {
            table.columns[j] = copy_codes(*nominal, n_rows, j, cancel);
            return;
        }
        auto &column = std::get<NumericColumn>(table.columns[j]);
        if (const auto *floats = std::get_if<Strided<double>>(&from[j])) {
            encode_into(column, *floats, n_rows, own, cancel);
        } else {
            encode_into(column, std::get<IntegerSource>(from[j]), n_rows, own, cancel);
        }
        if (column.entries.size() < n_rows / 2) column.entries.shrink_to_fit(); // many rows are missing
    };
    // Columns go in groups, whose members share cache lines; several threads get as many small groups each.
    const std::size_t most = threads > 1 ? std::size_t{8} * threads : 32;
    const std::size_t rounds = (from.size() + most - 1) / most;
    const std::size_t groups = std::min(from.size(), rounds * threads);
    const auto encode_group = [&](std::size_t g, unsigned worker) {
        const std::size_t lo = from.size() * g / groups, hi = from.size() * (g + 1) / groups;
        if (!scratch[worker]) scratch[worker] = std::make_unique<Scratch>(n_rows);
        if (!small) stage({&from[lo], hi - lo}, {&table.columns[lo], hi - lo}, n_rows, cancel);
        for (std::size_t j = lo; j < hi; ++j) encode_column(j, *scratch[worker]);
    };
    workers.share(groups, encode_group);
    return table;
}

} // namespace hornbeam
