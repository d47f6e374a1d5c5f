// From a row to its leaf. A step is one load of a 16-byte node, one load of the value and no branch for
// numeric tests; several rows walk side by side, so that their loads overlap.
#include "tree/route.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <system_error>
#include <thread>

namespace hornbeam {

namespace {

constexpr std::uint32_t attribute_bits = 0xffffff;
constexpr std::uint32_t default_flag = 1u << 24; // missing goes to the second child
constexpr std::uint32_t integer_flag = 1u << 25;
constexpr std::uint32_t nominal_flag = 1u << 26;
constexpr std::size_t lanes = 8; // rows that walk side by side
constexpr std::size_t cache_line = 64, most_lines = 16;

template <class T> T load(const char *at) {
    T value;
    std::memcpy(&value, at, sizeof value); // views of packed records need not be aligned
    return value;
}

constexpr double zero = 0.0;
constexpr std::uint8_t present = 0;

/// Which row of the table is the i-th to be routed.
struct InOrder {
    static constexpr bool scattered = false;
    std::ptrdiff_t operator()(std::size_t i) const { return static_cast<std::ptrdiff_t>(i); }
};
struct Named {
    static constexpr bool scattered = true;
    const std::int64_t *rows;
    std::ptrdiff_t operator()(std::size_t i) const { return static_cast<std::ptrdiff_t>(rows[i]); }
};

/// Joins what it started, also when the calling thread leaves by an exception.
class Team {
  public:
    /// False where the system gives no further thread: those that are there do the work.
    template <class F> bool start(F work) {
        try {
            threads_.emplace_back(work);
        } catch (const std::system_error &) {
            return false;
        } catch (const std::bad_alloc &) {
            return false;
        }
        return true;
    }
    ~Team() {
        for (auto &thread : threads_) thread.join();
    }

  private:
    std::vector<std::thread> threads_;
};

} // namespace

/// A column as a step reads it; where nothing can be missing `missing` stands still on a zero.
struct Router::Source {
    const char *data;
    std::ptrdiff_t stride;
    const std::uint8_t *missing;
    std::ptrdiff_t missing_stride;
};

/// The columns of one call, prepared.
struct Router::Walk {
    std::vector<Source> sources;     // by attribute; the last one is the column of the leaves
    std::vector<const char *> bases; // by attribute, where all used columns share one stride
    const char *origin = nullptr;    // where attribute 0 lies, or would lie, in a row-major matrix
    std::ptrdiff_t stride = 0;
    std::size_t lines = 0;  // of the cache that a row of such a matrix takes, up to most_lines
    bool uniform = false;   // all floats, one stride
    bool one_block = false; // and attribute i lies 8 * i bytes behind the origin: a row-major matrix
};

Router::Router(std::span<const std::uint8_t> attribute_kinds)
    : kinds_(attribute_kinds.begin(), attribute_kinds.end()) {
    if (kinds_.size() >= attribute_bits)
        throw InvalidTree("tree: " + std::to_string(kinds_.size()) + " attributes");
}

Router::Router(const FlatTree &tree, std::span<const std::uint8_t> attribute_kinds, Cancel &cancel)
    : Router(attribute_kinds) {
    verify_tree(tree, attribute_kinds, {}, cancel);
    prepare(tree, cancel);
}

Router Router::trusting(const FlatTree &tree, std::span<const std::uint8_t> attribute_kinds, Cancel &cancel) {
    Router router(attribute_kinds);
    router.prepare(tree, cancel);
    return router;
}

void Router::prepare(const FlatTree &tree, Cancel &cancel) {
    std::size_t n = tree.n_nodes();
    std::vector<bool> used(kinds_.size(), false);
    for (std::size_t i = 0; i < n; ++i)
        if (tree.attribute[i] >= 0) used[static_cast<std::size_t>(tree.attribute[i])] = true;
    for (std::size_t a = 0; a < kinds_.size(); ++a) {
        if (!used[a]) continue;
        used_.push_back(static_cast<std::int32_t>(a));
        all_float_ &= attribute_kind(a) == AttributeKind::floating;
        any_nominal_ |= attribute_kind(a) == AttributeKind::nominal;
    }
    by_bits_ = any_nominal_;
    for (std::size_t i = 0; i < n && by_bits_; ++i)
        by_bits_ = static_cast<TestKind>(tree.kind[i]) == TestKind::leaf || fits_bits(tree, i);
    nodes_.resize(n);
    parent_.assign(n, -1);
    std::vector<std::int32_t> depth(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
        if (i % 8192 == 8191) cancel.poll();
        auto first = static_cast<std::size_t>(tree.first_child[i]);
        for (std::size_t c = 0; c < static_cast<std::size_t>(tree.n_children[i]); ++c) {
            parent_[first + c] = static_cast<std::int32_t>(i);
            depth[first + c] = depth[i] + 1;
        }
        add_node(tree, i);
    }
    depth_ = static_cast<std::size_t>(*std::max_element(depth.begin(), depth.end()));
}

void Router::add_node(const FlatTree &tree, std::size_t i) {
    Node &node = nodes_[i];
    auto kind = static_cast<TestKind>(tree.kind[i]);
    if (kind == TestKind::leaf) {
        if (by_bits_)
            node.bound.bits = 0;
        else
            node.bound.real = std::numeric_limits<double>::infinity();
        node.first = static_cast<std::uint32_t>(i);
        // The parent's column has just been touched; among mixed columns it may be no double, so a leaf has
        // its own.
        bool own = !all_float_ || parent_[i] < 0;
        node.packed = own ? static_cast<std::uint32_t>(kinds_.size())
                          : static_cast<std::uint32_t>(tree.attribute[static_cast<std::size_t>(parent_[i])]);
        return;
    }
    auto attribute = static_cast<std::size_t>(tree.attribute[i]);
    node.first = static_cast<std::uint32_t>(tree.first_child[i]);
    node.packed = static_cast<std::uint32_t>(attribute);
    if (tree.default_child[i] == 1) node.packed |= default_flag;
    if (kind != TestKind::numeric) {
        node.packed |= nominal_flag;
        if (by_bits_) {
            node.bound.bits = bits_of(tree, i);
            return;
        }
        node.bound.map = static_cast<std::int64_t>(maps_.size());
        add_map(tree, i);
        return;
    }
    if (attribute_kind(attribute) == AttributeKind::integer) {
        node.packed |= integer_flag;
        node.bound.integer = tree.threshold_integer[i];
    } else {
        node.bound.real = tree.threshold[i];
    }
}

/// Whether one bit for each of the first categories says where a test sends it: it is nominal, there are two
/// children, and all others go where missing values go.
bool Router::fits_bits(const FlatTree &tree, std::size_t i) {
    if (static_cast<TestKind>(tree.kind[i]) == TestKind::numeric || tree.n_children[i] != 2) return false;
    const auto most = static_cast<std::int32_t>(bits_of_node);
    auto end = static_cast<std::size_t>(tree.branch_start[i + 1]);
    for (auto b = static_cast<std::size_t>(tree.branch_start[i]); b < end; ++b)
        if (tree.branch_code[b] >= most && tree.branch_child[b] != tree.default_child[i]) return false;
    return true;
}

std::uint64_t Router::bits_of(const FlatTree &tree, std::size_t i) {
    std::uint64_t bits = tree.default_child[i] == 1 ? ~std::uint64_t{0} : 0;
    auto end = static_cast<std::size_t>(tree.branch_start[i + 1]);
    for (auto b = static_cast<std::size_t>(tree.branch_start[i]); b < end; ++b)
        if (tree.branch_child[b] >= 0 && tree.branch_child[b] != tree.default_child[i])
            bits ^= std::uint64_t{1} << tree.branch_code[b];
    return bits;
}

void Router::add_map(const FlatTree &tree, std::size_t i) {
    auto begin = static_cast<std::size_t>(tree.branch_start[i]),
         end = static_cast<std::size_t>(tree.branch_start[i + 1]);
    auto first = static_cast<std::uint32_t>(tree.first_child[i]);
    // Listed or not, the rest goes to the default child. Every test sends some category elsewhere.
    auto elsewhere = [&](std::size_t b) {
        return tree.branch_child[b] >= 0 && tree.branch_child[b] != tree.default_child[i];
    };
    while (!elsewhere(begin)) ++begin;
    while (!elsewhere(end - 1)) --end;
    std::size_t n = 0;
    for (std::size_t b = begin; b < end; ++b) n += elsewhere(b);
    std::size_t span = static_cast<std::size_t>(tree.branch_code[end - 1] - tree.branch_code[begin]) + 1;
    CategoryMap map{static_cast<std::int64_t>(targets_.size()), tree.branch_code[begin],
                    static_cast<std::uint32_t>(span),
                    first + static_cast<std::uint32_t>(tree.default_child[i]), span > 8 * n + 64};
    // `codes_` runs beside `targets_`, so that one offset serves both ways.
    if (map.searched) map.span = static_cast<std::uint32_t>(n);
    std::size_t size = map.searched ? n : span;
    codes_.resize(codes_.size() + size, 0);
    targets_.resize(targets_.size() + size, map.otherwise);
    for (std::size_t b = begin, next = 0; b < end; ++b) {
        if (!elsewhere(b)) continue;
        std::size_t at = map.searched ? next++ : static_cast<std::size_t>(tree.branch_code[b] - map.base);
        codes_[static_cast<std::size_t>(map.offset) + at] = tree.branch_code[b];
        targets_[static_cast<std::size_t>(map.offset) + at] =
            first + static_cast<std::uint32_t>(tree.branch_child[b]);
    }
    maps_.push_back(map);
}

std::uint32_t Router::lookup(const CategoryMap &map, std::int32_t code) const {
    if (!map.searched) {
        // Missing and never seen codes are negative: in unsigned arithmetic they lie beyond every span.
        std::uint32_t at = static_cast<std::uint32_t>(code) - static_cast<std::uint32_t>(map.base);
        return at < map.span ? targets_[static_cast<std::size_t>(map.offset) + at] : map.otherwise;
    }
    auto begin = codes_.begin() + map.offset, end = begin + map.span;
    auto at = std::lower_bound(begin, end, code);
    return at != end && *at == code ? targets_[static_cast<std::size_t>(at - codes_.begin())] : map.otherwise;
}

template <Router::Asks asks>
inline std::uint32_t Router::step(const Node &node, const Source *sources, std::ptrdiff_t row) const {
    const Source &source = sources[node.packed & attribute_bits];
    const char *at = source.data + row * source.stride;
    const bool second = node.packed & default_flag;
    if constexpr (asks == Asks::bits) {
        // Missing and never seen codes are negative: in unsigned arithmetic they lie beyond every bit. A leaf
        // reads category 0 of its own column, and no bits, which sends it to itself.
        const auto code = static_cast<std::uint32_t>(load<std::int32_t>(at));
        const bool sent = node.bound.bits >> (code % bits_of_node) & 1;
        return node.first + static_cast<std::uint32_t>(code < bits_of_node ? sent : second);
    }
    if constexpr (asks == Asks::maps) {
        if (node.packed & nominal_flag)
            return lookup(maps_[static_cast<std::size_t>(node.bound.map)], load<std::int32_t>(at));
    }
    auto bits = load<std::uint64_t>(at);
    double real = std::bit_cast<double>(bits);
    bool is_integer = node.packed & integer_flag;
    bool missing = is_integer ? source.missing[row * source.missing_stride] != 0 : real != real;
    bool above = is_integer ? static_cast<std::int64_t>(bits) > node.bound.integer : real > node.bound.real;
    return node.first + static_cast<std::uint32_t>((missing & second) | (!missing & above));
}

template <bool one_block, class Place> void Router::walk_floats(const Walk &walk, Place place,
                                                                std::size_t begin, std::size_t end,
                                                                std::int32_t *leaves) const {
    const Node *nodes = nodes_.data();
    const char *const *bases = walk.bases.data();
    auto next = [&](std::uint32_t at, std::ptrdiff_t offset) {
        const Node &node = nodes[at];
        std::size_t attribute = node.packed & attribute_bits;
        double x;
        if constexpr (one_block)
            x = load<double>(walk.origin + offset + static_cast<std::ptrdiff_t>(attribute * sizeof(double)));
        else
            x = load<double>(bases[attribute] + offset);
        std::uint32_t above = x > node.bound.real, missing = x != x;
        return node.first + (above | (missing & (node.packed >> 24)));
    };
    std::size_t row = begin;
    for (; row + lanes <= end; row += lanes) {
        if constexpr (one_block && Place::scattered) {
            // The rows come from anywhere: those of the next round are on their way while this one walks.
            for (std::size_t i = row + lanes, last = std::min(row + 2 * lanes, end); i < last; ++i)
                for (std::size_t line = 0; line < walk.lines; ++line)
                    __builtin_prefetch(walk.origin + place(i) * walk.stride + line * cache_line);
        }
        std::uint32_t at[lanes] = {}, moved = 1;
        std::ptrdiff_t offset[lanes];
        for (std::size_t l = 0; l < lanes; ++l) offset[l] = place(row + l) * walk.stride;
        while (moved) {
            moved = 0;
            for (std::size_t l = 0; l < lanes; ++l) {
                std::uint32_t to = next(at[l], offset[l]);
                moved |= to ^ at[l];
                at[l] = to;
            }
        }
        for (std::size_t l = 0; l < lanes; ++l) leaves[row + l] = static_cast<std::int32_t>(at[l]);
    }
    for (; row < end; ++row) {
        std::uint32_t at = 0, to = 0;
        while ((to = next(at, place(row) * walk.stride)) != at) at = to;
        leaves[row] = static_cast<std::int32_t>(at);
    }
}

template <Router::Asks asks, class Place> void Router::walk_mixed(const Walk &walk, Place place,
                                                                  std::size_t begin, std::size_t end,
                                                                  std::int32_t *leaves) const {
    const Source *sources = walk.sources.data();
    std::size_t row = begin;
    for (; row + lanes <= end; row += lanes) {
        std::uint32_t at[lanes] = {}, moved = 1;
        while (moved) {
            moved = 0;
            for (std::size_t l = 0; l < lanes; ++l) {
                std::uint32_t to = step<asks>(nodes_[at[l]], sources, place(row + l));
                moved |= to ^ at[l];
                at[l] = to;
            }
        }
        for (std::size_t l = 0; l < lanes; ++l) leaves[row + l] = static_cast<std::int32_t>(at[l]);
    }
    for (; row < end; ++row) {
        std::uint32_t at = 0, to = 0;
        while ((to = step<asks>(nodes_[at], sources, place(row))) != at) at = to;
        leaves[row] = static_cast<std::int32_t>(at);
    }
}

template <class Place> void Router::walk_rows(const Walk &walk, Place place, std::size_t begin,
                                              std::size_t end, std::int32_t *leaves) const {
    if (walk.one_block)
        walk_floats<true>(walk, place, begin, end, leaves);
    else if (walk.uniform)
        walk_floats<false>(walk, place, begin, end, leaves);
    else if (!any_nominal_)
        walk_mixed<Asks::numbers>(walk, place, begin, end, leaves);
    else if (by_bits_)
        walk_mixed<Asks::bits>(walk, place, begin, end, leaves);
    else
        walk_mixed<Asks::maps>(walk, place, begin, end, leaves);
}

/// Some milliseconds of walking, also down a tree that is one long chain.
std::size_t Router::rows_per_chunk() const {
    return std::clamp<std::size_t>((std::size_t{1} << 20) / (depth_ + 1), lanes, std::size_t{1} << 15);
}

void Router::route(std::span<const RouteColumn> columns, const std::int64_t *rows, std::size_t n_rows,
                   int threads, std::int32_t *leaves, Cancel &cancel) const {
    if (nodes_.size() == 1) {
        std::fill_n(leaves, n_rows, 0);
        return;
    }
    Walk walk;
    std::size_t root = static_cast<std::size_t>(used_.front());
    walk.stride = columns[root].stride;
    walk.uniform = walk.one_block = all_float_;
    // Of an attribute that no node tests nothing is read: its column may be anything.
    walk.sources.assign(columns.size() + 1, {reinterpret_cast<const char *>(&zero), 0, &present, 0});
    walk.bases.assign(columns.size(), nullptr);
    for (std::int32_t used : used_) {
        auto a = static_cast<std::size_t>(used);
        const RouteColumn &c = columns[a];
        walk.sources[a] = {c.data, c.stride, c.missing ? c.missing : &present,
                           c.missing ? c.missing_stride : 0};
        walk.bases[a] = c.data;
        walk.uniform &= c.stride == walk.stride;
        auto behind =
            reinterpret_cast<std::uintptr_t>(c.data) - reinterpret_cast<std::uintptr_t>(columns[root].data);
        walk.one_block &= behind == (a - root) * sizeof(double);
    }
    walk.one_block &= walk.uniform;
    walk.origin = columns[root].data - root * sizeof(double);
    walk.lines = std::min(columns.size() * sizeof(double) / cache_line + 2, most_lines);

    std::size_t size = rows_per_chunk(), n_chunks = (n_rows + size - 1) / size;
    std::atomic<std::size_t> next{0};
    auto take = [&]() -> bool {
        std::size_t chunk = next.fetch_add(1, std::memory_order_relaxed);
        if (chunk >= n_chunks) return false;
        const std::size_t begin = chunk * size, end = std::min(n_rows, begin + size);
        rows == nullptr ? walk_rows(walk, InOrder{}, begin, end, leaves)
                        : walk_rows(walk, Named{rows}, begin, end, leaves);
        return true;
    };
    auto help = [&] {
        while (!cancel.requested() && take()) {
        }
    };
    Team team;
    const auto size_of_team = std::min(static_cast<std::size_t>(std::max(threads, 1)), n_chunks);
    for (std::size_t t = 1; t < size_of_team && team.start(help);) ++t;
    while (take()) cancel.poll();
}

void Router::measure_paths(const std::int32_t *leaves, std::size_t n_rows, std::int64_t *start,
                           Cancel &cancel) const {
    std::size_t size = rows_per_chunk();
    start[0] = 0;
    for (std::size_t row = 0; row < n_rows; ++row) {
        std::int64_t length = 0;
        for (std::int32_t at = leaves[row]; at >= 0; at = parent_[static_cast<std::size_t>(at)]) ++length;
        start[row + 1] = start[row] + length;
        if (row % size == 0) cancel.poll();
    }
}

void Router::write_paths(const std::int32_t *leaves, std::size_t n_rows, const std::int64_t *start,
                         std::int32_t *nodes, Cancel &cancel) const {
    std::size_t size = rows_per_chunk();
    for (std::size_t row = 0; row < n_rows; ++row) {
        std::int64_t end = start[row + 1];
        for (std::int32_t at = leaves[row]; at >= 0; at = parent_[static_cast<std::size_t>(at)])
            nodes[--end] = at;
        if (row % size == 0) cancel.poll();
    }
}

} // namespace hornbeam
