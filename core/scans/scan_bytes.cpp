// Merging what scans of parts have found: of this process, or as bytes of another.
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "scans/source_scan.hpp"

namespace hornbeam {
namespace {

constexpr std::uint64_t version = 0x6862736334; // of the bytes: "hbsc4"

class Writer {
  public:
    std::vector<std::uint8_t> bytes;

    template <class T> void put(const T *values, std::size_t n) {
        const auto *from = reinterpret_cast<const std::uint8_t *>(values);
        bytes.insert(bytes.end(), from, from + n * sizeof(T));
    }
    void number(std::uint64_t n) { put(&n, 1); }
    template <class T> void list(const std::vector<T> &values) {
        number(values.size());
        put(values.data(), values.size());
    }
    /// Numbers with their first bytes together, then their second ones, and so on: most counts are small, so
    /// that whoever compresses them finds long runs of zeros.
    template <class T> void planes(const std::vector<T> &values) {
        number(values.size());
        const std::size_t at = bytes.size(), n = values.size();
        bytes.resize(at + n * sizeof(T));
        for (std::size_t b = 0; b < sizeof(T); ++b)
            for (std::size_t i = 0; i < n; ++i)
                bytes[at + b * n + i] = static_cast<std::uint8_t>(values[i] >> (8 * b));
    }
};

class Reader {
  public:
    explicit Reader(std::span<const std::uint8_t> bytes) : left_(bytes) {}

    std::uint64_t number() {
        std::uint64_t n = 0;
        copy(&n, 1);
        return n;
    }
    template <class T> std::vector<T> list(std::size_t expected) {
        const std::uint64_t n = number();
        if (n != expected) refuse();
        return take<T>(n);
    }
    template <class T> std::vector<T> planes(std::size_t expected) {
        if (number() != expected) refuse();
        return planes_of<T>(expected);
    }
    template <class T> std::vector<T> planes() { return planes_of<T>(number()); }
    template <class T> std::vector<T> take(std::uint64_t n) {
        if (n > left_.size() / sizeof(T)) refuse();
        std::vector<T> values(n);
        copy(values.data(), n);
        return values;
    }
    std::span<const std::uint8_t> part(std::uint64_t n) {
        if (n > left_.size()) refuse();
        const auto found = left_.first(n);
        left_ = left_.subspan(n);
        return found;
    }
    bool empty() const { return left_.empty(); }
    [[noreturn]] static void refuse() {
        throw DamagedBytes("these bytes are no result of a scan of the same places: run it again, or look at "
                           "disk and network");
    }

  private:
    std::span<const std::uint8_t> left_;

    template <class T> std::vector<T> planes_of(std::uint64_t n) {
        if (n > left_.size() / sizeof(T)) refuse();
        const auto from = part(n * sizeof(T));
        std::vector<T> values(n);
        for (std::size_t b = 0; b < sizeof(T); ++b)
            for (std::size_t i = 0; i < n; ++i) values[i] |= static_cast<T>(from[b * n + i]) << (8 * b);
        return values;
    }
    template <class T> void copy(T *to, std::size_t n) {
        if (n > left_.size() / sizeof(T)) refuse();
        std::memcpy(to, left_.data(), n * sizeof(T));
        left_ = left_.subspan(n * sizeof(T));
    }
};

/// Keys by how far each is from the one before, joint classes and counts, apart from each other.
void put_keys(Writer &to, const std::vector<KeyCount> &counts) {
    std::vector<RowKey> steps(counts.size());
    std::vector<std::uint32_t> joints(counts.size()), times(counts.size());
    RowKey before = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        steps[i] = counts[i].key - std::exchange(before, counts[i].key);
        joints[i] = counts[i].joint;
        times[i] = counts[i].count;
    }
    to.planes(steps);
    to.planes(joints);
    to.planes(times);
}

/// Those of a watch, each once and in order.
std::vector<KeyCount> take_keys(Reader &from, const RowLayout &layout, const Buckets &buckets,
                                const Watch &watch) {
    const auto steps = from.planes<RowKey>();
    const auto joints = from.planes<std::uint32_t>(steps.size());
    const auto times = from.planes<std::uint32_t>(steps.size());
    std::vector<KeyCount> counts(steps.size());
    const RowKey missing = layout.attributes[static_cast<std::size_t>(watch.attribute)].missing();
    RowKey key = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        counts[i] = {key += steps[i], joints[i], times[i]};
        if (key > missing || joints[i] >= layout.n_joint() || (i != 0 && !(counts[i - 1] < counts[i])) ||
            (!watch.wanted.empty() && watch.wanted[buckets.of(key)] == 0))
            Reader::refuse();
    }
    return counts;
}

/// Whether a scan has found nothing of a place: most places of a plan are far from any one row.
bool blank(PlaceResult &result) {
    const auto none = [](std::uint64_t n) { return n == 0; };
    return result.rows.rows() == 0 && std::all_of(result.totals.begin(), result.totals.end(), none) &&
           std::all_of(result.keys.begin(), result.keys.end(),
                       [](KeyCounts &keys) { return keys.compact().empty(); });
}

/// Whether two scans look for the same at a place.
bool found_alike(const PlaceResult &a, const PlaceResult &b) {
    return a.totals.size() == b.totals.size() && a.counts.size() == b.counts.size() &&
           a.total_sums.size() == b.total_sums.size() && a.cell_sums.size() == b.cell_sums.size() &&
           a.sums.size() == b.sums.size() && a.keys.size() == b.keys.size();
}

} // namespace

void SourceScan::merge(SourceScan &&other) {
    if (!std::equal(results_.begin(), results_.end(), other.results_.begin(), other.results_.end(),
                    found_alike))
        throw std::invalid_argument("scans of different plans are not merged");
    for (std::size_t p = 0; p < results_.size(); ++p) {
        PlaceResult &to = results_[p], &from = other.results_[p];
        for (std::size_t i = 0; i < to.totals.size(); ++i) to.totals[i] += from.totals[i];
        for (std::size_t i = 0; i < to.counts.size(); ++i) to.counts[i] += from.counts[i];
        for (std::size_t w = 0; w < to.keys.size(); ++w) to.keys[w].add(from.keys[w]);
        for (auto sums : {&PlaceResult::total_sums, &PlaceResult::cell_sums})
            for (std::size_t i = 0; i < (to.*sums).size(); i += layout_->sums.words())
                layout_->sums.add(&(to.*sums)[i], &(from.*sums)[i]);
        for (std::size_t c = 0; c < to.sums.size(); ++c) to.sums[c] += from.sums[c];
        to.touched |= from.touched;
        to.rows.take(std::move(from.rows));
    }
}

std::vector<std::uint8_t> SourceScan::to_bytes(bool with_rows) {
    Writer to;
    to.number(version);
    to.number(results_.size());
    for (PlaceResult &result : results_) {
        to.number(blank(result) ? 0 : 1);
        if (blank(result)) continue;
        to.list(result.totals);
        to.planes(result.counts);
        to.list(result.total_sums);
        to.list(result.cell_sums);
        for (const KeySums &sums : result.sums) to.list(sums.words());
        to.number(result.keys.size());
        for (KeyCounts &keys : result.keys) {
            put_keys(to, keys.compact());
            to.put(keys.sums().data(), keys.sums().size());
        }
        to.number(with_rows ? result.rows.rows() : 0);
        if (!with_rows) continue;
        result.rows.each([&](const std::uint8_t *rows, std::size_t n) { to.put(rows, n * layout_->stride); });
    }
    return std::move(to.bytes);
}

void SourceScan::merge_bytes(std::span<const std::uint8_t> bytes) {
    Reader from(bytes);
    if (from.number() != version || from.number() != results_.size()) Reader::refuse();
    SourceScan found = fresh();
    for (std::size_t p = 0; p < found.results_.size(); ++p) {
        PlaceResult &result = found.results_[p];
        if (from.number() == 0) continue;
        result.totals = from.list<std::uint64_t>(result.totals.size());
        result.counts = from.planes<std::uint32_t>(result.counts.size());
        result.total_sums = from.list<std::uint64_t>(result.total_sums.size());
        result.cell_sums = from.list<std::uint64_t>(result.cell_sums.size());
        for (KeySums &sums : result.sums)
            if (!sums.read_words(from.take<std::uint64_t>(from.number()))) Reader::refuse();
        if (from.number() != result.keys.size()) Reader::refuse();
        for (std::size_t w = 0; w < result.keys.size(); ++w) {
            const Watch &watch = places_[p].watches[w];
            KeyCounts &keys = result.keys[w] = KeyCounts(sums());
            const std::vector<KeyCount> counts = take_keys(from, *layout_, buckets(watch.attribute), watch);
            keys.add(counts, from.take<std::uint64_t>(counts.size() * layout_->sums.words()));
        }
        const std::uint64_t rows = from.number();
        if (rows > bytes.size() / layout_->stride) Reader::refuse();
        result.rows.add_bytes(*layout_, from.part(rows * layout_->stride));
    }
    if (!from.empty()) Reader::refuse();
    merge(std::move(found));
}

} // namespace hornbeam
