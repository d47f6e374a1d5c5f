// What the forest is told of each training set at its nodes: records, tests, and how many rows have come to
// rest.
#pragma once

#include "choice/chooser.hpp"
#include "choice/threshold.hpp"
#include "growth/describe.hpp"
#include "growth/grow.hpp"

namespace hornbeam {

template <class E, class Target> class Ledger {
  public:
    using Stats = typename Target::Stats;

    Ledger(const Frame<E> &frame, const SplitCriterion<Target> &criterion, const GrowTask &task,
           const RuleTable &rules, Forest &forest)
        : forest(forest), frame_(frame), criterion_(criterion.copy()), task_(task), rules_(rules) {}

    Forest &forest;
    OpenCategories open_categories;

    /// Writes a record of a set at a node, and tells which of the settings that came here go on growing.
    SettingRange record_lane(std::int32_t set, Stats &total, std::int64_t depth, SettingRange settings) {
        criterion_->open(set, total);
        const bool pure = total.pure();
        describe(forest.of(set), *criterion_, total, pure);
        const bool deep = task_.parameters.max_depth >= 0 && depth >= task_.parameters.max_depth;
        const double weight = criterion_->scorer().weight(total);
        SettingRange go_on = settings;
        // A setting asks for no less than those before it.
        while (!go_on.empty() && (pure || deep || rules_.of(set, go_on.last - 1).ends(total.n, weight)))
            --go_on.last;
        settle(total.n, settings.size() - go_on.size());
        return go_on;
    }

    /// Whether the lane takes its best test; where not, its rows rest here.
    bool worth(const Lane<Stats> &lane, const Choice &c) {
        criterion_->open(lane.set, lane.total);
        double share = criterion_->scorer().mass(lane.total) / rules_.of(lane.set, lane.settings.first).mass;
        bool taken = c.found() && (criterion_->traits.splits_at_zero || c.quality != 0.0) &&
                     !(share * c.gain < task_.parameters.min_impurity_decrease);
        if (!taken) settle(lane.total.n, lane.settings.size());
        return taken;
    }

    void record_test(Lane<Stats> &lane, const Choice &c) {
        GrownSet &grown = forest.of(lane.set);
        LaneTest test = begin_test(grown, c);
        if (c.kind == TestKind::numeric)
            test.integer = set_threshold(test, c);
        else
            open_categories.record(grown, test, c, lane.open);
        test.n_competitors = static_cast<std::uint32_t>(c.others.size());
        grown.add_test(lane.record, test, lane.settings, rules_.n_settings() > 1);
        for (const Choice &other : c.others) {
            Competitor made;
            made.attribute = other.attribute;
            made.kind = other.kind;
            made.quality = other.quality;
            made.gain = other.gain;
            made.default_child = other.default_child;
            if (other.kind == TestKind::numeric) set_threshold(made, other);
            for (auto [code, child] : other.branches) grown.add_branch(code, child);
            made.n_branches = static_cast<std::uint32_t>(other.branches.size());
            grown.competitors.push_back(made);
        }
    }

  private:
    const Frame<E> &frame_;
    std::unique_ptr<SplitCriterion<Target>> criterion_; // its own, as a chooser has
    const GrowTask &task_;
    const RuleTable &rules_;

    void settle(std::int64_t rows, std::uint32_t settings) {
        if (settings != 0) task_.progress.settled.fetch_add(rows * settings, std::memory_order_relaxed);
    }

    /// Whether it is an integer.
    template <class Record> bool set_threshold(Record &r, const Choice &c) const {
        const auto attribute = static_cast<std::size_t>(c.attribute);
        const auto &column = std::get<NumericColumn>(task_.table.columns[attribute]);
        put_threshold(r, column, frame_.column_rank(attribute, c.lo), frame_.column_rank(attribute, c.hi));
        return column.is_integer;
    }
};

} // namespace hornbeam
