// Choosers of numbers of weighted rows.
#include "choice/quality_chooser.hpp"
#include "criteria/widths.hpp"

namespace hornbeam {

template std::unique_ptr<Chooser<std::uint32_t, WeightedTarget<narrow_weighted_numbers>>>
make_chooser(const Frame<std::uint32_t> &, const WeightedTarget<narrow_weighted_numbers> &,
             const SplitCriterion<WeightedTarget<narrow_weighted_numbers>> &, const GrowParameters &,
             Cancel &);
template std::unique_ptr<Chooser<std::uint64_t, WeightedTarget<narrow_weighted_numbers>>>
make_chooser(const Frame<std::uint64_t> &, const WeightedTarget<narrow_weighted_numbers> &,
             const SplitCriterion<WeightedTarget<narrow_weighted_numbers>> &, const GrowParameters &,
             Cancel &);
template std::unique_ptr<Chooser<std::uint32_t, WeightedTarget<wide_weighted_numbers>>>
make_chooser(const Frame<std::uint32_t> &, const WeightedTarget<wide_weighted_numbers> &,
             const SplitCriterion<WeightedTarget<wide_weighted_numbers>> &, const GrowParameters &, Cancel &);
template std::unique_ptr<Chooser<std::uint64_t, WeightedTarget<wide_weighted_numbers>>>
make_chooser(const Frame<std::uint64_t> &, const WeightedTarget<wide_weighted_numbers> &,
             const SplitCriterion<WeightedTarget<wide_weighted_numbers>> &, const GrowParameters &, Cancel &);

} // namespace hornbeam
