// Keys from values of any type, and rows to bytes and back.
#include "scans/rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "numbers/keys.hpp"

namespace hornbeam {
namespace {

unsigned width_of_key(std::uint64_t highest) {
    return std::max(1u, (static_cast<unsigned>(std::bit_width(highest)) + 7) / 8);
}

[[noreturn]] void refuse_value(std::size_t attribute) {
    throw std::invalid_argument("column " + std::to_string(attribute) +
                                " has a value that no row had before: the source has changed");
}

/// Writes the keys of rows [first, first + n) of a column.
template <class T> bool read_keys(const AttributeShape &shape, const ChunkColumn &column, std::size_t first,
                                  std::size_t n, RowKey *to) {
    const T *data = static_cast<const T *>(column.data) + static_cast<std::ptrdiff_t>(first) * column.stride;
    const RowKey missing = shape.missing();
    RowKey greatest = 0;
    auto fill = [&](auto key_at) {
        for (std::size_t i = 0; i < n; ++i) {
            const RowKey key = key_at(data[static_cast<std::ptrdiff_t>(i) * column.stride]);
            greatest = std::max(greatest, key);
            to[i] = key;
        }
    };
    if constexpr (std::is_floating_point_v<T>) {
        fill([&](T v) {
            const Key key = key_of(static_cast<double>(v));
            return key == missing_key ? missing : key - shape.lowest;
        });
    } else if (shape.nominal()) {
        fill([&](T v) { return static_cast<std::int64_t>(v) < 0 ? missing : static_cast<RowKey>(v); });
    } else if (column.missing == nullptr && shape.unused == 0) {
        fill([&](T v) { return key_of(static_cast<std::int64_t>(v)) - shape.lowest; });
    } else {
        for (std::size_t i = 0; i < n; ++i) {
            const T v = data[static_cast<std::ptrdiff_t>(i) * column.stride];
            to[i] = column.missing != nullptr && column.missing[first + i] != 0
                        ? missing
                        : shape.key_at(key_of(static_cast<std::int64_t>(v)) - shape.lowest);
            greatest = std::max(greatest, to[i]);
        }
    }
    return greatest <= missing;
}

bool read_column(const AttributeShape &shape, const ChunkColumn &column, std::size_t first, std::size_t n,
                 RowKey *to) {
    switch (column.type) {
        using enum ChunkColumn::Type;
    case f32:
        return read_keys<float>(shape, column, first, n, to);
    case f64:
        return read_keys<double>(shape, column, first, n, to);
    case i8:
        return read_keys<std::int8_t>(shape, column, first, n, to);
    case i16:
        return read_keys<std::int16_t>(shape, column, first, n, to);
    case i32:
        return read_keys<std::int32_t>(shape, column, first, n, to);
    case i64:
        return read_keys<std::int64_t>(shape, column, first, n, to);
    case u8:
        return read_keys<std::uint8_t>(shape, column, first, n, to);
    case u16:
        return read_keys<std::uint16_t>(shape, column, first, n, to);
    case u32:
        return read_keys<std::uint32_t>(shape, column, first, n, to);
    }
    return false;
}

/// Calls put(i, number) for the numbers of `width` bytes at `offset` of n rows. Eight bytes are read at once,
/// but for the last rows, behind which there may be nothing.
template <class Put> void each_number(const RowLayout &layout, const std::uint8_t *rows, std::size_t n,
                                      std::size_t offset, unsigned width, Put put) {
    const std::size_t stride = layout.stride, end = n * stride;
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * width);
    const std::size_t safe = end < offset + 8 ? 0 : (end - offset - 8) / stride + 1;
    const std::uint8_t *from = rows + offset;
    for (std::size_t i = 0; i < safe; ++i, from += stride) {
        std::uint64_t value;
        std::memcpy(&value, from, 8);
        put(i, value & mask);
    }
    for (std::size_t i = safe; i < n; ++i, from += stride) {
        std::uint64_t value = 0;
        std::memcpy(&value, from, width);
        put(i, value);
    }
}

/// The same, of numbers up to `most`.
template <class Put> void each_number_up_to(std::uint64_t most, const RowLayout &layout,
                                            const std::uint8_t *rows, std::size_t n, std::size_t offset,
                                            Put put) {
    std::uint64_t greatest = 0;
    each_number(layout, rows, n, offset, width_of_key(most), [&](std::size_t i, std::uint64_t number) {
        greatest = std::max(greatest, number);
        put(i, number);
    });
    if (greatest > most) refuse_kept_rows();
}

void pack_numbers(const RowLayout &layout, const RowBlock &block, BlockRow row, std::uint8_t *to) {
    const std::size_t q = layout.sums.n_targets();
    if (layout.sums.weighted()) std::memcpy(to + layout.weight_offset, &block.weights[row], sizeof(double));
    if (q != 0) std::memcpy(to + layout.target_offset, &block.targets[row * q], q * sizeof(double));
}

} // namespace

void refuse_kept_rows() {
    throw DamagedBytes(
        "rows that were put away came back damaged: run it again, or look at disk and network");
}

double AttributeShape::float_at(RowKey key) const { return float_of(key + lowest); }
std::int64_t AttributeShape::integer_at(RowKey key) const { return integer_of(place_of(key) + lowest); }

RowLayout::RowLayout(std::vector<AttributeShape> given, std::size_t n_classes, std::size_t n_folds,
                     SumShape of_numbers)
    : attributes(std::move(given)), n_classes(n_classes), n_folds(n_folds), sums(std::move(of_numbers)) {
    for (AttributeShape &a : attributes) {
        if (a.missing() == 0) throw std::invalid_argument("an attribute spans all whole numbers of 64 bits");
        a.width = width_of_key(a.missing());
        a.offset = stride;
        stride += a.width;
    }
    class_offset = stride;
    stride += width_of_key(n_classes - 1);
    fold_offset = stride;
    if (n_folds > 1) stride += width_of_key(n_folds - 1);
    weight_offset = stride;
    if (sums.weighted()) stride += sizeof(double);
    target_offset = stride;
    stride += sums.n_targets() * sizeof(double);
}

RowBlock::RowBlock(const RowLayout &layout)
    : joint(block_rows), keys_(layout.attributes.size()), there_(layout.attributes.size()) {
    for (auto &k : keys_) {
        k.resize(block_rows);
        columns_.push_back(k.data());
    }
    if (layout.sums.weighted()) weights.resize(block_rows);
    targets.resize(block_rows * layout.sums.n_targets());
    sums_.resize(block_rows * layout.sums.words());
}

void RowBlock::read(const RowLayout &layout, const Chunk &chunk, std::size_t first, std::size_t rows) {
    n = rows;
    packed_ = nullptr;
    std::fill(there_.begin(), there_.end(), std::uint8_t{1});
    for (std::size_t a = 0; a < keys_.size(); ++a)
        if (!read_column(layout.attributes[a], chunk.columns[a], first, n, keys_[a].data())) refuse_value(a);
    const auto k = static_cast<std::uint32_t>(layout.n_classes);
    if (chunk.classes.empty())
        std::fill_n(joint.begin(), n, 0u);
    else
        for (std::size_t i = 0; i < n; ++i) joint[i] = chunk.classes[first + i];
    if (!layout.sums.empty()) read_numbers(layout, chunk, first);
    if (!chunk.folds.empty())
        for (std::size_t i = 0; i < n; ++i) joint[i] += chunk.folds[first + i] * k;
}

void RowBlock::open(const RowLayout &layout, const std::uint8_t *rows, std::size_t n_rows) {
    n = n_rows;
    packed_ = rows;
    std::fill(there_.begin(), there_.end(), std::uint8_t{0});
    unpack_joint(layout);
    if (!layout.sums.empty()) unpack_numbers(layout);
}

void RowBlock::unpack_keys(const RowLayout &layout, std::size_t attribute) {
    const AttributeShape &shape = layout.attributes[attribute];
    RowKey *to = keys_[attribute].data();
    each_number_up_to(shape.missing(), layout, packed_, n, shape.offset,
                      [to](std::size_t i, RowKey key) { to[i] = key; });
    there_[attribute] = 1;
}

void RowBlock::unpack_joint(const RowLayout &layout) {
    std::uint32_t *to = joint.data();
    each_number_up_to(
        layout.n_classes - 1, layout, packed_, n, layout.class_offset,
        [to](std::size_t i, std::uint64_t klass) { to[i] = static_cast<std::uint32_t>(klass); });
    if (layout.n_folds == 1) return;
    each_number_up_to(layout.n_folds - 1, layout, packed_, n, layout.fold_offset,
                      [to, k = layout.n_classes](std::size_t i, std::uint64_t fold) {
                          to[i] += static_cast<std::uint32_t>(fold * k);
                      });
}

void RowBlock::read_numbers(const RowLayout &layout, const Chunk &chunk, std::size_t first) {
    const std::size_t q = layout.sums.n_targets();
    if (layout.sums.weighted()) std::copy_n(chunk.weights.data() + first, n, weights.data());
    std::copy_n(chunk.targets.data() + first * q, n * q, targets.data());
    summed_ = false;
}

void RowBlock::unpack_numbers(const RowLayout &layout) {
    const std::size_t q = layout.sums.n_targets();
    const std::uint8_t *row = packed_;
    summed_ = false;
    for (std::size_t i = 0; i < n; ++i, row += layout.stride) {
        if (layout.sums.weighted()) std::memcpy(&weights[i], row + layout.weight_offset, sizeof(double));
        if (q != 0) std::memcpy(&targets[i * q], row + layout.target_offset, q * sizeof(double));
    }
    const auto weigh = std::span(weights).first(layout.sums.weighted() ? n : 0);
    const bool weighty = std::all_of(weigh.begin(), weigh.end(), [](double w) { return w > 0.0; });
    if (!weighty || !holds(layout.sums.weights(), weigh) ||
        !holds(layout.sums.targets(), std::span(targets).first(n * q)))
        refuse_kept_rows();
}

const std::uint64_t *RowBlock::sums(const RowLayout &layout) {
    const std::size_t q = layout.sums.n_targets(), words = layout.sums.words();
    for (std::size_t i = 0; !summed_ && i < n; ++i) {
        std::uint64_t *to = sums_.data() + i * words;
        layout.sums.write(to, weights.empty() ? 1.0 : weights[i], targets.data() + i * q);
        if (taken_away) layout.sums.negate(to);
    }
    summed_ = true;
    return sums_.data();
}

RowStore::Block &RowStore::block_with_room(std::size_t stride) {
    if (blocks_.empty() || blocks_.back().rows == blocks_.back().room) {
        Block b;
        b.room = blocks_.empty() ? first_rows : std::min(most_rows, 4 * blocks_.back().room);
        b.bytes = std::make_unique_for_overwrite<std::uint8_t[]>(b.room * stride + slack);
        bytes_ += b.room * stride + slack;
        blocks_.push_back(std::move(b));
    }
    return blocks_.back();
}

void RowStore::add(const RowLayout &layout, const RowBlock &block, std::span<const BlockRow> rows) {
    const std::size_t stride = layout.stride;
    rows_ += rows.size();
    while (!rows.empty()) {
        Block &b = block_with_room(stride);
        const std::span<const BlockRow> part = rows.first(std::min(rows.size(), b.room - b.rows));
        std::uint8_t *to = b.bytes.get() + b.rows * stride;
        if (block.packed_ == nullptr)
            pack(layout, block, part, to);
        else
            for (BlockRow row : part) {
                std::memcpy(to, block.packed_ + row * stride, stride);
                to += stride;
            }
        b.rows += part.size();
        rows = rows.subspan(part.size());
    }
}

void RowStore::pack(const RowLayout &layout, const RowBlock &block, std::span<const BlockRow> rows,
                    std::uint8_t *to) {
    const std::size_t k = layout.n_classes, n_attributes = layout.attributes.size();
    const AttributeShape *shape = layout.attributes.data();
    const RowKey *const *keys = block.columns_.data();
    // A key is written as 8 bytes; what it spoils behind it is written next, or is slack.
    for (BlockRow row : rows) {
        for (std::size_t a = 0; a < n_attributes; ++a) std::memcpy(to + shape[a].offset, keys[a] + row, 8);
        const std::uint64_t klass = block.joint[row] % k, fold = block.joint[row] / k;
        std::memcpy(to + layout.class_offset, &klass, 8);
        if (layout.n_folds > 1) std::memcpy(to + layout.fold_offset, &fold, 8);
        if (!layout.sums.empty()) pack_numbers(layout, block, row, to);
        to += layout.stride;
    }
}

void RowStore::add_bytes(const RowLayout &layout, std::span<const std::uint8_t> rows) {
    const std::size_t stride = layout.stride;
    std::size_t left = rows.size() / stride;
    const std::uint8_t *from = rows.data();
    rows_ += left;
    while (left != 0) {
        Block &b = block_with_room(stride);
        const std::size_t n = std::min(left, b.room - b.rows);
        std::memcpy(b.bytes.get() + b.rows * stride, from, n * stride);
        b.rows += n;
        from += n * stride;
        left -= n;
    }
}

void RowStore::take(RowStore &&other) {
    // A block that has room stays the last one.
    blocks_.insert(blocks_.begin(), std::make_move_iterator(other.blocks_.begin()),
                   std::make_move_iterator(other.blocks_.end()));
    rows_ += other.rows_;
    bytes_ += other.bytes_;
    other = {};
}

} // namespace hornbeam
