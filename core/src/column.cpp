// Presort of columns: values become unsigned keys of the same order, a stable radix sort orders rows by the
// leading bits of their keys, and a walk over the full keys puts right the few rows that share those bits.
#include "hornbeam/column.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace hornbeam {

namespace {

using Key = std::uint64_t;

constexpr Key sign_bit = Key{1} << 63;
constexpr Key missing_key = ~Key{0};                // of NaN: no number has it as a float's key
constexpr std::size_t block = std::size_t{1} << 18; // rows between two looks at the cancel flag
constexpr std::size_t stretch = std::size_t{1} << 16; // rows staged at a time
constexpr std::size_t few_rows = 4096;              // below, short digits cost less than they save
constexpr std::size_t many_rows = 16384;            // above, buckets pay
constexpr std::size_t far = 24;                     // a key that must move further gets its whole run sorted

// By integer operations only, so that no floating-point mode (denormals as zero) changes a rank.
Key key_of(double v) {
    const Key bits = std::bit_cast<Key>(v);
    if ((bits << 1) > 0xFFE0000000000000u) return missing_key;
    const Key key = bits ^ (static_cast<Key>(static_cast<std::int64_t>(bits) >> 63) | sign_bit);
    return key + (key == sign_bit - 1); // -0.0 joins 0.0
}
Key key_of(std::int64_t v) { return static_cast<Key>(v) ^ sign_bit; }
double float_of(Key key) { return std::bit_cast<double>(key & sign_bit ? key ^ sign_bit : ~key); }
std::int64_t integer_of(Key key) { return static_cast<std::int64_t>(key ^ sign_bit); }

/// Columns may be staged in the storage of their entries, hence no access by type.
template <class T> T load(const Strided<T> &values, std::size_t i) {
    T v;
    std::memcpy(&v, values.data + static_cast<std::ptrdiff_t>(i) * values.stride, sizeof v);
    return v;
}

/// Calls body(i) for lo <= i < hi, looking at `cancel` now and then.
template <class Body> void for_range(std::size_t lo, std::size_t hi, const Cancel &cancel, Body body) {
    while (lo < hi) {
        cancel.check();
        const std::size_t end = std::min(hi, lo + block);
        for (; lo < end; ++lo) body(lo);
    }
}

/// The two columns of working memory that a thread keeps for all columns it encodes.
struct Scratch {
    explicit Scratch(std::size_t n)
        : keys(std::make_unique_for_overwrite<Key[]>(n)), spare(std::make_unique_for_overwrite<Key[]>(n)) {}
    std::unique_ptr<Key[]> keys, spare;
};

/// A code is a short number that never reverses the order of keys; different keys may share one.
/// This one: the leading bits of the distance from the least key.
struct Leading {
    Key least;
    unsigned shift;
    std::uint32_t operator()(Key key) const { return static_cast<std::uint32_t>((key - least) >> shift); }
};

/// And this one spreads floats evenly, where their own leading bits, the exponent, bunch them. Rounded
/// subtraction and multiplication keep the order.
struct Linear {
    double least, scale;
    std::uint32_t operator()(Key key) const {
        return static_cast<std::uint32_t>(static_cast<std::int32_t>((float_of(key) - least) * scale));
    }
};

/// Sorts entries by the keys of their rows. Stable, so that equal keys stay in ascending order of row.
class Presort {
  public:
    Presort(const Key *keys, Entry *entries, Key *spare, const Cancel &cancel)
        : keys_(keys), entries_(entries), spare_(spare), cancel_(cancel) {}

    /// Orders entries [lo, hi) by the leading bits of (key - least), which they then hold in their upper half.
    /// Returns whether these were all bits.
    bool by_leading_bits(std::size_t lo, std::size_t hi, Key least, Key greatest) {
        const unsigned span = std::bit_width(greatest - least);
        if (hi - lo < few_rows) return radix<8>(lo, hi, least, span, std::min(span, 24u));
        return radix<11>(lo, hi, least, span, std::min(span, 32u));
    }

    /// Orders the first n entries by a code of 8 + 14 bits: buckets, then each bucket while it is in the cache,
    /// then all bits. Does nothing and returns false where a bucket would hold more than an eighth of the rows.
    template <class Code> bool by_buckets(std::size_t n, Code code) {
        std::uint32_t counts[1][1u << 8] = {};
        write_codes<8, 1>(0, n, spare_, 14, code, counts);
        if (*std::max_element(counts[0], counts[0] + 256) > n / 8) return false;
        scatter<8>(0, n, spare_, entries_, 14, counts[0]);
        for (std::size_t b = 0, lo = 0; b < 256; lo = counts[0][b++]) sort_bucket(lo, counts[0][b]);
        return true;
    }

    /// Fills spare [lo, hi) with the keys of the entries and completes the order by leading bits.
    void by_all_bits(std::size_t lo, std::size_t hi) {
        for_range(lo, hi, cancel_, [this](std::size_t i) { spare_[i] = keys_[row_of(entries_[i])]; });
        for (std::size_t i = lo + 1; i < hi; ++i) {
            if (spare_[i] >= spare_[i - 1]) continue;
            if (i - lo >= far && spare_[i - far] > spare_[i]) {
                i = sort_run(lo, i, hi);
                lo = i + 1;
            } else {
                insert(i);
            }
        }
    }

  private:
    template <unsigned width> bool radix(std::size_t lo, std::size_t hi, Key least, unsigned span, unsigned bits) {
        const unsigned passes = std::max(1u, (bits + width - 1) / width);
        const Leading code{least, span - bits};
        std::uint32_t counts[3][1u << width];
        std::memset(counts, 0, passes * sizeof counts[0]);
        Entry *from = passes % 2 ? spare_ : entries_, *to = passes % 2 ? entries_ : spare_; // ends in entries_
        if (passes == 1) write_codes<width, 1>(lo, hi, from, 0, code, counts);
        if (passes == 2) write_codes<width, 2>(lo, hi, from, 0, code, counts);
        if (passes == 3) write_codes<width, 3>(lo, hi, from, 0, code, counts);
        for (unsigned p = 0; p < passes; ++p, std::swap(from, to)) scatter<width>(lo, hi, from, to, p * width, counts[p]);
        return span == bits;
    }

    /// Writes (code, row) of entries [lo, hi) and counts the digits of the codes from bit `low` on.
    template <unsigned width, unsigned digits, class Code>
    void write_codes(std::size_t lo, std::size_t hi, Entry *to, unsigned low, Code code,
                     std::uint32_t (*counts)[1u << width]) {
        for_range(lo, hi, cancel_, [=, this](std::size_t i) {
            const std::uint32_t row = row_of(entries_[i]), c = code(keys_[row]);
            for (unsigned d = 0; d < digits; ++d) ++counts[d][c >> (low + d * width) & ((1u << width) - 1)];
            to[i] = make_entry(c, row);
        });
    }

    /// One stable pass over the digit at bit `low`; `counts` becomes the end of each digit's entries.
    template <unsigned width>
    void scatter(std::size_t lo, std::size_t hi, const Entry *from, Entry *to, unsigned low, std::uint32_t *counts) {
        auto before = static_cast<std::uint32_t>(lo);
        for (std::uint32_t d = 0; d < 1u << width; ++d) before += std::exchange(counts[d], before);
        for_range(lo, hi, cancel_, [=](std::size_t i) {
            const Entry e = from[i];
            to[counts[e >> (32 + low) & ((1u << width) - 1)]++] = e;
        });
    }

    /// Orders entries that agree but in the low 14 bits of their code.
    void sort_bucket(std::size_t lo, std::size_t hi) {
        std::uint32_t counts[2][1u << 7] = {};
        for (std::size_t i = lo; i < hi; ++i) {
            ++counts[0][rank_of(entries_[i]) & 127];
            ++counts[1][rank_of(entries_[i]) >> 7 & 127];
        }
        scatter<7>(lo, hi, entries_, spare_, 0, counts[0]);
        scatter<7>(lo, hi, spare_, entries_, 7, counts[1]);
        by_all_bits(lo, hi);
    }

    void insert(std::size_t i) {
        const Key key = spare_[i];
        const Entry entry = entries_[i];
        for (; i > 0 && spare_[i - 1] > key; --i) {
            spare_[i] = spare_[i - 1];
            entries_[i] = entries_[i - 1];
        }
        spare_[i] = key;
        entries_[i] = entry;
    }

    /// Sorts the entries around i that share its leading bits; returns the last of them.
    std::size_t sort_run(std::size_t lo, std::size_t i, std::size_t hi) {
        std::size_t first = i, last = i;
        while (first > lo && rank_of(entries_[first - 1]) == rank_of(entries_[i])) --first;
        while (last + 1 < hi && rank_of(entries_[last + 1]) == rank_of(entries_[i])) ++last;
        if (last - first >= few_rows) { // again by leading bits, of which at least 32 are gone
            const auto [least, greatest] = std::minmax_element(spare_ + first, spare_ + last + 1);
            by_leading_bits(first, last + 1, *least, *greatest);
            by_all_bits(first, last + 1);
            return last;
        }
        std::sort(entries_ + first, entries_ + last + 1, [keys = keys_](Entry x, Entry y) {
            const Key a = keys[row_of(x)], b = keys[row_of(y)];
            return a != b ? a < b : x < y;
        });
        for (std::size_t k = first; k <= last; ++k) spare_[k] = keys_[row_of(entries_[k])];
        return last;
    }

    const Key *keys_;
    Entry *entries_;
    Key *spare_;
    const Cancel &cancel_;
};

bool buckets(Presort &sort, std::size_t m, Key least, Key greatest, double (*)(Key)) {
    const double range = float_of(greatest) - float_of(least), scale = 0x3FFFFF / range;
    if (!(range < 1e308 && scale < 1e308)) return false;
    return sort.by_buckets(m, Linear{float_of(least), scale});
}
template <class T> bool buckets(Presort &sort, std::size_t m, Key least, Key greatest, T) {
    return sort.by_buckets(m, Leading{least, unsigned(std::bit_width(greatest - least)) - 22});
}

/// Encodes n values of a column: `key` maps a value to its key, `known` tells rows that are not missing, and
/// `value` maps a key back. `values` may lie in the storage of `entries`.
template <class T, class ToKey, class Known, class ToValue, class Value>
void presort(const Strided<T> &values, std::size_t n, Scratch &scratch, std::vector<Entry> &entries,
             std::vector<Value> &distinct, const Cancel &cancel, ToKey key, Known known, ToValue value) {
    entries.resize(n);
    Key *keys = scratch.keys.get(), *spare = scratch.spare.get();
    Entry *rows = entries.data();
    Key least = ~Key{0}, greatest = 0;
    std::size_t m = 0;
    bool ascending = true;
    for_range(0, n, cancel, [&](std::size_t row) {
        const Key k = key(load(values, row));
        keys[row] = k;
        if (!known(row, k)) return;
        ascending &= k >= greatest;
        least = std::min(least, k);
        greatest = std::max(greatest, k);
        rows[m++] = row;
    });

    Presort sort(keys, rows, spare, cancel);
    const bool spread = !ascending && m >= many_rows && std::bit_width(greatest - least) > 22 && buckets(sort, m, least, greatest, value);
    const bool complete = !ascending && !spread && sort.by_leading_bits(0, m, least, greatest);
    if (!spread && !complete) sort.by_all_bits(0, m);
    Key previous = least;
    std::uint32_t rank = 0;
    for_range(0, m, cancel, [&](std::size_t i) {
        const Key k = complete ? least + rank_of(rows[i]) : spare[i];
        rank += k != previous;
        previous = k;
        rows[i] = make_entry(rank, row_of(rows[i]));
        spare[rank] = std::bit_cast<Key>(value(k)); // never ahead of i
    });
    entries.resize(m);
    if (m < n / 2) entries.shrink_to_fit();
    distinct.resize(m == 0 ? 0 : rank + 1);
    if (m > 0) std::memcpy(distinct.data(), spare, distinct.size() * sizeof(Value));
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
        const auto key = [](double v) {
            return key_of(v) == missing_key ? missing_key : key_of(static_cast<std::int64_t>(v));
        };
        const auto value = [](Key k) { return static_cast<double>(integer_of(k)); };
        presort(values, n, scratch, column.entries, column.floats, cancel, key, known, value);
    } else {
        const auto key = [](double v) { return key_of(v); };
        presort(values, n, scratch, column.entries, column.floats, cancel, key, known, float_of);
    }
}

void encode_into(NumericColumn &column, const IntegerSource &source, std::size_t n, Scratch &scratch,
                 const Cancel &cancel) {
    column.is_integer = true;
    const auto key = [](std::int64_t v) { return key_of(v); };
    const auto all = [](std::size_t, Key) { return true; };
    const auto known = [missing = source.missing](std::size_t row, Key) { return missing[row] == 0; };
    auto encode = [&](auto known_rows) {
        presort(source.values, n, scratch, column.entries, column.integers, cancel, key, known_rows, integer_of);
    };
    source.missing ? encode(known) : encode(all);
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
        for (std::size_t i = lo; i < hi; ++i, from += lane.step) std::memcpy(lane.to + i, from, sizeof(Entry));
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

/// Runs work(task, worker) for all tasks on up to `threads` threads while the calling thread polls.
template <class Work> void share(std::size_t tasks, unsigned threads, Cancel &cancel, Work work) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::condition_variable finished;
    std::exception_ptr failure;
    unsigned running = static_cast<unsigned>(std::min<std::size_t>(threads, tasks));
    auto run = [&](unsigned worker) {
        try {
            for (std::size_t t; (t = next++) < tasks;) work(t, worker);
        } catch (...) {
            next = tasks;
            std::lock_guard lock(mutex);
            if (!failure) failure = std::current_exception();
        }
        std::lock_guard lock(mutex);
        --running;
        finished.notify_one();
    };
    {
        std::vector<std::jthread> workers;
        try {
            for (unsigned w = 0, n = running; w < n; ++w) workers.emplace_back(run, w);
            std::unique_lock lock(mutex);
            while (!finished.wait_for(lock, std::chrono::milliseconds(10), [&] { return running == 0; })) {
                lock.unlock();
                cancel.poll();
                lock.lock();
            }
        } catch (...) {
            cancel.request();
            throw;
        }
    }
    if (failure) std::rethrow_exception(failure);
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
