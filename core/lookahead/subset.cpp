// The grower's own search of subsets, for the nodes of a lookahead.
#include "lookahead/subset.hpp"

#include "choice/nominal.hpp"
#include "criteria/entropy.hpp"

namespace hornbeam {
namespace {

struct Categories {
    ClassCounts node;
    CategoryTable<ClassCounts> table;
    StopRules rules;
    Entropy entropy;

    Categories(const CategoryCounts &counts, const XlogTable &xlog) : node(counts.classes), entropy{&xlog} {
        table.missing = read(counts.missing, counts.classes);
        node += table.missing;
        for (std::uint32_t v = 0; v < counts.categories; ++v) {
            table.code.push_back(static_cast<std::int32_t>(v));
            table.stats.push_back(read(counts.rows + std::size_t{v} * counts.classes, counts.classes));
            node += table.stats.back();
        }
    }
    static ClassCounts read(const std::uint32_t *rows, std::uint32_t classes) {
        ClassCounts c(classes);
        for (std::uint32_t k = 0; k < classes; ++k) c.n += c.c[k] = rows[k];
        return c;
    }
    NominalNode<ClassCounts> as_node(const ScorerOf<Entropy> &scorer, Cancel &cancel) const {
        return {scorer, node, table, rules, false, cancel};
    }
};

} // namespace

void best_subset(const CategoryCounts &counts, const XlogTable &xlog, Cancel &cancel, std::uint64_t *left) {
    const Categories categories(counts, xlog);
    Choice best;
    const ScorerOf scorer(categories.entropy);
    choose_nominal(categories.as_node(scorer, cancel), 0, NominalMode::subset, best);
    std::fill_n(left, (counts.categories + 63) / 64, std::uint64_t{0});
    for (auto [category, child] : best.branches)
        if (child == 0) left[category / 64] |= std::uint64_t{1} << category % 64;
}

void subset_order(const CategoryCounts &counts, const XlogTable &xlog, Cancel &cancel, std::uint32_t *order) {
    const Categories categories(counts, xlog);
    const ScorerOf scorer(categories.entropy);
    for (std::size_t category : order_categories(categories.as_node(scorer, cancel)))
        *order++ = static_cast<std::uint32_t>(category);
}

} // namespace hornbeam
