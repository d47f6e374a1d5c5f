// Choosers of numbers.
#include "choice/quality_chooser.hpp"
#include "criteria/widths.hpp"

namespace hornbeam {

template std::unique_ptr<Chooser<std::uint32_t, NumericTarget<narrow_numbers>>>
make_chooser(const Frame<std::uint32_t> &, const NumericTarget<narrow_numbers> &,
             const SplitCriterion<NumericTarget<narrow_numbers>> &, const GrowParameters &, Cancel &);
template std::unique_ptr<Chooser<std::uint64_t, NumericTarget<narrow_numbers>>>
make_chooser(const Frame<std::uint64_t> &, const NumericTarget<narrow_numbers> &,
             const SplitCriterion<NumericTarget<narrow_numbers>> &, const GrowParameters &, Cancel &);
template std::unique_ptr<Chooser<std::uint32_t, NumericTarget<wide_numbers>>>
make_chooser(const Frame<std::uint32_t> &, const NumericTarget<wide_numbers> &,
             const SplitCriterion<NumericTarget<wide_numbers>> &, const GrowParameters &, Cancel &);
template std::unique_ptr<Chooser<std::uint64_t, NumericTarget<wide_numbers>>>
make_chooser(const Frame<std::uint64_t> &, const NumericTarget<wide_numbers> &,
             const SplitCriterion<NumericTarget<wide_numbers>> &, const GrowParameters &, Cancel &);

} // namespace hornbeam
