// Sampling trees (SID3). Included once for each instruction set, as arena.hpp.

#include "lookahead/arena.hpp"

#include "lookahead/tests.hpp"

#include "lookahead/endings.hpp"

#include "lookahead/words.hpp"

class BitSampler final : public Sampler {
  public:
    explicit BitSampler(const SamplerSetting &setting)
        : options_(setting.options), ticker_(*setting.cancel), arena_(setting.options.fast, *setting.cancel),
          words_(true, *setting.cancel), listed_(setting), tests_(setting), inner_(setting),
          endings_(setting.options.nominal), small_(setting) {}

    void open(const NodeView &node) override {
        arena_.open(node);
        masks_.ensure(2 * std::uint64_t{node.words} + 72); // halves of halves of the rows
        mask_top_ = 0;
        kept_sides_.size = 0;
    }
    std::size_t tests(const NodeView &node, TestRange range) override {
        listed_.find(node, range);
        return listed_.found.size;
    }
    const NodeTest *found() const override { return listed_.found.data; }
    const std::uint64_t *sides() const override { return listed_.sides.data; }
    std::size_t n_sides() const override { return listed_.sides.size; }

    void mask(const NodeView &node, const NodeTest &test, const std::uint64_t *sides, std::uint32_t branch,
              std::uint64_t *out) override {
        const NodeAttribute &a = node.attributes[test.place];
        for (std::uint32_t w = 0; w < node.words; ++w) out[w] = 0;
        const bool two = test.branches == 2;
        const std::uint32_t wanted = two ? 0 : branch;
        if (a.listed)
            mask_list(node, a, test, sides, wanted, out);
        else
            mask_columns(node, a, test, sides, wanted, out);
        if (two && branch == 1) {
            for (std::uint32_t w = 0; w < node.words; ++w) out[w] = ~out[w];
            if (node.n % 64 != 0) out[node.words - 1] &= full(node.n % 64);
        }
    }

    OwnNode branch(const NodeView &node, const std::uint64_t *mask) override {
        arena_.open(node);
        const NodeView top = arena_.part(node, mask);
        OwnNode own({top.n_attributes, top.n_bits, top.n_entries, top.lists ? top.n : 0});
        copy_parts(own.attributes.get(), top.attributes, top.n_attributes, ticker_);
        copy_parts(own.bits.get(), top.bits, top.n_bits, ticker_);
        copy_parts(own.entries.get(), top.entries, top.n_entries, ticker_);
        copy_parts(own.code.get(), top.code, top.lists ? top.n : 0, ticker_);
        NodeView placed = own.view;
        own.view = top;
        own.view.attributes = placed.attributes, own.view.bits = placed.bits;
        own.view.entries = placed.entries, own.view.code = placed.code;
        return own;
    }

    std::uint32_t smallest(const NodeView &node, const std::uint64_t *mask, std::uint64_t key,
                           std::uint64_t first, std::uint64_t repetitions, std::uint32_t limit) override {
        const Marks base = arena_.marks();
        const NodeView top = arena_.part(node, mask);
        if (top.leaf()) {
            arena_.release(base);
            return 1;
        }
        const Marks above = arena_.marks();
        std::uint32_t least = limit;
        for (std::uint64_t t = 0; t < repetitions; ++t) {
            const bool last = t + 1 == repetitions;
            const std::uint32_t size =
                sample(top, mix(key, first + t), last ? base : above, options_.aborts ? least : no_limit);
            if (size < least) least = size;
            if (least <= 2) break; // no tree of a node that is no leaf is smaller
        }
        arena_.release(base);
        return least;
    }
    std::uint32_t size(const NodeView &node, std::uint64_t key) override {
        return node.leaf() ? 1 : sample(node, key, arena_.marks(), no_limit);
    }
    std::uint32_t ending(const NodeView &node) override {
        if (node.n > 64) return 0;
        if (!node.lists) return endings_(node, inner_);
        words_.open(node);
        const std::uint64_t all = full(node.n);
        return endings_(words_.part(node, &all), inner_);
    }

  private:
    LookaheadOptions options_;
    Ticker ticker_;
    Arena arena_;
    Arena words_;         // where lists become columns for an ending
    Tests listed_;        // those that a caller asked for
    Tests tests_, inner_; // of a node of a sample, and of its ending
    Endings endings_;
    WordSampler small_;
    Room<std::uint64_t> masks_;
    std::size_t mask_top_ = 0;
    Pile<std::uint64_t> kept_sides_;

    /// The size of the tree sampled below a node that is no leaf, or any number from `limit` if it is not
    /// smaller. What it needs goes from `base` upward; the node may lie there.
    std::uint32_t sample(NodeView node, std::uint64_t key, const Marks &base, std::uint32_t limit) {
        std::uint32_t done = 0;
        for (;;) {
            if (options_.fast && small_.takes(node))
                return done + small_.size(node, key, limit == no_limit ? no_limit : limit - done);
            ticker_.spend(200);
            tests_.find(node, TestRange::candidates);
            const double draw = unit(mix(key, 0));
            if (const NodeTest *test = perfect(draw)) return done + test->branches;
            if (options_.endings)
                if (const std::uint32_t size = ending(node)) return done + size;
            const NodeTest test = *drawn(draw);
            const std::size_t sides = kept_sides_.size;
            keep_sides(node, test);
            const std::uint32_t size = below(node, test, key, base, limit, done);
            kept_sides_.size = sides;
            if (size != go_on) return size;
        }
    }

    static constexpr std::uint32_t go_on = 0;

    /// One of the tests that leave only pure branches, if there are any.
    const NodeTest *perfect(double draw) const {
        std::uint32_t many = 0;
        for (std::size_t i = 0; i < tests_.found.size; ++i) many += tests_.found.data[i].perfect;
        if (many == 0) return nullptr;
        auto skip = static_cast<std::uint32_t>(draw * many);
        for (const NodeTest *t = tests_.found.data;; ++t)
            if (t->perfect && skip-- == 0) return t;
    }
    const NodeTest *drawn(double draw) const {
        const NodeTest *begin = tests_.found.data, *end = begin + tests_.found.size;
        double total = 0.0, sum = 0.0;
        for (const NodeTest *t = begin; t != end; ++t) total += t->gain + draw_weight;
        const double x = draw * total;
        for (const NodeTest *t = begin; t != end; ++t)
            if ((sum += t->gain + draw_weight) > x) return t;
        return end - 1;
    }
    /// The sides of the chosen test outlive the search below it.
    void keep_sides(const NodeView &node, const NodeTest &test) {
        if (test.kind != TestKind::subset) return;
        const std::uint32_t words = (node.attributes[test.place].values + 63) / 64;
        copy_parts(kept_sides_.add(words), tests_.sides.data + test.sides, words, ticker_);
    }

    /// Samples below the branches of a test: all but the largest that is no leaf are done with, the largest
    /// takes the node's place. The size, if nothing is left to go on with or the limit is reached.
    std::uint32_t below(NodeView &node, const NodeTest &test, std::uint64_t &key, const Marks &base,
                        std::uint32_t limit, std::uint32_t &done) {
        std::uint64_t *const rows = masks_.data + mask_top_;
        mask_top_ += node.words;
        const std::uint64_t sides_at = kept_sides_.size - side_words(node, test);
        NodeTest here = test;
        here.sides = sides_at;
        std::uint32_t open = 0, largest = 0, most = 0;
        for (std::uint32_t i = 0; i < test.branches; ++i) {
            const std::uint32_t n = impure(node, here, i, rows);
            open += n != 0;
            done += n == 0;
            if (n > most) most = n, largest = i;
        }
        std::uint32_t reached = done + open < limit ? go_on : limit;
        for (std::uint32_t i = 0; open > 1 && reached == go_on && i < test.branches; ++i) {
            if (i == largest || impure(node, here, i, rows) == 0) continue;
            const Marks top = arena_.marks();
            const NodeView child = arena_.part(node, rows);
            --open;
            done += child.leaf() ? 1
                                 : sample(child, mix(key, 1 + i), top,
                                          limit == no_limit ? no_limit : limit - done - open);
            arena_.release(top);
            if (done + open >= limit) reached = limit;
        }
        if (reached == go_on) {
            impure(node, here, largest, rows);
            node = arena_.slide(arena_.part(node, rows), base);
            key = mix(key, 1 + largest);
            if (node.leaf()) reached = done + 1;
        }
        mask_top_ = static_cast<std::size_t>(rows - masks_.data);
        return reached;
    }
    static std::uint32_t side_words(const NodeView &node, const NodeTest &test) {
        return test.kind == TestKind::subset ? (node.attributes[test.place].values + 63) / 64 : 0;
    }
    /// Writes the rows of a branch; returns how many, 0 if they are of one class.
    std::uint32_t impure(const NodeView &node, const NodeTest &test, std::uint32_t branch,
                         std::uint64_t *rows) {
        mask(node, test, kept_sides_.data, branch, rows);
        std::uint32_t n = 0;
        for (std::uint32_t w = 0; w < node.words; ++w) n += ones(rows[w]);
        for (std::uint32_t k = 0; k < node.class_columns(); ++k) {
            const std::uint64_t *column = node.bits + std::uint64_t{k} * node.words;
            std::uint32_t of_class = 0;
            for (std::uint32_t w = 0; w < node.words; ++w) of_class += ones(rows[w] & column[w]);
            if (of_class == n || (of_class == 0 && node.classes == 2)) return 0;
        }
        return n;
    }

    /// Adds the rows of a column.
    static void add(const std::uint64_t *column, std::uint32_t words, std::uint64_t *out) {
        for (std::uint32_t w = 0; w < words; ++w) out[w] |= column[w];
    }
    void mask_columns(const NodeView &node, const NodeAttribute &a, const NodeTest &test,
                      const std::uint64_t *sides, std::uint32_t wanted, std::uint64_t *out) const {
        const std::uint64_t *lost = node.bits + a.first;
        const std::uint64_t *column = lost + (a.missing ? node.words : 0);
        if (test.kind == TestKind::subset && a.values > 2) {
            for (std::uint32_t v = 0; v < a.values; ++v)
                if (sides[test.sides + v / 64] >> v % 64 & 1) add(column + v * node.words, node.words, out);
        } else {
            const std::uint32_t c = test.kind == TestKind::multiway ? wanted : test.at;
            add(column + c * node.words, node.words, out);
        }
        if (a.missing && test.default_child == wanted) add(lost, node.words, out);
    }
    void mask_list(const NodeView &node, const NodeAttribute &a, const NodeTest &test,
                   const std::uint64_t *sides, std::uint32_t wanted, std::uint64_t *out) const {
        const Entry *list = node.entries + a.first;
        auto in = [&](std::uint32_t i, std::uint32_t value) {
            if (test.kind == TestKind::numeric) return i < test.at;
            if (test.kind == TestKind::value) return value == test.at;
            if (test.kind == TestKind::multiway) return value == wanted;
            return (sides[test.sides + value / 64] >> value % 64 & 1) != 0;
        };
        const bool lost = a.missing && test.default_child == wanted;
        if (lost) // those without a value are what no entry has: they stay when the others are taken out
            for (std::uint32_t i = 0; i < node.n; ++i) out[i / 64] |= std::uint64_t{1} << i % 64;
        std::uint32_t value = 0;
        for (std::uint32_t i = 0; i < a.size; ++i) {
            value += i > 0 && list[i] >> 32 != list[i - 1] >> 32;
            const auto row = static_cast<std::uint32_t>(list[i]);
            const std::uint64_t bit = std::uint64_t{1} << row % 64;
            if (in(i, value))
                out[row / 64] |= bit;
            else if (lost)
                out[row / 64] &= ~bit;
        }
    }
};
