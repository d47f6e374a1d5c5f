// Growth by QUEST.
#include <bit>
#include <stdexcept>

#include "choice/quest_choice.hpp"
#include "growth/grow_criteria.hpp"
#include "growth/growth.hpp"

namespace hornbeam {
namespace {

ValueScale scale_of(const NumericColumn &column, std::uint64_t most, Cancel &cancel) {
    int lowest = std::numeric_limits<int>::max(), highest = 0;
    Pace pace(cancel, 5);
    for (std::uint32_t rank = 0; rank < column.n_ranks(); ++rank) {
        pace.step();
        const Decomposed v = exact_value(column, rank);
        if (v.mantissa == 0) continue;
        const auto bits = static_cast<std::uint64_t>(v.mantissa);
        const int top = v.exponent + static_cast<int>(std::bit_width(v.mantissa < 0 ? 0 - bits : bits));
        highest = lowest > highest ? top : std::max(highest, top);
        lowest = std::min(lowest, v.exponent);
    }
    if (lowest > highest) return {0, 1}; // nothing but zeros
    return {lowest, limbs_for(highest - lowest, most)};
}

} // namespace

Forest grow_quest(const GrowTask &task) {
    if (task.parameters.nominal != NominalMode::subset)
        throw std::invalid_argument("criterion 'quest' has subset tests only; use nominal='subset'");
    const std::uint64_t most = task.table.n_rows * (task.sets.plain() ? 1 : 255);
    std::vector<ValueScale> scale(task.table.columns.size());
    for (std::size_t a = 0; a < scale.size(); ++a)
        if (const auto *numeric = std::get_if<NumericColumn>(&task.table.columns[a]))
            scale[a] = scale_of(*numeric, most, task.cancel);
    Quest criterion;
    criterion.table = &task.table;
    criterion.scale = &scale;
    return Growth<Quest>(task, criterion, ClassTarget{task.target.classes, task.target.n_classes}).grow();
}

} // namespace hornbeam
