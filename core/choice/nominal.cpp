// The search of nominal tests, for every kind of statistics.
#include "choice/nominal.hpp"

#include "choice/nominal_search.hpp"
#include "criteria/widths.hpp"

namespace hornbeam {

template <class Stats>
void choose_nominal(const NominalNode<Stats> &of, std::int32_t attribute, NominalMode mode, Choice &best) {
    NominalSearch<Stats>(of).consider(attribute, mode, best);
}

std::vector<std::size_t> order_categories(const NominalNode<ClassCounts> &of) {
    return NominalSearch<ClassCounts>(of).order();
}

template void choose_nominal(const NominalNode<ClassCounts> &, std::int32_t, NominalMode, Choice &);
template void choose_nominal(const NominalNode<ClassSums<narrow_weights>> &, std::int32_t, NominalMode,
                             Choice &);
template void choose_nominal(const NominalNode<ClassSums<wide_weights>> &, std::int32_t, NominalMode,
                             Choice &);
template void choose_nominal(const NominalNode<TargetSums<narrow_numbers>> &, std::int32_t, NominalMode,
                             Choice &);
template void choose_nominal(const NominalNode<TargetSums<wide_numbers>> &, std::int32_t, NominalMode,
                             Choice &);
template void choose_nominal(const NominalNode<WeightedSums<narrow_weighted_numbers>> &, std::int32_t,
                             NominalMode, Choice &);
template void choose_nominal(const NominalNode<WeightedSums<wide_weighted_numbers>> &, std::int32_t,
                             NominalMode, Choice &);

} // namespace hornbeam
