// Which nominal attributes have many categories for the rows of a set.
#include "growth/whole_sets.hpp"

#include <numeric>

namespace hornbeam {

void find_many_valued(const GrowTask &task, RuleTable &rules) {
    const std::size_t n_columns = task.table.columns.size();
    for (std::size_t s = 0; s < static_cast<std::size_t>(task.sets.n_sets); ++s) {
        const auto tell = [&](const std::vector<std::uint8_t> &many_valued) {
            for (StopRules &of_setting : rules.of_set(s)) of_setting.many_valued = many_valued;
        };
        if (!task.whole.empty()) {
            tell(task.whole[s].many_valued);
            continue;
        }
        std::vector<std::uint8_t> many_valued(n_columns);
        for (std::size_t a = 0; a < n_columns; ++a) {
            const auto *column = std::get_if<NominalColumn>(&task.table.columns[a]);
            if (column == nullptr) continue;
            task.cancel.poll();
            std::vector<std::uint8_t> present(static_cast<std::size_t>(column->n_categories));
            for (std::size_t row = 0; row < task.table.n_rows; ++row)
                if (column->codes[row] >= 0 && task.sets.count(row, static_cast<std::int32_t>(s)) != 0)
                    present[static_cast<std::size_t>(column->codes[row])] = 1;
            auto many = std::accumulate(present.begin(), present.end(), std::int64_t{0});
            many_valued[a] = as_double(many) >= 0.3 * rules.of_set(s)[0].weight;
        }
        tell(many_valued);
    }
}

} // namespace hornbeam
