// Growth by entropy.
#include "growth/grow_criteria.hpp"
#include "growth/growth.hpp"

namespace hornbeam {

Forest grow_entropy(const GrowTask &task) {
    XlogTable xlog(task.table.n_rows + 1, task.cancel);
    Entropy criterion{&xlog};
    return Growth<Entropy>(task, criterion, ClassTarget{task.target.classes, task.target.n_classes}).grow();
}

} // namespace hornbeam
