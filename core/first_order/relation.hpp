// Relations of a database of examples: rows of codes, partitioned by the example that owns them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "numbers/xlog.hpp"
#include "running/cancel.hpp"

namespace hornbeam {

/// A value, as its place in the domain of its type.
using Code = std::int32_t;
inline constexpr Code null_code = -1; // equals nothing, lies on no side of a threshold, but may be bound
inline constexpr Code no_code = -2;   // of a constant outside the domain: no cell has it

/// What the codes of a type stand for. Invariant: numbers ascend with their codes.
struct ValueDomain {
    enum class Kind : std::uint8_t { nominal, floats, integers };
    Kind kind = Kind::nominal;
    Code size = 0;
    std::vector<double> floats;
    std::vector<std::int64_t> integers;

    bool numeric() const { return kind != Kind::nominal; }
    /// The largest code whose value is not above the threshold between the values of two codes.
    Code cut_between(Code lo, Code hi) const;
    double float_threshold(Code lo, Code hi) const;
    std::int64_t integer_threshold(Code lo, Code hi) const;
};

/// Rows begin..end, or those that `via` lists at these places, in ascending order.
struct RowRange {
    std::uint32_t begin = 0, end = 0;
    const std::uint32_t *via = nullptr;

    std::uint32_t row(std::uint32_t i) const { return via == nullptr ? i : via[i]; }
};

/// Invariant: the rows of an example are neighbours and keep the order of the table. Each column has an index
/// (rows by example, value, row) where some example has more rows than are scanned.
class Relation {
  public:
    static constexpr std::uint32_t scanned = 12; // rows that are read one by one rather than searched

    /// `owner` is empty where all examples share the rows; rows of no example (a negative owner) are left
    /// out.
    Relation(std::span<const std::span<const Code>> columns, std::span<const Code> owner, bool shared,
             std::size_t n_examples, int key, Cancel &cancel);

    std::size_t n_columns() const { return columns_.size(); }
    std::size_t n_rows() const { return n_rows_; }
    /// The column that holds the key of the example that owns the row, or -1.
    int key() const { return key_; }
    const Code *column(std::size_t c) const { return columns_[c].data(); }
    RowRange rows_of(std::size_t example) const {
        if (shared_) return {0, static_cast<std::uint32_t>(n_rows_)};
        return {start_[example], start_[example + 1]};
    }
    /// The rows of an example with this value in a column, or at least all of them.
    RowRange rows_with(std::size_t example, std::size_t column, Code value) const {
        RowRange all = rows_of(example);
        if (all.end - all.begin <= scanned) return all;
        return searched(all, column, value);
    }
    /// The row of the table that it was.
    std::uint32_t source_of(std::uint32_t row) const { return source_.empty() ? row : source_[row]; }
    std::size_t bytes() const;

  private:
    bool shared_;
    int key_;
    std::size_t n_rows_ = 0;
    std::vector<std::vector<Code>> columns_;
    std::vector<std::uint32_t> start_;              // by example, and one more
    std::vector<std::uint32_t> source_;             // empty: the rows were in order
    std::vector<std::vector<std::uint32_t>> index_; // by column

    RowRange searched(RowRange all, std::size_t column, Code value) const;
    void partition(std::span<const std::span<const Code>> columns, std::span<const Code> owner,
                   std::size_t n_examples, Cancel &cancel);
    void index(std::size_t n_examples, Cancel &cancel);
};

/// The examples by their keys' codes, the domains, and the relations; queries name the latter by number.
struct RelationalDatabase {
    std::size_t n_examples = 0;
    std::vector<Code> keys; // no_code: the key is in no domain
    std::vector<ValueDomain> domains;
    std::vector<Relation> relations;
    /// For counts up to the number of examples, once some growth has needed it.
    std::shared_ptr<const XlogTable> xlog = {};
};

} // namespace hornbeam
