// The registry of criteria, and what a growth needs to know about its target.
#include "growth/grow.hpp"

#include <cmath>
#include <stdexcept>

#include "growth/grow_criteria.hpp"

namespace hornbeam {

std::int64_t SizeRule::rows_of(std::int64_t n) const {
    return fraction ? static_cast<std::int64_t>(std::ceil(value * static_cast<double>(n)))
                    : static_cast<std::int64_t>(value);
}

namespace {

/// A growth that may use the table up leaves columns behind whose values are nowhere listed.
void refuse_used_up(const EncodedTable &table) {
    for (const Column &column : table.columns)
        if (const auto *numeric = std::get_if<NumericColumn>(&column);
            numeric != nullptr && numeric->n_ranks() != 0 && numeric->entries.empty() &&
            numeric->ranks.empty())
            throw std::invalid_argument(
                "the table was used up by an earlier growth: encode its columns again");
}

} // namespace

Forest grow(const std::string &criterion, const GrowTask &task) {
    refuse_used_up(task.table);
    if (!task.target.weights.empty() || !task.target.costs.equal()) return grow_weighted(criterion, task);
    if (criterion == "variance") return grow_variance(task);
    return grow_counted_classes(criterion, task);
}

Forest grow_weighted(const std::string &criterion, const GrowTask &task) {
    if (criterion == "variance") return grow_weighted_variance(task);
    if (criterion == "gini") return grow_weighted_classes(ClassRule::gini, task);
    if (criterion == "entropy") return grow_weighted_classes(ClassRule::entropy, task);
    if (criterion == "gain_ratio") return grow_weighted_classes(ClassRule::gain_ratio, task);
    if (criterion == "correlation") return grow_weighted_classes(ClassRule::correlation, task);
    if (criterion == "c45") return grow_weighted_classes(ClassRule::c45, task);
    if (criterion == "quest")
        throw std::invalid_argument(
            "criterion 'quest' counts rows: leave out sample_weight, class_weight and "
            "cost_matrix, or use criterion='gini'");
    throw std::invalid_argument("criterion '" + criterion + "' is not known");
}

} // namespace hornbeam
