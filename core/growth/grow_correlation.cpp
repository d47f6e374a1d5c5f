// Growth by the index of correlation.
#include "growth/grow_criteria.hpp"
#include "growth/growth.hpp"

namespace hornbeam {

Forest grow_correlation(const GrowTask &task) {
    Correlation criterion;
    return Growth<Correlation>(task, criterion, ClassTarget{task.target.classes, task.target.n_classes})
        .grow();
}

} // namespace hornbeam
