// Choosers of weighted classes.
#include "choice/quality_chooser.hpp"
#include "criteria/widths.hpp"

namespace hornbeam {

template std::unique_ptr<Chooser<std::uint32_t, WeightedClassTarget<narrow_weights>>>
make_chooser(const Frame<std::uint32_t> &, const WeightedClassTarget<narrow_weights> &,
             const SplitCriterion<WeightedClassTarget<narrow_weights>> &, const GrowParameters &, Cancel &);
template std::unique_ptr<Chooser<std::uint64_t, WeightedClassTarget<narrow_weights>>>
make_chooser(const Frame<std::uint64_t> &, const WeightedClassTarget<narrow_weights> &,
             const SplitCriterion<WeightedClassTarget<narrow_weights>> &, const GrowParameters &, Cancel &);
template std::unique_ptr<Chooser<std::uint32_t, WeightedClassTarget<wide_weights>>>
make_chooser(const Frame<std::uint32_t> &, const WeightedClassTarget<wide_weights> &,
             const SplitCriterion<WeightedClassTarget<wide_weights>> &, const GrowParameters &, Cancel &);
template std::unique_ptr<Chooser<std::uint64_t, WeightedClassTarget<wide_weights>>>
make_chooser(const Frame<std::uint64_t> &, const WeightedClassTarget<wide_weights> &,
             const SplitCriterion<WeightedClassTarget<wide_weights>> &, const GrowParameters &, Cancel &);

} // namespace hornbeam
