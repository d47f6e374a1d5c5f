// Choosers of QUEST.
#include "choice/quest_choice.hpp"

namespace hornbeam {

template <class E> std::unique_ptr<Chooser<E, ClassTarget>>
make_quest_chooser(const Frame<E> &frame, const ClassTarget &target, const Quest &criterion,
                   const GrowParameters &parameters, Cancel &cancel) {
    return std::make_unique<QuestChooser<E>>(frame, target, criterion, parameters, cancel);
}

template std::unique_ptr<Chooser<std::uint32_t, ClassTarget>>
make_quest_chooser(const Frame<std::uint32_t> &, const ClassTarget &, const Quest &, const GrowParameters &,
                   Cancel &);
template std::unique_ptr<Chooser<std::uint64_t, ClassTarget>>
make_quest_chooser(const Frame<std::uint64_t> &, const ClassTarget &, const Quest &, const GrowParameters &,
                   Cancel &);

} // namespace hornbeam
