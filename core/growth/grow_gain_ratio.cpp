// Growth by gain_ratio.
#include "growth/grow_criteria.hpp"
#include "growth/growth.hpp"

namespace hornbeam {

Forest grow_gain_ratio(const GrowTask &task) {
    XlogTable xlog(task.table.n_rows + 1, task.cancel);
    GainRatio criterion{{&xlog}};
    return Growth<GainRatio>(task, criterion, ClassTarget{task.target.classes, task.target.n_classes}).grow();
}

} // namespace hornbeam
