// Growth by the criteria of counted classes.
#include <bit>
#include <stdexcept>

#include "choice/contingency.hpp"
#include "choice/moments.hpp"
#include "growth/grow_criteria.hpp"
#include "growth/grow_target.hpp"

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

template <Criterion C> Forest grow_by(const GrowTask &task, const C &criterion) {
    return grow_target(task, SplitBy<C>(criterion), ClassTarget{task.target.classes, task.target.n_classes});
}

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
    return grow_by(task, criterion);
}

} // namespace

Forest grow_counted_classes(const std::string &criterion, const GrowTask &task) {
    if (criterion == "gini") return grow_by(task, Gini{});
    if (criterion == "correlation") return grow_by(task, Correlation{});
    if (criterion == "quest") return grow_quest(task);
    const auto by_xlog = [&](auto make) {
        const std::size_t most = std::max(task.table.n_rows, task.sets.most_rows()) + 1;
        const XlogTable xlog(most, task.cancel);
        const FixedXlog fixed(xlog, most, task.cancel);
        return grow_by(task, make(Entropy{&xlog, &fixed}));
    };
    if (criterion == "entropy") return by_xlog([](Entropy entropy) { return entropy; });
    if (criterion == "gain_ratio") return by_xlog([](Entropy entropy) { return GainRatio{entropy}; });
    if (criterion == "c45") return by_xlog([](Entropy entropy) { return C45<Entropy>{entropy}; });
    throw std::invalid_argument("criterion '" + criterion + "' is not known");
}

} // namespace hornbeam
