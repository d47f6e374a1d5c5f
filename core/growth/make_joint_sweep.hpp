// Which criteria look at several training sets at once.
#pragma once

#include "growth/gini_sweep.hpp"
#include "growth/information_sweep.hpp"

namespace hornbeam {

/// The sweep of a criterion, if it has one.
template <class E, class Target>
std::unique_ptr<JointSweep<E, Target>> make_joint_sweep(const Frame<E> &frame, const Target &target,
                                                        const SplitCriterion<Target> &criterion,
                                                        const GrowTask &task, const RuleTable &rules) {
    if constexpr (std::is_same_v<Target, ClassTarget>) {
        const GrowParameters &parameters = task.parameters;
        if (!parameters.accelerate || !parameters.joint) return nullptr;
        if (criterion.traits.by_gini) return std::make_unique<GiniSweep<E>>(frame, target, task, rules);
        if (const InformationCriterion *information = criterion.information())
            return std::make_unique<InformationSweep<E>>(frame, target, *information, task, rules);
    }
    return nullptr;
}

} // namespace hornbeam
