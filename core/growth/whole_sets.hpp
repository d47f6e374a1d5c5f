// The statistics of whole training sets, and the rules of stopping that follow from them.
#pragma once

#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "choice/split_criterion.hpp"
#include "growth/grow.hpp"

namespace hornbeam {

/// C4.5: tells the rules which nominal attributes have a category for every three rows of a set, or more.
void find_many_valued(const GrowTask &task, RuleTable &rules);

template <class Target>
void add_rows(const GrowTask &task, const Target &target, std::vector<typename Target::Stats> &total) {
    for (std::size_t row = 0; row < task.table.n_rows; ++row) {
        if (row % 32768 == 32767) task.cancel.poll();
        for (std::int32_t s = 0; s < task.sets.n_sets; ++s)
            if (std::int64_t m = task.sets.count(row, s); m != 0)
                target.add(total[static_cast<std::size_t>(s)], row, m);
    }
}

/// Every row once, and once more for each set that leaves it out.
template <class Target>
void add_complements(const GrowTask &task, const Target &target, std::vector<typename Target::Stats> &total) {
    using Stats = typename Target::Stats;
    Stats all = target.zero();
    const SetMask sets = ~SetMask{0} >> (TrainingSets::most - task.sets.n_sets);
    for (std::size_t row = 0; row < task.table.n_rows; ++row) {
        if (row % 32768 == 32767) task.cancel.poll();
        target.add(all, row, 1);
        for (SetMask out = sets & ~task.sets.of(row); out != 0; out &= out - 1)
            target.add(total[static_cast<std::size_t>(std::countr_zero(out))], row, 1);
    }
    for (Stats &t : total) {
        Stats left_out = std::exchange(t, all);
        t -= left_out;
    }
}

/// By set; `rules` are written.
template <class Target>
std::vector<typename Target::Stats> whole_sets(const GrowTask &task, const SplitCriterion<Target> &criterion,
                                               const Target &target, RuleTable &rules) {
    std::vector<typename Target::Stats> total(static_cast<std::size_t>(task.sets.n_sets), target.zero());
    if (task.sets.by_complement)
        add_complements(task, target, total);
    else
        add_rows(task, target, total);
    const auto turned = criterion.copy();
    const Scorer<typename Target::Stats> &scorer = turned->scorer();
    const GrowParameters &p = task.parameters;
    for (std::size_t s = 0; s < total.size(); ++s) {
        const std::int64_t n = total[s].n;
        turned->open(static_cast<std::int32_t>(s), total[s]);
        for (const SizeSetting &setting : p.settings) {
            task.progress.all.fetch_add(n, std::memory_order_relaxed);
            rules.add({task.whole.empty() ? scorer.mass(total[s]) : task.whole[s].mass,
                       task.whole.empty() ? scorer.weight(total[s]) : task.whole[s].weight,
                       std::max<std::int64_t>(2, p.min_samples_split.rows_of(n)),
                       std::max<std::int64_t>(1, setting.min_samples_leaf.rows_of(n)),
                       setting.min_objs,
                       {}});
        }
    }
    if (criterion.traits.compares_attributes) find_many_valued(task, rules);
    return total;
}

} // namespace hornbeam
