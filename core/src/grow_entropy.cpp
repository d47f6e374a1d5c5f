// Growth by entropy.
#include "grow_criteria.hpp"
#include "hornbeam/growth.hpp"

namespace hornbeam {

Forest grow_entropy(const GrowTask &task) {
    XlogTable xlog(task.table.n_rows + 1, task.cancel);
    Entropy criterion{&xlog};
    return Growth<Entropy>(task, criterion, ClassTarget{task.target.classes, task.target.n_classes}).grow();
}

} // namespace hornbeam
