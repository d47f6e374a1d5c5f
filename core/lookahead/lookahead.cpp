// What is grown, and what is known of the node of some rows.
#include "lookahead/lookahead.hpp"

#include <algorithm>

#include "lookahead/build.hpp"
#include "lookahead/choice.hpp"
#include "lookahead/subset.hpp"

namespace hornbeam {

Sketch Lookahead::build(std::span<const std::int32_t> rows, std::uint64_t key, const Effort &effort,
                        Cancel &cancel) const {
    TestChoice choice(*this, effort, cancel);
    auto choose = [&](const NodeView &node, std::uint64_t at, std::span<const std::int32_t>) {
        return choice.choose(node, at);
    };
    return SketchBuilder(*this, choice.sampler(), cancel).grow(rows, key, choose);
}

std::uint32_t Lookahead::size(std::span<const std::int32_t> rows, std::uint64_t key, Cancel &cancel) const {
    const OwnNode node = node_of(rows, cancel);
    const std::unique_ptr<Sampler> s = sampler(cancel);
    s->open(node.view);
    return s->size(node.view, key);
}

std::vector<TestTotal> Lookahead::totals(std::span<const std::int32_t> rows, std::uint64_t key,
                                         const Effort &effort, Cancel &cancel) const {
    const OwnNode node = node_of(rows, cancel);
    std::vector<TestTotal> out;
    if (node.view.leaf()) return out;
    TestChoice choice(*this, effort, cancel);
    SketchBuilder builder(*this, choice.sampler(), cancel);
    for (const SeenTest &seen : choice.totals(node.view, key)) {
        out.push_back(builder.describe(node.view, {seen.test, choice.sides()}, rows));
        out.back().number = seen.number;
        out.back().total = seen.total;
    }
    return out;
}

std::uint32_t Lookahead::bound(std::span<const std::int32_t> rows, Cancel &cancel) const {
    const OwnNode node = node_of(rows, cancel);
    const NodeView &view = node.view;
    if (view.leaf()) return 1;
    const std::unique_ptr<Sampler> s = sampler(cancel);
    s->open(view);
    const bool apart = told_apart(view, rows, cancel);
    const std::uint32_t classes = apart ? view.classes : 1;
    if (one_test_will_do(view, *s, apart)) return std::max(2u, classes);
    // Beyond the categories whose every subset is a test the ending proves nothing.
    const bool all_listed =
        options_.nominal != NominalMode::subset ||
        std::none_of(view.attributes, view.attributes + view.n_attributes,
                     [](const NodeAttribute &a) { return a.nominal && a.values > most_listed_subsets; });
    return std::max(all_listed && s->ending(view) == 4 ? 4u : 3u, classes);
}

/// Whether a test leaves only leaves. Where rows are told `apart` every leaf is pure.
bool Lookahead::one_test_will_do(const NodeView &node, Sampler &s, bool apart) const {
    const std::size_t n = s.tests(node, apart ? TestRange::candidates : TestRange::all);
    const std::vector<NodeTest> tests(s.found(), s.found() + n);
    const std::vector<std::uint64_t> sides(s.sides(), s.sides() + s.n_sides());
    std::vector<std::uint64_t> mask(node.words);
    auto leaves = [&](const NodeTest &test) {
        for (std::uint32_t i = 0; i < test.branches; ++i) {
            s.mask(node, test, sides.data(), i, mask.data());
            if (!s.branch(node, mask.data()).view.leaf()) return false;
        }
        return true;
    };
    return std::any_of(tests.begin(), tests.end(),
                       [&](const NodeTest &test) { return test.perfect || (!apart && leaves(test)); });
}

/// Whether no attribute of the node has a missing value and rows that agree in all of them are of one class.
bool Lookahead::told_apart(const NodeView &node, std::span<const std::int32_t> rows, Cancel &cancel) const {
    Pace pace(cancel, 100);
    std::vector<std::size_t> attributes;
    for (std::uint32_t a = 0; a < node.n_attributes; ++a) {
        if (node.attributes[a].missing) return false;
        attributes.push_back(static_cast<std::size_t>(node.attributes[a].attribute));
    }
    auto value = [&](std::int32_t row, std::size_t a) {
        const auto at = static_cast<std::size_t>(row);
        const auto *nominal = std::get_if<NominalColumn>(&table_.columns[a]);
        return nominal == nullptr ? rank_[a][at] : static_cast<std::uint32_t>(nominal->codes[at]);
    };
    auto compare = [&](std::int32_t x, std::int32_t y) {
        pace.step();
        for (std::size_t a : attributes)
            if (value(x, a) != value(y, a)) return value(x, a) < value(y, a) ? -1 : 1;
        return 0;
    };
    std::vector<std::int32_t> sorted(rows.begin(), rows.end());
    std::sort(sorted.begin(), sorted.end(),
              [&](std::int32_t x, std::int32_t y) { return compare(x, y) < 0; });
    for (std::size_t i = 1; i < sorted.size(); ++i)
        if (classes_[static_cast<std::size_t>(sorted[i])] !=
                classes_[static_cast<std::size_t>(sorted[i - 1])] &&
            compare(sorted[i], sorted[i - 1]) == 0)
            return false;
    return true;
}

} // namespace hornbeam
