// Encoding of labels by hashing (text) or by a table over their range (integers).
#include "table/labels.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace hornbeam {

namespace {

constexpr std::size_t rows_between_polls = 1 << 16;

std::uint32_t swap_bytes(std::uint32_t c) { return __builtin_bswap32(c); }

void append_utf8(std::string &out, std::uint32_t c) {
    const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xC0 | c >> 6);
        tail(0);
    } else if (c < 0x10000) {
        out += static_cast<char>(0xE0 | c >> 12);
        tail(6);
        tail(0);
    } else {
        out += static_cast<char>(0xF0 | c >> 18);
        tail(12);
        tail(6);
        tail(0);
    }
}

/// `label` holds code points of 4 bytes each; `row` is where it stands first.
std::string utf8_of(const std::string &label, bool swapped, std::size_t row) {
    std::string out;
    for (std::size_t i = 0; i < label.size(); i += 4) {
        std::uint32_t c;
        std::memcpy(&c, label.data() + i, 4);
        if (swapped) c = swap_bytes(c);
        if ((c >= 0xD800 && c < 0xE000) || c > 0x10FFFF) {
            throw std::invalid_argument("label at position " + std::to_string(row) +
                                        " is not Unicode text (code " + std::to_string(c) +
                                        "); only text that UTF-8 can hold is allowed: repair it");
        }
        append_utf8(out, c);
    }
    return out;
}

std::string_view trimmed(const char *text, std::size_t width) {
    std::uint32_t c = 0;
    for (; width > 0; --width) {
        std::memcpy(&c, text + 4 * (width - 1), 4);
        if (c != 0) break;
    }
    return {text, 4 * width};
}

} // namespace

std::int32_t LabelTable::code(std::string_view label) {
    const std::size_t hash = std::hash<std::string_view>()(label);
    std::size_t at = hash & (slots_.size() - 1);
    for (; slots_[at] >= 0; at = (at + 1) & (slots_.size() - 1)) {
        const auto known = static_cast<std::size_t>(slots_[at]);
        if (hashes_[known] == hash && labels_[known] == label) return slots_[at];
    }
    const auto code = static_cast<std::int32_t>(labels_.size());
    slots_[at] = code;
    labels_.emplace_back(label);
    hashes_.push_back(hash);
    if (2 * labels_.size() > slots_.size()) grow();
    return code;
}

void LabelTable::grow() {
    slots_.assign(4 * slots_.size(), -1);
    for (std::size_t k = 0; k < hashes_.size(); ++k) {
        std::size_t at = hashes_[k] & (slots_.size() - 1);
        while (slots_[at] >= 0) at = (at + 1) & (slots_.size() - 1);
        slots_[at] = static_cast<std::int32_t>(k);
    }
}

EncodedLabels sort_labels(std::vector<std::int32_t> codes, std::vector<std::string> labels, Cancel &cancel) {
    std::vector<std::int32_t> order(labels.size()), place(labels.size());
    std::iota(order.begin(), order.end(), 0);
    Pace pace(cancel, 100);
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        pace.step();
        return labels[a] < labels[b];
    });
    EncodedLabels out{std::move(codes), {}};
    for (std::size_t k = 0; k < order.size(); ++k) {
        pace.step();
        place[order[k]] = static_cast<std::int32_t>(k);
        out.labels.push_back(std::move(labels[order[k]]));
    }
    in_stretches(out.codes.size(), cancel, [&](std::size_t lo, std::size_t hi) {
        for (std::size_t i = lo; i < hi; ++i) {
            if (out.codes[i] >= 0) out.codes[i] = place[static_cast<std::size_t>(out.codes[i])];
        }
    });
    return out;
}

EncodedLabels encode_text(const FixedText &text, Cancel &cancel) {
    LabelTable table;
    std::vector<std::int32_t> codes(text.n_rows);
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < text.n_rows; ++i) {
        if (i % rows_between_polls == 0) cancel.poll();
        codes[i] = table.code(trimmed(text.data + static_cast<std::ptrdiff_t>(i) * text.stride, text.width));
        if (table.labels().size() > labels.size()) {
            labels.push_back(utf8_of(table.labels().back(), text.swapped, i));
        }
    }
    return sort_labels(std::move(codes), std::move(labels), cancel);
}

EncodedIntegers encode_integer_labels(Strided<std::int64_t> values, std::size_t n, Cancel &cancel) {
    EncodedIntegers out{std::vector<std::int32_t>(n), {}};
    if (n == 0) return out;
    std::int64_t least = values[0], greatest = values[0];
    in_stretches(n, cancel, [&](std::size_t lo, std::size_t hi) {
        for (std::size_t i = lo; i < hi; ++i) {
            least = std::min(least, values[i]);
            greatest = std::max(greatest, values[i]);
        }
    });
    const std::uint64_t range = static_cast<std::uint64_t>(greatest) - static_cast<std::uint64_t>(least);
    if (range >= std::max<std::uint64_t>(n, 1 << 12)) {
        NumericColumn column = encode_integers(values, nullptr, n, cancel);
        column.list_rows(cancel);
        in_stretches(n, cancel, [&](std::size_t lo, std::size_t hi) {
            for (std::size_t i = lo; i < hi; ++i) {
                const Entry e = column.entries[i]; // no row is missing
                out.codes[row_of(e)] = static_cast<std::int32_t>(rank_of(e));
            }
        });
        out.distinct = std::move(column.integers);
        return out;
    }
    std::vector<std::int32_t> code_of(range + 1, -1);
    const auto place = [&](std::size_t i) -> std::int32_t & {
        return code_of[static_cast<std::uint64_t>(values[i]) - static_cast<std::uint64_t>(least)];
    };
    in_stretches(n, cancel, [&](std::size_t lo, std::size_t hi) {
        for (std::size_t i = lo; i < hi; ++i) place(i) = 0;
    });
    for (std::uint64_t k = 0; k <= range; ++k) {
        if (code_of[k] < 0) continue;
        code_of[k] = static_cast<std::int32_t>(out.distinct.size());
        out.distinct.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(least) + k));
    }
    in_stretches(n, cancel, [&](std::size_t lo, std::size_t hi) {
        for (std::size_t i = lo; i < hi; ++i) out.codes[i] = place(i);
    });
    return out;
}

} // namespace hornbeam
