// Sums of values, row by row or of rows that are counted already.
#include "scans/key_sums.hpp"

#include <array>

namespace hornbeam {
namespace {

constexpr int float_bits = 53;
constexpr std::size_t few_classes = 64;
constexpr RowKey small_keys = RowKey{1} << 26; // whose squares a block of rows sums up in 64 bits

} // namespace

Decomposed ExactKeys::value(RowKey key) const {
    if (integers_) return {from_middle(key), 0};
    constexpr double most = std::numeric_limits<double>::max();
    return decompose(std::clamp(shape_.float_at(key), -most, most));
}

KeySums::Grouped KeySums::grouped(RowKey key) const {
    if (keys_.integers()) return {keys_.from_middle(key), 0};
    constexpr double most = std::numeric_limits<double>::max();
    const double value = std::clamp(keys_.shape().float_at(key), -most, most);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    auto m = static_cast<std::int64_t>(bits & ((std::uint64_t{1} << 52) - 1));
    int e = static_cast<int>(bits >> 52) & 0x7ff;
    e != 0 ? m |= std::int64_t{1} << 52 : e = 1; // subnormal numbers have no hidden bit
    m <<= e & ((1 << group_bits) - 1);
    return {value < 0.0 ? -m : m, e >> group_bits};
}

KeySums::Part *KeySums::group(int g) {
    if (n_groups_ == 0) first_ = g;
    if (g < first_) {
        parts_.insert(parts_.begin(), static_cast<std::size_t>(first_ - g) * n_classes_, Part{});
        n_groups_ += first_ - g;
        first_ = g;
    }
    if (g >= first_ + n_groups_) {
        n_groups_ = g - first_ + 1;
        parts_.resize(static_cast<std::size_t>(n_groups_) * n_classes_);
    }
    return parts_.data() + static_cast<std::size_t>(g - first_) * n_classes_;
}

void KeySums::add(RowKey key, std::size_t k, std::uint64_t times) {
    const Grouped v = grouped(key);
    if (v.value == 0) return;
    Part &part = group(v.group)[k];
    // A square has up to 126 bits: its halves are multiplied one by one.
    const auto square = static_cast<unsigned __int128>(static_cast<__int128>(v.value) * v.value);
    const unsigned __int128 high = (square >> 64) * times;
    part.add(static_cast<__int128>(v.value) * static_cast<std::int64_t>(times),
             static_cast<unsigned __int128>(static_cast<std::uint64_t>(square)) * times);
    part.add(0, high << 64);
    part.xx_high += static_cast<std::uint64_t>(high >> 64);
}

void KeySums::add_rows(const RowKey *keys, const std::uint32_t *klass, std::span<const BlockRow> rows) {
    const RowKey highest = keys_.shape().highest;
    if (keys_.integers() && highest < small_keys && n_classes_ <= few_classes)
        return add_small(keys, klass, rows);
    if (keys_.integers()) {
        Part *parts = group(0);
        for (BlockRow row : rows)
            if (keys[row] <= highest) parts[klass[row]].add(keys_.from_middle(keys[row]));
        return;
    }
    for (BlockRow row : rows) {
        if (keys[row] > highest) continue;
        const Grouped v = grouped(keys[row]);
        if (v.value != 0) group(v.group)[klass[row]].add(v.value);
    }
}

void KeySums::add_small(const RowKey *keys, const std::uint32_t *klass, std::span<const BlockRow> rows) {
    static_assert(block_rows <= std::size_t{1} << 12);
    const RowKey highest = keys_.shape().highest;
    auto value = [&](BlockRow row) { return keys[row] <= highest ? keys_.from_middle(keys[row]) : 0; };
    std::array<std::int64_t, few_classes> x;
    std::array<std::uint64_t, few_classes> xx;
    std::fill_n(x.begin(), n_classes_, 0);
    std::fill_n(xx.begin(), n_classes_, 0);
    if (n_classes_ == 2) { // in registers: no sum waits for the one before
        for (BlockRow row : rows) {
            const std::int64_t v = value(row), second = -static_cast<std::int64_t>(klass[row]);
            x[0] += v, x[1] += v & second;
            xx[0] += static_cast<std::uint64_t>(v * v), xx[1] += static_cast<std::uint64_t>(v * v & second);
        }
        x[0] -= x[1], xx[0] -= xx[1];
    } else {
        for (BlockRow row : rows) {
            const std::int64_t v = value(row);
            x[klass[row]] += v;
            xx[klass[row]] += static_cast<std::uint64_t>(v * v);
        }
    }
    Part *parts = group(0);
    for (std::size_t k = 0; k < n_classes_; ++k) parts[k].add(x[k], xx[k]);
}

void KeySums::add(const KeySums &other, std::size_t from, std::size_t to) {
    for (int g = 0; g < other.n_groups_; ++g) {
        const Part &p = other.parts_[static_cast<std::size_t>(g) * other.n_classes_ + from];
        if (p.zero()) continue;
        Part &sum = group(other.first_ + g)[to];
        sum.add(p.x, p.xx);
        sum.xx_high += p.xx_high;
    }
}

KeySums &KeySums::operator+=(const KeySums &other) {
    for (std::size_t k = 0; k < n_classes_; ++k) add(other, k, k);
    return *this;
}

std::vector<std::uint64_t> KeySums::words() const {
    std::vector<std::uint64_t> words{static_cast<std::uint64_t>(first_)};
    for (const Part &p : parts_)
        for (unsigned __int128 wide : {static_cast<unsigned __int128>(p.x), p.xx}) {
            words.push_back(static_cast<std::uint64_t>(wide));
            words.push_back(static_cast<std::uint64_t>(wide >> 64));
        }
    for (const Part &p : parts_) words.push_back(p.xx_high);
    return words;
}

bool KeySums::read_words(std::span<const std::uint64_t> words) {
    constexpr std::size_t of_part = 5;
    constexpr std::uint64_t most_groups = 2048 >> group_bits;
    if (words.empty() || words[0] >= most_groups) return false;
    const std::size_t n = (words.size() - 1) / of_part;
    const std::uint64_t groups = there() ? n / n_classes_ : 0;
    if (n * of_part + 1 != words.size() || groups * n_classes_ != n) return false;
    if (words[0] + groups > (keys_.integers() ? 1 : most_groups)) return false;
    first_ = static_cast<int>(words[0]);
    n_groups_ = static_cast<int>(groups);
    parts_.assign(n, {});
    auto wide = [&](std::size_t i) { return static_cast<unsigned __int128>(words[i + 1]) << 64 | words[i]; };
    for (std::size_t i = 0; i < n; ++i) {
        parts_[i].x = static_cast<__int128>(wide(1 + 4 * i));
        parts_[i].xx = wide(3 + 4 * i);
        parts_[i].xx_high = words[1 + 4 * n + i];
    }
    return true;
}

void KeySums::make_room(ExponentSpan &span, int group) const {
    const int bits = keys_.integers() ? static_cast<int>(std::bit_width(keys_.shape().highest))
                                      : float_bits + (1 << group_bits) - 1;
    const int lowest = exponent_of(group), highest = lowest + bits;
    span.lowest = span.empty ? lowest : std::min(span.lowest, lowest);
    span.highest = span.empty ? highest : std::max(span.highest, highest);
    span.empty = false;
}

void KeySums::widen(ExponentSpan &span, RowKey key) const {
    const Grouped v = grouped(key);
    if (v.value != 0) make_room(span, v.group);
}

ExponentSpan KeySums::span() const {
    ExponentSpan span;
    for (int g = 0; g < n_groups_; ++g) {
        const Part *parts = parts_.data() + static_cast<std::size_t>(g) * n_classes_;
        if (!std::all_of(parts, parts + n_classes_, [](const Part &p) { return p.zero(); }))
            make_room(span, first_ + g);
    }
    return span;
}

} // namespace hornbeam
