// Growth by C4.5.
#include "growth/grow_criteria.hpp"
#include "growth/growth.hpp"

namespace hornbeam {

Forest grow_c45(const GrowTask &task) {
    XlogTable xlog(task.table.n_rows + 1, task.cancel);
    C45<Entropy> criterion{{&xlog}};
    return Growth<C45<Entropy>>(task, criterion, ClassTarget{task.target.classes, task.target.n_classes})
        .grow();
}

} // namespace hornbeam
