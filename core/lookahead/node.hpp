// A node of the lookahead search: its rows as bits of columns, and what samples trees below it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "growth/grow.hpp"
#include "numbers/xlog.hpp"
#include "table/column.hpp"
#include "tree/tree.hpp"

namespace hornbeam {

/// The key of a place in the search, from the key of the place that it belongs to. Draws depend on keys
/// alone, so never on order, threads or what was cut short.
inline std::uint64_t mix(std::uint64_t key, std::uint64_t x) {
    std::uint64_t z = key + 0x9E3779B97F4A7C15u * (x + 1);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
/// A number from 0 to below 1.
inline double unit(std::uint64_t key) { return static_cast<double>(key >> 11) * 0x1p-53; }

/// What a test is drawn with besides its gain: one without gain has a chance as well.
inline constexpr double draw_weight = 0.001;

/// An attribute with two or more known values at a node. Either *columns* of bits, a bit a row: first the
/// rows whose value is missing, if any; then, nominal: the rows of each value present, in order of codes (of
/// two values the first alone); numeric: the rows up to each value but the last. Or *listed*: entries of
/// (rank or code, row of the node) in order.
struct NodeAttribute {
    std::int32_t attribute = 0;
    bool nominal = false, missing = false, listed = false;
    std::uint32_t values = 0;
    std::uint32_t size = 0;  // listed: entries, that is rows with a value
    std::uint64_t first = 0; // word of the first column, or first entry
    std::uint32_t columns() const { return !nominal || values == 2 ? values - 1 : values; }
};

/// Rows are numbered from 0 at each node; a column has a word for each 64 of them, and its spare bits are 0.
/// Classes are those present, in order. Their columns come first: of two classes the rows of the first, of
/// more one for each.
struct NodeView {
    std::uint32_t n = 0, words = 0, classes = 0;
    std::uint32_t n_attributes = 0;
    bool lists = false; // some attribute is listed
    const NodeAttribute *attributes = nullptr;
    const std::uint64_t *bits = nullptr;
    const Entry *entries = nullptr;
    const std::uint16_t *code = nullptr; // the class of each row, where there are lists
    std::uint64_t n_bits = 0, n_entries = 0;

    std::uint32_t class_columns() const { return classes == 2 ? 1 : classes; }
    bool pure() const { return classes < 2; }
    bool leaf() const { return pure() || n_attributes == 0; }
};

/// The room of a node.
struct NodeRoom {
    std::uint64_t attributes = 0, bits = 0, entries = 0, codes = 0;
};

/// A node that owns its arrays.
struct OwnNode {
    NodeView view;
    std::unique_ptr<NodeAttribute[]> attributes;
    std::unique_ptr<std::uint64_t[]> bits;
    std::unique_ptr<Entry[]> entries;
    std::unique_ptr<std::uint16_t[]> code;

    OwnNode() = default;
    explicit OwnNode(const NodeRoom &room)
        : attributes(new NodeAttribute[room.attributes]), bits(new std::uint64_t[room.bits]),
          entries(new Entry[room.entries]), code(new std::uint16_t[room.codes]) {
        view.attributes = attributes.get();
        view.bits = bits.get();
        view.entries = entries.get();
        view.code = code.get();
    }
};

/// A test of a node. Branch 0 of a numeric test is the first `at` entries of a list, or the rows of column
/// `at`; of a value test the value `at`; of a subset test the values whose bit is set from word `sides`
/// onward.
struct NodeTest {
    std::uint32_t place = 0; // which of the node's attributes
    TestKind kind = TestKind::leaf;
    bool perfect = false; // every branch is pure
    std::uint32_t branches = 2;
    std::uint32_t at = 0;
    std::uint32_t default_child = 0;
    std::uint64_t sides = 0;
    double gain = 0.0;
};

struct LookaheadOptions {
    NominalMode nominal = NominalMode::value;
    bool endings = true; // exact sizes of 3 and 4 leaves
    bool aborts = true;  // samples that cannot matter end early
    bool fast = true;    // columns of bits; off: lists everywhere
    int threads = 1;
};

inline constexpr std::uint32_t no_limit = 0xFFFFFFFFu;

/// Which tests of a node are wanted: those that a sample draws from, or all of them.
enum class TestRange : std::uint8_t { candidates, all };

/// What samples trees below a node, one for each instruction set. All give the same results.
class Sampler {
  public:
    virtual ~Sampler();
    /// Makes room for all that lies below a node.
    virtual void open(const NodeView &node) = 0;
    /// The tests of a node, valid until they are asked for again, whatever is sampled meanwhile; `sides` are
    /// the sets of values of subset tests.
    virtual std::size_t tests(const NodeView &node, TestRange range) = 0;
    virtual const NodeTest *found() const = 0;
    virtual const std::uint64_t *sides() const = 0;
    virtual std::size_t n_sides() const = 0;
    /// The rows of a branch, a bit each.
    virtual void mask(const NodeView &node, const NodeTest &test, const std::uint64_t *sides,
                      std::uint32_t branch, std::uint64_t *out) = 0;
    /// The node that a branch leads to.
    virtual OwnNode branch(const NodeView &node, const std::uint64_t *mask) = 0;
    /// The smallest of the sizes of the trees sampled below a node of rows `mask`, of keys mix(key, first)
    /// onward; where it is not below `limit` any number from `limit` may come back.
    virtual std::uint32_t smallest(const NodeView &node, const std::uint64_t *mask, std::uint64_t key,
                                   std::uint64_t first, std::uint64_t repetitions, std::uint32_t limit) = 0;
    /// The size of one sampled tree.
    virtual std::uint32_t size(const NodeView &node, std::uint64_t key) = 0;
    /// 3 or 4 where the exact ending applies and finds such a tree; 0 otherwise.
    virtual std::uint32_t ending(const NodeView &node) = 0;
};

struct SamplerSetting {
    LookaheadOptions options;
    const XlogTable *xlog = nullptr; // for every number of rows
    Cancel *cancel = nullptr;
};

/// `kernels` as for growing: "auto", "plain", "avx2" or "avx512".
std::unique_ptr<Sampler> make_sampler(std::string_view kernels, const SamplerSetting &setting);

} // namespace hornbeam
