// The proof of the fewest leaves for the rows of a table.
#include <algorithm>
#include <map>

#include "lookahead/build.hpp"
#include "lookahead/choice.hpp"
#include "lookahead/lookahead.hpp"
#include "lookahead/prove.hpp"
#include "lookahead/subset.hpp"

namespace hornbeam {
namespace {

/// Whether the tests of a part are those of the whole that part it, two branches each: nothing is missing, no
/// test has more branches, and every subset is a test.
bool tests_are_kept(const NodeView &node, NominalMode mode) {
    for (std::uint32_t a = 0; a < node.n_attributes; ++a) {
        const NodeAttribute &x = node.attributes[a];
        if (x.missing) return false;
        if (!x.nominal || x.values == 2) continue;
        if (mode == NominalMode::multiway) return false;
        if (mode == NominalMode::subset && x.values > most_listed_subsets) return false;
    }
    return true;
}

bool has(const RowSet &rows, std::size_t i) { return (rows[i / 64] >> i % 64 & 1) != 0; }

/// Rows that no test parts end in one leaf: where they are of several classes they are a class of their own.
std::vector<std::uint32_t> leaf_classes(const std::vector<RowSet> &tests, std::span<const ClassCode> classes,
                                        Cancel &cancel) {
    std::map<std::vector<bool>, std::vector<std::size_t>> alike;
    for (std::size_t i = 0; i < classes.size(); ++i) {
        cancel.poll();
        std::vector<bool> signature;
        for (const RowSet &left : tests) signature.push_back(has(left, i));
        alike[std::move(signature)].push_back(i);
    }
    std::vector<std::uint32_t> out(classes.begin(), classes.end());
    std::uint32_t next = *std::max_element(classes.begin(), classes.end()) + 1u;
    for (const auto &[signature, rows] : alike) {
        auto other = [&](std::size_t i) { return classes[i] != classes[rows.front()]; };
        if (std::none_of(rows.begin(), rows.end(), other)) continue;
        for (std::size_t i : rows) out[i] = next;
        ++next;
    }
    std::map<std::uint32_t, std::uint32_t> dense;
    for (std::uint32_t c : out) dense.emplace(c, 0);
    std::uint32_t n = 0;
    for (auto &[c, number] : dense) number = n++;
    for (std::uint32_t &c : out) c = dense[c];
    return out;
}

/// The tests of the node, and which rows of a set that `sides` gives go left.
class Matching {
  public:
    Matching(Sampler &sampler, const NodeView &node) : sampler_(sampler), node_(node), mask_(node.words) {
        const std::size_t n = sampler.tests(node, TestRange::all);
        tests_.assign(sampler.found(), sampler.found() + n);
        sides_.assign(sampler.sides(), sampler.sides() + sampler.n_sides());
    }
    /// The left rows of every test. Throws RoomOver where they would take more than a large table does.
    std::vector<RowSet> left(Cancel &cancel) {
        constexpr std::size_t most_words = std::size_t{1} << 25;
        if (tests_.size() * node_.words > most_words) throw RoomOver();
        std::vector<RowSet> out;
        for (const NodeTest &test : tests_) {
            cancel.poll();
            out.push_back(left_of(test));
        }
        return out;
    }
    /// The first test that parts the rows as `wanted` does.
    ChosenTest find(const RowSet &wanted, const RowSet &other) {
        for (const NodeTest &test : tests_)
            if (const RowSet &left = left_of(test); left == wanted || left == other) return {test, sides_};
        throw std::logic_error("no test parts the rows so");
    }

  private:
    Sampler &sampler_;
    const NodeView &node_;
    RowSet mask_;
    std::vector<NodeTest> tests_;
    std::vector<std::uint64_t> sides_;

    const RowSet &left_of(const NodeTest &test) {
        sampler_.mask(node_, test, sides_.data(), 0, mask_.data());
        return mask_;
    }
};

/// The smallest tree, read off what the prover remembers.
class ProvedTree {
  public:
    ProvedTree(Prover &prover, Sampler &sampler, std::span<const std::int32_t> rows, std::size_t n_rows)
        : prover_(prover), sampler_(sampler), words_((rows.size() + 63) / 64), place_(n_rows) {
        for (std::size_t i = 0; i < rows.size(); ++i) place_[static_cast<std::size_t>(rows[i])] = i;
    }
    ChosenTest choose(const NodeView &node, std::span<const std::int32_t> rows) {
        RowSet here(words_, 0);
        for (std::int32_t row : rows) set(here, place(row));
        const RowSet &test = prover_.test(prover_.test_of(here));
        RowSet left(node.words, 0), right(node.words, 0);
        for (std::size_t i = 0; i < rows.size(); ++i) set(has(test, place(rows[i])) ? left : right, i);
        return Matching(sampler_, node).find(left, right);
    }

  private:
    Prover &prover_;
    Sampler &sampler_;
    std::size_t words_;
    std::vector<std::size_t> place_; // of each row of the table

    std::size_t place(std::int32_t row) const { return place_[static_cast<std::size_t>(row)]; }
    static void set(RowSet &rows, std::size_t i) { rows[i / 64] |= std::uint64_t{1} << i % 64; }
};

} // namespace

Proof Lookahead::prove(std::span<const std::int32_t> rows, const ProofEffort &effort, Cancel &cancel) const {
    Proof proof{1, effort.upper, std::nullopt};
    try {
        prove(rows, effort, cancel, proof);
    } catch (const TimeOver &) {
    } catch (const RoomOver &) {
    }
    return proof;
}

void Lookahead::prove(std::span<const std::int32_t> rows, const ProofEffort &effort, Cancel &cancel,
                      Proof &proof) const {
    const OwnNode node = node_of(rows, cancel);
    const std::unique_ptr<Sampler> s = sampler(cancel);
    SketchBuilder builder(*this, *s, cancel);
    auto lower_is = [&](std::uint32_t lower) {
        proof.lower = std::max(proof.lower, std::min(lower, proof.upper));
    };
    if (node.view.leaf()) {
        if (proof.upper > 1) proof.sketch = builder.grow(rows, 0, nullptr);
        proof.upper = 1;
        return;
    }
    lower_is(bound(rows, cancel));
    if (!tests_are_kept(node.view, options_.nominal)) return;
    std::vector<RowSet> tests = Matching(*s, node.view).left(cancel);
    std::vector<ClassCode> classes;
    for (std::int32_t row : rows) classes.push_back(classes_[static_cast<std::size_t>(row)]);
    std::vector<std::uint32_t> leaf_class = leaf_classes(tests, classes, cancel);
    Prover prover(std::move(tests), std::move(leaf_class), effort.most_nodes, cancel);
    while (prover.lower() < proof.upper) {
        const bool found = prover.find();
        lower_is(prover.lower());
        if (!found) continue;
        ProvedTree tree(prover, *s, rows, table_.n_rows);
        proof.sketch = builder.grow(
            rows, 0, [&](const NodeView &at, std::uint64_t, auto here) { return tree.choose(at, here); });
        proof.upper = prover.lower();
    }
    lower_is(prover.lower());
}

} // namespace hornbeam
