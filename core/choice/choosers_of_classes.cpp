// Choosers of counted classes.
#include "choice/quality_chooser.hpp"

namespace hornbeam {

template std::unique_ptr<Chooser<std::uint32_t, ClassTarget>>
make_chooser(const Frame<std::uint32_t> &, const ClassTarget &, const SplitCriterion<ClassTarget> &,
             const GrowParameters &, Cancel &);
template std::unique_ptr<Chooser<std::uint64_t, ClassTarget>>
make_chooser(const Frame<std::uint64_t> &, const ClassTarget &, const SplitCriterion<ClassTarget> &,
             const GrowParameters &, Cancel &);

} // namespace hornbeam
