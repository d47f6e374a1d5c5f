// Growth by gini.
#include "growth/grow_criteria.hpp"
#include "growth/growth.hpp"

namespace hornbeam {

Forest grow_gini(const GrowTask &task) {
    Gini criterion;
    return Growth<Gini>(task, criterion, ClassTarget{task.target.classes, task.target.n_classes}).grow();
}

} // namespace hornbeam
