// Rows on their way through a scan: every value a whole number from 0 in its attribute's order, and the few
// bytes that a row takes where it is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "criteria/statistics.hpp"
#include "scans/sums.hpp"

namespace hornbeam {

/// What of an attribute is counted and compared: the value's place above the lowest one, or the category.
using RowKey = std::uint64_t;

enum class ValueKind : std::uint8_t { floats, integers, nominal };

/// One attribute of all rows of a source. Keys up to `highest` are values, `missing()` is a missing one.
struct AttributeShape {
    ValueKind kind = ValueKind::floats;
    std::uint64_t lowest = 0; // the lowest value, as an unsigned number of the same order
    std::uint64_t unused = 0; // where all 64 bits are spanned: a place above lowest that no row has
    RowKey highest = 0;       // of a nominal attribute: its last category
    unsigned width = 1;       // bytes of a key that is kept
    std::size_t offset = 0;   // in a row that is kept

    bool nominal() const { return kind == ValueKind::nominal; }
    RowKey missing() const { return highest + 1; }
    /// The key of a value so far above the lowest one. The values above an unused one come a key earlier, so
    /// that a key is left for a missing value.
    RowKey key_at(std::uint64_t place) const { return place - (unused != 0 && place >= unused ? 1 : 0); }
    std::uint64_t place_of(RowKey key) const { return key + (unused != 0 && key >= unused ? 1 : 0); }
    double float_at(RowKey key) const;
    std::int64_t integer_at(RowKey key) const;
};

/// Where the parts of a row lie. A row is kept as its keys, its class, its fold, its weight and its targets.
/// Where numbers are predicted there is one class.
struct RowLayout {
    std::vector<AttributeShape> attributes;
    std::size_t n_classes = 2, n_folds = 1;
    SumShape sums; // of weights and targets; empty where rows are only counted
    std::size_t class_offset = 0, fold_offset = 0, weight_offset = 0, target_offset = 0;
    std::size_t stride = 0;

    /// Completes the widths and offsets of attributes. Throws std::invalid_argument where there is no key
    /// left for a missing value.
    RowLayout(std::vector<AttributeShape> attributes, std::size_t n_classes, std::size_t n_folds,
              SumShape sums = {});
    std::size_t n_joint() const { return n_classes * n_folds; }
};

/// A column of a chunk as it arrives: any type of number, no copy.
struct ChunkColumn {
    enum class Type : std::uint8_t { f32, f64, i8, i16, i32, i64, u8, u16, u32 };
    Type type = Type::f64;
    const void *data = nullptr;
    std::ptrdiff_t stride = 1;             // in elements
    const std::uint8_t *missing = nullptr; // nonzero for a missing row
};

/// Rows of a source, all columns of the same length.
struct Chunk {
    std::size_t n = 0;
    std::vector<ChunkColumn> columns;
    std::span<const ClassCode> classes;   // empty: one class
    std::span<const std::uint16_t> folds; // empty: one fold
    std::span<const double> weights;      // empty: all rows weigh 1
    std::span<const double> targets;      // row-major
};

inline constexpr std::size_t block_rows = 4096;
using BlockRow = std::uint16_t;

/// Bytes from a file or from another process are not what was written.
struct DamagedBytes : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};
[[noreturn]] void refuse_kept_rows();

/// Up to block_rows rows at once, by column. The joint class of a row is its fold times the classes plus its
/// class: what is counted by it tells the folds apart.
struct RowBlock {
    std::size_t n = 0;
    std::vector<std::uint32_t> joint;
    std::vector<double> weights, targets;
    bool taken_away = false;

    explicit RowBlock(const RowLayout &layout);
    RowBlock(const RowBlock &) = delete; // it knows where its keys are
    RowBlock(RowBlock &&) = default;
    /// Takes rows of a chunk. Throws std::invalid_argument for a value outside its attribute's range: the
    /// source has changed.
    void read(const RowLayout &layout, const Chunk &chunk, std::size_t first, std::size_t rows);
    /// Takes rows that were kept, which stay where they are while this is in use: their keys are unpacked as
    /// they are asked for. They may come from a file or from another process: whatever is unpacked is in its
    /// range, or DamagedBytes is thrown.
    void open(const RowLayout &layout, const std::uint8_t *rows, std::size_t n);
    /// Whether so few of its rows are asked for that unpacking all of them would not pay.
    bool few(std::size_t rows) const { return packed_ != nullptr && 2 * rows < n; }
    /// The key of an attribute in one of the rows that were kept.
    RowKey key(const RowLayout &layout, const AttributeShape &shape, BlockRow row) const {
        const std::uint8_t *from = packed_ + row * layout.stride + shape.offset;
        RowKey key = 0;
        std::memcpy(&key, from, row + 1u < n && layout.stride >= 8 ? 8 : shape.width);
        key &= ~RowKey{0} >> (64 - 8 * shape.width);
        if (key > shape.missing()) refuse_kept_rows();
        return key;
    }
    /// The keys of an attribute.
    const RowKey *keys(const RowLayout &layout, std::size_t attribute) {
        if (there_[attribute] == 0) unpack_keys(layout, attribute);
        return columns_[attribute];
    }
    /// What each row adds to sums; where its rows are `taken_away`, that with the other sign.
    const std::uint64_t *sums(const RowLayout &layout);

  private:
    friend class RowStore;
    std::vector<std::vector<RowKey>> keys_;
    std::vector<const RowKey *> columns_;  // where keys_ are
    std::vector<std::uint8_t> there_;      // by attribute: keys_ are those of these rows
    const std::uint8_t *packed_ = nullptr; // rows that were kept
    SumWords sums_;
    bool summed_ = false; // sums_ are those of these rows
    void unpack_keys(const RowLayout &layout, std::size_t attribute);
    void unpack_joint(const RowLayout &layout);
    void unpack_numbers(const RowLayout &layout);
    void read_numbers(const RowLayout &layout, const Chunk &chunk, std::size_t first);
};

/// Rows that are kept, in blocks.
class RowStore {
  public:
    RowStore() = default;
    RowStore(const RowStore &) = delete; // what is kept may be large
    RowStore(RowStore &&) = default;
    RowStore &operator=(RowStore &&) = default;
    void add(const RowLayout &layout, const RowBlock &block, std::span<const BlockRow> rows);
    /// Takes the rows of another store.
    void take(RowStore &&other);
    void add_bytes(const RowLayout &layout, std::span<const std::uint8_t> rows);
    std::uint64_t rows() const { return rows_; }
    std::size_t bytes() const { return bytes_; }
    bool empty() const { return rows_ == 0; }
    /// Calls visit(bytes, number of rows) for each block.
    template <class Visit> void each(Visit visit) const {
        for (const Block &b : blocks_)
            if (b.rows != 0) visit(b.bytes.get(), b.rows);
    }

  private:
    static constexpr std::size_t most_rows = 4096, first_rows = 64; // of a block
    static constexpr std::size_t slack = 8;                         // a key is written as 8 bytes
    struct Block {
        std::unique_ptr<std::uint8_t[]> bytes;
        std::size_t rows = 0, room = 0;
    };
    std::vector<Block> blocks_;
    std::uint64_t rows_ = 0;
    std::size_t bytes_ = 0;

    Block &block_with_room(std::size_t stride);
    static void pack(const RowLayout &layout, const RowBlock &block, std::span<const BlockRow> rows,
                     std::uint8_t *to);
};

} // namespace hornbeam
