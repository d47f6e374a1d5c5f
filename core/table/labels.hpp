// Labels of nominal values: text or integers become dense codes in the order of the labels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "running/cancel.hpp"
#include "table/column.hpp"

namespace hornbeam {

/// Distinct byte strings, numbered in order of first appearance.
class LabelTable {
  public:
    std::int32_t code(std::string_view label);
    const std::deque<std::string> &labels() const { return labels_; }

  private:
    void grow();
    std::deque<std::string> labels_;
    std::vector<std::size_t> hashes_; // of each label
    // open addressing, at most half full; the number of slots is a power of two
    std::vector<std::int32_t> slots_ = std::vector<std::int32_t>(64, -1);
};

struct EncodedLabels {
    std::vector<std::int32_t> codes;
    std::vector<std::string> labels; // UTF-8, ascending
};

/// Renumbers codes by the order of the labels' bytes; negative codes stay.
EncodedLabels sort_labels(std::vector<std::int32_t> codes, std::vector<std::string> labels, Cancel &cancel);

/// Fixed-width text as NumPy stores it: `width` code points of 4 bytes a row, padded with zeros.
struct FixedText {
    const char *data = nullptr;
    std::ptrdiff_t stride = 0; // in bytes
    std::size_t n_rows = 0, width = 0;
    bool swapped = false; // the bytes of a code point are in the other order
};
/// Throws std::invalid_argument for a surrogate or a number that is no code point, naming the row.
EncodedLabels encode_text(const FixedText &text, Cancel &cancel);

struct EncodedIntegers {
    std::vector<std::int32_t> codes;
    std::vector<std::int64_t> distinct; // ascending
};
/// The code of each value: the entry of a table that begins at `low`, and its last for values beyond it.
template <class T> std::vector<std::int32_t> recode(std::span<const T> values,
                                                    std::span<const std::int32_t> table, std::int64_t low) {
    const std::uint64_t first = static_cast<std::uint64_t>(low), last = table.size() - 1;
    std::vector<std::int32_t> codes(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        codes[i] = table[std::min(static_cast<std::uint64_t>(values[i]) - first, last)];
    return codes;
}

EncodedIntegers encode_integer_labels(Strided<std::int64_t> values, std::size_t n, Cancel &cancel);

} // namespace hornbeam
