// From a row to its leaf: a compact copy of the tree and the loops that walk it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "running/cancel.hpp"
#include "tree/tree.hpp"
#include "tree/verify.hpp"

namespace hornbeam {

/// One column of the rows to route, never copied. Strides are in bytes.
struct RouteColumn {
    AttributeKind kind = AttributeKind::floating;
    const char *data = nullptr; // double, int64_t or int32_t by kind
    std::ptrdiff_t stride = 0;
    const std::uint8_t *missing = nullptr; // integers only; nonzero where missing
    std::ptrdiff_t missing_stride = 0;
};

/// Invariant: built from a verified tree, so every index inside is in range; constant after construction, so
/// any number of threads may route at once.
class Router {
  public:
    /// Throws InvalidTree where the tree does not verify.
    Router(const FlatTree &tree, std::span<const std::uint8_t> attribute_kinds, Cancel &cancel);
    /// Of a tree that the core has grown or verified: of its arrays only those of tests and children are
    /// read.
    static Router trusting(const FlatTree &tree, std::span<const std::uint8_t> attribute_kinds,
                           Cancel &cancel);

    std::size_t n_attributes() const { return kinds_.size(); }
    std::span<const std::uint8_t> attribute_kinds() const { return kinds_; }
    AttributeKind attribute_kind(std::size_t i) const { return static_cast<AttributeKind>(kinds_[i]); }

    /// The leaf of each row. `columns` has one entry for each attribute, of the attribute's kind, n_rows
    /// long.
    void apply(std::span<const RouteColumn> columns, std::size_t n_rows, int threads, std::int32_t *leaves,
               Cancel &cancel) const {
        route(columns, nullptr, n_rows, threads, leaves, cancel);
    }
    /// The leaf of each of some rows, every one of them below the length of the columns.
    void apply_to(std::span<const RouteColumn> columns, std::span<const std::int64_t> rows, int threads,
                  std::int32_t *leaves, Cancel &cancel) const {
        route(columns, rows.data(), rows.size(), threads, leaves, cancel);
    }
    /// Where the path of each row begins in a list of all paths: n_rows + 1 positions.
    void measure_paths(const std::int32_t *leaves, std::size_t n_rows, std::int64_t *start,
                       Cancel &cancel) const;
    /// The nodes from the root to the leaf, ascending, at the positions that measure_paths found.
    void write_paths(const std::int32_t *leaves, std::size_t n_rows, const std::int64_t *start,
                     std::int32_t *nodes, Cancel &cancel) const;

  private:
    /// 16 bytes. A leaf is a float test that always holds and leads to itself: the walk needs no check for
    /// it.
    struct Node {
        union {
            double real;
            std::int64_t integer;
            std::int64_t map;
            std::uint64_t bits;
        } bound;
        std::uint32_t first; // where the test holds; the other child is the next node
        std::uint32_t packed;
    };
    /// Where the categories base .. base + span - 1 of a nominal node go: `targets_[offset + code - base]`,
    /// or, where they are too thinly spread, by search among `codes_[offset ..]`, `span` of them.
    struct CategoryMap {
        std::int64_t offset;
        std::int32_t base;
        std::uint32_t span;
        std::uint32_t otherwise;
        bool searched;
    };
    /// Whether all tests are of numbers; all are nominal, and category c goes to child `bits >> c & 1`; or
    /// there are others too, by maps.
    enum class Asks : std::uint8_t { numbers, bits, maps };
    static constexpr std::uint32_t bits_of_node = 64;
    struct Source;
    struct Walk;

    explicit Router(std::span<const std::uint8_t> attribute_kinds);
    void prepare(const FlatTree &tree, Cancel &cancel);
    void add_node(const FlatTree &tree, std::size_t i);
    void add_map(const FlatTree &tree, std::size_t i);
    static bool fits_bits(const FlatTree &tree, std::size_t i);
    static std::uint64_t bits_of(const FlatTree &tree, std::size_t i);
    std::uint32_t lookup(const CategoryMap &map, std::int32_t code) const;
    std::size_t rows_per_chunk() const;
    /// The leaves of rows 0 .. n_rows - 1, or of those that `rows` names, if it is not null.
    void route(std::span<const RouteColumn> columns, const std::int64_t *rows, std::size_t n_rows,
               int threads, std::int32_t *leaves, Cancel &cancel) const;
    template <class Place> void walk_rows(const Walk &walk, Place place, std::size_t begin, std::size_t end,
                                          std::int32_t *leaves) const;
    template <bool one_block, class Place> void walk_floats(const Walk &walk, Place place, std::size_t begin,
                                                            std::size_t end, std::int32_t *leaves) const;
    template <Asks asks, class Place> void walk_mixed(const Walk &walk, Place place, std::size_t begin,
                                                      std::size_t end, std::int32_t *leaves) const;
    template <Asks asks>
    std::uint32_t step(const Node &node, const Source *sources, std::ptrdiff_t row) const;

    std::vector<std::uint8_t> kinds_;
    std::vector<std::int32_t> used_; // attributes that some node tests
    std::vector<Node> nodes_;
    std::vector<std::int32_t> parent_;
    std::vector<CategoryMap> maps_;
    std::vector<std::int32_t> codes_;
    std::vector<std::uint32_t> targets_;
    std::size_t depth_ = 0;
    bool all_float_ = true;
    bool any_nominal_ = false;
    bool by_bits_ = false; // all tests are nominal, and told by bits
};

} // namespace hornbeam
