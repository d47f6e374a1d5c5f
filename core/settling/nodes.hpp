// What settling by any criterion has in common: the nodes that are open, the rules of their training sets,
// and the records and tests that are written down as the grower does.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "choice/chooser.hpp"
#include "choice/threshold.hpp"
#include "growth/describe.hpp"
#include "settling/entry_stats.hpp"
#include "settling/settling.hpp"

namespace hornbeam {

template <class Target> class SettlingNodes : public Settling {
  public:
    using Stats = typename Target::Stats;

    std::int64_t open_root(std::int32_t set) override {
        forest_.n_nodes += 1;
        const auto s = static_cast<std::size_t>(set);
        return record(set, task_.wholes[s], task_.sums_of_whole(s), 0, {});
    }
    WholeSet whole(std::int32_t set) const override {
        const StopRules &rules = rules_[static_cast<std::size_t>(set)];
        return {rules.mass, rules.weight, rules.many_valued, {}};
    }
    void set_many_valued(std::int32_t set, std::vector<std::uint8_t> many_valued) override {
        rules_[static_cast<std::size_t>(set)].many_valued = std::move(many_valued);
    }

    Settled keep(std::int64_t number, Choice test, KeptThreshold threshold, std::vector<ClassCounts> children,
                 std::vector<SumWords> child_sums) const override {
        const OpenNode &node = nodes_[static_cast<std::size_t>(number)];
        const Stats total = total_of(node);
        std::vector<Stats> stats;
        for (std::size_t i = 0; i < children.size(); ++i)
            stats.push_back(stats_of(children[i], child_sums.empty() ? SumWords() : child_sums[i]));
        std::vector<const Stats *> branches;
        for (const Stats &branch : stats) branches.push_back(&branch);
        const Score score = turned_to(node.set, total)->scorer().score(total, branches);
        test.quality = score.quality, test.gain = score.gain;
        const bool admitted = std::all_of(children.begin(), children.end(), [&](const ClassCounts &c) {
            return c.n >= rules_of(node).min_leaf;
        });
        Settled settled;
        settled.state = admitted && worth(node, test) ? Settled::State::test : Settled::State::leaf;
        settled.choice = std::move(test), settled.threshold = threshold;
        settled.children = std::move(children), settled.child_sums = std::move(child_sums);
        return settled;
    }

    std::vector<std::int64_t> split(std::int64_t number, const Settled &settled) override {
        OpenNode node = nodes_[static_cast<std::size_t>(number)];
        const Choice &c = settled.choice;
        GrownSet &grown = forest_.of(node.set);
        LaneTest test = begin_test(grown, c);
        if (c.kind == TestKind::numeric)
            test.integer = set_threshold(test, settled);
        else
            open_categories_.record(grown, test, c, node.notes);
        grown.add_test(node.record, test, {0, 1}, false);
        forest_.n_nodes += settled.children.size();
        std::vector<std::int64_t> children;
        for (std::size_t i = 0; i < settled.children.size(); ++i)
            children.push_back(record(node.set, settled.children[i],
                                      settled.child_sums.empty() ? SumWords() : settled.child_sums[i],
                                      node.depth + 1, OpenCategories::inherited(node.notes, i)));
        return children;
    }

  protected:
    SettleTask task_;
    std::unique_ptr<SplitCriterion<Target>> criterion_; // of no node
    std::vector<StopRules> rules_;                      // by set
    AvcLayout layout_;
    Frame<std::uint32_t> frame_; // of counts: it has no rows
    ClassTarget target_;
    OpenCategories open_categories_;

    SettlingNodes(SettleTask task, std::unique_ptr<SplitCriterion<Target>> criterion)
        : task_(std::move(task)), criterion_(std::move(criterion)) {
        const auto n_classes = task_.layout->n_classes;
        const std::size_t n_targets = task_.layout->sums.n_targets();
        forest_.n_sets = static_cast<std::int32_t>(task_.wholes.size());
        forest_.sets.resize(task_.wholes.size());
        forest_.n_classes = n_targets != 0 ? 0 : static_cast<std::int32_t>(n_classes);
        forest_.n_targets = static_cast<std::int32_t>(n_targets);
        forest_.keeps_competitors = task_.parameters.competitors != 0;
        layout_.n_classes = static_cast<std::uint32_t>(n_classes);
        layout_.width = counts_width(n_classes);
        frame_.avc = &layout_;
        frame_.nominal.resize(task_.layout->attributes.size());
        target_.n_classes = n_classes;
        const GrowParameters &p = task_.parameters;
        for (std::size_t s = 0; s < task_.wholes.size(); ++s) {
            const std::int64_t n = task_.wholes[s].n;
            const Stats total = stats_of(task_.wholes[s], task_.sums_of_whole(s));
            const auto turned = turned_to(static_cast<std::int32_t>(s), total);
            const Scorer<Stats> &scorer = turned->scorer();
            rules_.push_back(
                {scorer.mass(total), scorer.weight(total),
                 std::max<std::int64_t>(2, p.min_samples_split.rows_of(n)),
                 std::max<std::int64_t>(1, p.settings[0].min_samples_leaf.rows_of(n)), p.settings[0].min_objs,
                 task_.many_valued.empty() ? std::vector<std::uint8_t>() : task_.many_valued[s]});
        }
    }

    const StopRules &rules_of(const OpenNode &node) const {
        return rules_[static_cast<std::size_t>(node.set)];
    }
    Stats stats_of(const ClassCounts &rows, const SumWords &sums) const {
        return read_stats<Stats>(task_.layout->sums, rows, sums);
    }
    Stats total_of(const OpenNode &node) const { return stats_of(node.total, node.sums); }
    /// The criterion as it is at a node.
    std::unique_ptr<SplitCriterion<Target>> turned_to(std::int32_t set, const Stats &node) const {
        std::unique_ptr<SplitCriterion<Target>> turned = criterion_->copy();
        turned->open(set, node);
        return turned;
    }

    double share_of(const OpenNode &node) const {
        const Stats total = total_of(node);
        return turned_to(node.set, total)->scorer().mass(total) / rules_of(node).mass;
    }
    bool worth(const OpenNode &node, const Choice &c) const {
        return c.found() && (criterion_->traits.splits_at_zero || c.quality != 0.0) &&
               !(share_of(node) * c.gain < task_.parameters.min_impurity_decrease);
    }
    static void add(ClassCounts &to, const std::uint32_t *row) {
        for (std::size_t k = 0; k < to.c.size(); ++k) to.c[k] += row[k], to.n += row[k];
    }
    /// Calls visit(child, entry) for all entries of a set, and for its missing rows.
    template <class Visit> static void each_of_children(const RefinedSet &set, const Choice &c, Visit visit) {
        if (c.kind == TestKind::numeric) {
            for (std::uint32_t i = 0; i < set.size(); ++i) visit(i <= c.lo ? 0u : 1u, i);
        } else {
            for (auto [code, child] : c.branches)
                visit(static_cast<std::size_t>(child), static_cast<std::size_t>(code));
        }
        visit(static_cast<std::size_t>(c.default_child), set.size());
    }
    std::vector<ClassCounts> children_of(const OpenNode &node, const RefinedSet &set, const Choice &c) const {
        std::vector<ClassCounts> children(static_cast<std::size_t>(c.n_children),
                                          ClassCounts(node.total.c.size()));
        if (c.kind != TestKind::numeric) {
            each_of_children(set, c,
                             [&](std::size_t child, std::size_t i) { add(children[child], set.row(i)); });
            return children;
        }
        const std::size_t cut = std::size_t{c.lo} + 1;
        for (std::size_t i = 0; i < cut; ++i) add(children[0], set.row(i));
        for (std::size_t i = cut; i < set.size(); ++i) add(children[1], set.row(i));
        add(children[static_cast<std::size_t>(c.default_child)], set.row(set.size()));
        return children;
    }

  private:
    /// As the grower does: a record of the node, and whether it goes on.
    std::int64_t record(std::int32_t set, const ClassCounts &rows, const SumWords &sums, std::int64_t depth,
                        std::vector<OpenNote> notes) {
        GrownSet &grown = forest_.of(set);
        const std::uint64_t at = grown.records.size();
        const Stats total = stats_of(rows, sums);
        const auto turned = turned_to(set, total);
        const bool pure = total.pure();
        describe(grown, *turned, total, pure);
        const std::int64_t max_depth = task_.parameters.max_depth;
        const bool deep = max_depth >= 0 && depth >= max_depth;
        if (pure || deep ||
            rules_[static_cast<std::size_t>(set)].ends(total.n, turned->scorer().weight(total)))
            return -1;
        nodes_.push_back({set, at, rows, depth, std::move(notes), sums});
        return static_cast<std::int64_t>(nodes_.size()) - 1;
    }

    /// Whether it is a whole number.
    bool set_threshold(LaneTest &test, const Settled &settled) const {
        const AttributeShape &shape =
            task_.layout->attributes[static_cast<std::size_t>(settled.choice.attribute)];
        const bool integer = shape.kind == ValueKind::integers;
        if (settled.threshold) {
            if (integer)
                test.threshold_integer = settled.threshold->integer;
            else
                test.threshold = settled.threshold->number;
            return integer;
        }
        NumericColumn ends;
        ends.is_integer = integer;
        if (integer)
            ends.integers = {shape.integer_at(settled.lo), shape.integer_at(settled.hi)};
        else
            ends.floats = {shape.float_at(settled.lo), shape.float_at(settled.hi)};
        put_threshold(test, ends, 0, 1);
        return integer;
    }
};

} // namespace hornbeam
