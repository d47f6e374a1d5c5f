// The registry of criteria, and what a growth needs to know about its target.
#include "hornbeam/grow.hpp"

#include <cmath>
#include <stdexcept>

#include "grow_criteria.hpp"

namespace hornbeam {

std::int64_t SizeRule::rows_of(std::int64_t n) const {
    return fraction ? static_cast<std::int64_t>(std::ceil(value * static_cast<double>(n)))
                    : static_cast<std::int64_t>(value);
}

Forest grow(const std::string &criterion, const GrowTask &task) {
    if (criterion == "gini") return grow_gini(task);
    if (criterion == "entropy") return grow_entropy(task);
    if (criterion == "gain_ratio") return grow_gain_ratio(task);
    if (criterion == "c45") return grow_c45(task);
    if (criterion == "variance") return grow_variance(task);
    throw std::invalid_argument("criterion '" + criterion + "' is not known");
}

} // namespace hornbeam
