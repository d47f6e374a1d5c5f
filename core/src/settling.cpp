// Settling by the grower's own choosers, rules and records.
#include "hornbeam/settling.hpp"

#include <stdexcept>

#include "hornbeam/bounds.hpp"
#include "hornbeam/choice.hpp"
#include "hornbeam/describe.hpp"
#include "hornbeam/policy.hpp"
#include "hornbeam/threshold.hpp"

namespace hornbeam {
namespace {

constexpr double bound_slack = 1e-12; // relative: of the roundings of a quality

template <Criterion C> class SettlingBy final : public Settling {
  public:
    SettlingBy(SettleTask task, C criterion, std::unique_ptr<XlogTable> xlog)
        : task_(std::move(task)), criterion_(std::move(criterion)), xlog_(std::move(xlog)) {
        const auto n_classes = task_.layout->n_classes;
        forest_.n_sets = static_cast<std::int32_t>(task_.wholes.size());
        forest_.sets.resize(task_.wholes.size());
        forest_.n_classes = static_cast<std::int32_t>(n_classes);
        forest_.keeps_competitors = task_.parameters.competitors != 0;
        layout_.n_classes = static_cast<std::uint32_t>(n_classes);
        layout_.width = counts_width(n_classes);
        frame_.avc = &layout_;
        frame_.nominal.resize(task_.layout->attributes.size());
        target_.n_classes = n_classes;
        const GrowParameters &p = task_.parameters;
        for (std::size_t s = 0; s < task_.wholes.size(); ++s) {
            const std::int64_t n = task_.wholes[s].n;
            rules_.push_back(
                {as_double(n), as_double(n), std::max<std::int64_t>(2, p.min_samples_split.rows_of(n)),
                 std::max<std::int64_t>(1, p.settings[0].min_samples_leaf.rows_of(n)), p.settings[0].min_objs,
                 task_.many_valued.empty() ? std::vector<std::uint8_t>() : task_.many_valued[s]});
        }
    }

    std::int64_t open_root(std::int32_t set) override {
        forest_.n_nodes += 1;
        return record(set, task_.wholes[static_cast<std::size_t>(set)], 0, {});
    }

    Settled look(std::int64_t number, const RefinedSet &set, Cancel &cancel) override {
        const OpenNode &node = nodes_[static_cast<std::size_t>(number)];
        Settled found;
        if (set.size() < 2) return found;
        Chooser<std::uint32_t, C> chooser(frame_, target_, criterion_, task_.parameters, cancel);
        const Lane<ClassCounts> lane{node.set, node.record, node.total};
        chooser.open(lane, true, rules_of(node));
        const AvcSlot slot{set.attribute, set.nominal, 0, set.size()};
        chooser.consider({set.attribute, 0, nullptr}, {}, &slot, set.counts.data(), found.choice);
        if (!found.choice.found()) return found;
        found.state = Settled::State::test;
        found.children = children_of(node, set, found.choice);
        if (found.choice.kind == TestKind::numeric) find_ends(set, found);
        return found;
    }

    Settled choose(std::int64_t number, std::vector<Settled> &found) override {
        const OpenNode &node = nodes_[static_cast<std::size_t>(number)];
        Settled best = best_of(node, found);
        best.state = worth(node, best.choice) ? Settled::State::test : Settled::State::leaf;
        return best;
    }

    Settled settle(std::int64_t number, const SetReader &sets, const LookedInto &before, double margin,
                   Cancel &cancel) override {
        std::vector<Settled> found;
        for (std::size_t a = 0; a < sets.size(); ++a) {
            cancel.poll();
            found.push_back(look(number, sets.read(a), cancel));
        }
        const OpenNode &node = nodes_[static_cast<std::size_t>(number)];
        Settled settled = best_of(node, found);
        if (before.best != nullptr && precedes(*before.best, settled)) {
            settled = *before.best;
            settled.alive.clear();
        }
        find_alive(node, sets, before, margin, cancel, settled);
        const bool taken = worth(node, settled.choice);
        if (settled.alive.empty() && taken) settled.alive = settled.ends;
        settled.state = !settled.alive.empty() ? Settled::State::open
                        : taken                ? Settled::State::test
                                               : Settled::State::leaf;
        return settled;
    }

    std::vector<std::int64_t> split(std::int64_t number, const Settled &settled) override {
        OpenNode node = nodes_[static_cast<std::size_t>(number)];
        const Choice &c = settled.choice;
        GrownSet &grown = forest_.of(node.set);
        LaneTest test;
        test.attribute = c.attribute;
        test.kind = c.kind;
        test.gain = c.gain;
        test.first_child = static_cast<std::int32_t>(grown.records.size());
        test.default_child = c.default_child;
        if (c.kind == TestKind::numeric)
            test.integer = set_threshold(test, c.attribute, settled.lo, settled.hi);
        else
            open_categories_.record(grown, test, c, node.notes);
        grown.add_test(node.record, test, {0, 1}, false);
        forest_.n_nodes += settled.children.size();
        std::vector<std::int64_t> children;
        for (std::size_t i = 0; i < settled.children.size(); ++i)
            children.push_back(record(node.set, settled.children[i], node.depth + 1,
                                      OpenCategories::inherited(node.notes, i)));
        return children;
    }

  private:
    SettleTask task_;
    C criterion_;
    std::unique_ptr<XlogTable> xlog_;
    std::vector<StopRules> rules_; // by set
    AvcLayout layout_;
    Frame<std::uint32_t> frame_;
    ClassTarget target_;
    OpenCategories open_categories_;

    const StopRules &rules_of(const OpenNode &node) const {
        return rules_[static_cast<std::size_t>(node.set)];
    }

    /// As the grower does: a record of the node, and whether it goes on.
    std::int64_t record(std::int32_t set, const ClassCounts &total, std::int64_t depth,
                        std::vector<OpenNote> notes) {
        GrownSet &grown = forest_.of(set);
        const std::uint64_t at = grown.records.size();
        const bool pure = total.pure();
        describe(grown, criterion_, total, pure);
        const std::int64_t max_depth = task_.parameters.max_depth;
        const bool deep = max_depth >= 0 && depth >= max_depth;
        if (pure || deep || rules_[static_cast<std::size_t>(set)].ends(total.n, as_double(total.n)))
            return -1;
        nodes_.push_back({set, at, total, depth, std::move(notes)});
        return static_cast<std::int64_t>(nodes_.size()) - 1;
    }

    /// As the grower compares the tests of attributes.
    Settled best_of(const OpenNode &node, std::vector<Settled> &found) const {
        std::vector<Entered> entered;
        for (Settled &one : found)
            if (one.choice.found()) entered.push_back({&one.choice});
        Settled best;
        Choice choice;
        decide(entered, criterion_, rules_of(node), task_.parameters.competitors, choice);
        if (!choice.found()) return best;
        for (Settled &one : found)
            if (!one.children.empty() && one.choice.attribute == choice.attribute) best = std::move(one);
        best.choice = std::move(choice);
        return best;
    }
    /// The order of tests. A cut inside a bucket is before one at the bucket's end, whose lower value may not
    /// be known.
    static bool precedes(const Settled &a, const Settled &b) {
        if (!a.choice.found() || !b.choice.found()) return a.choice.found();
        if (a.choice.quality != b.choice.quality) return a.choice.quality > b.choice.quality;
        if (a.choice.attribute != b.choice.attribute) return a.choice.attribute < b.choice.attribute;
        return a.choice.kind == TestKind::numeric && a.hi < b.hi;
    }
    double share_of(const OpenNode &node) const { return as_double(node.total.n) / rules_of(node).mass; }
    bool worth(const OpenNode &node, const Choice &c) const {
        return c.found() && (criterion_.splits_at_zero || c.quality != 0.0) &&
               !(share_of(node) * c.gain < task_.parameters.min_impurity_decrease);
    }
    static void find_ends(const RefinedSet &set, Settled &found) {
        const Choice &c = found.choice;
        found.lo = set.low[c.lo], found.hi = set.low[c.hi];
        for (std::uint32_t end : {c.lo, c.hi})
            if (!set.exact(end)) found.ends.push_back({c.attribute, set.bucket[end]});
    }

    /// Buckets inside which a cut might be better than the test that was found.
    void find_alive(const OpenNode &node, const SetReader &sets, const LookedInto &before, double margin,
                    Cancel &cancel, Settled &settled) const {
        const StopRules &rules = rules_of(node);
        double reach = settled.choice.found() ? settled.choice.quality : -1.0;
        if constexpr (is_gain<C>)
            reach = std::max(reach, task_.parameters.min_impurity_decrease / share_of(node));
        reach -= bound_slack * std::max(1.0, std::abs(reach)) + margin;
        for (std::size_t a = 0; a < sets.size(); ++a) {
            cancel.poll();
            if (sets.exact(a)) continue;
            const RefinedSet set = sets.read(a);
            if constexpr (has_bound<C>) {
                const ClassCounts none(node.total.c.size());
                ClassCounts missing = none;
                add(missing, set.row(set.size()));
                bound_cuts(node, rules, set, none, missing.n, 0, reach, settled);
                if (missing.n != 0)
                    bound_cuts(node, rules, set, missing, missing.n, missing.n, reach, settled);
            } else {
                for (std::size_t i = 0; i < set.size(); ++i)
                    if (!set.exact(i)) settled.alive.push_back({set.attribute, set.bucket[i]});
            }
        }
        std::erase_if(settled.alive, [&, seen = AliveBucket{-1, 0}](const AliveBucket &b) mutable {
            const bool again = b.attribute == seen.attribute && b.bucket == seen.bucket;
            seen = b;
            return again || before.has(b);
        });
    }
    static void add(ClassCounts &to, const std::uint32_t *row) {
        for (std::size_t k = 0; k < to.c.size(); ++k) to.c[k] += row[k], to.n += row[k];
    }
    /// Missing rows, `on_left` of them, are on the left or on the right.
    void bound_cuts(const OpenNode &node, const StopRules &rules, const RefinedSet &set, ClassCounts below,
                    std::int64_t missing, std::int64_t on_left, double reach, Settled &settled) const {
        const std::int64_t known = node.total.n - missing;
        const std::int64_t floor =
            rules.asks_objs()
                ? rows_from(rules.cut_floor(as_double(known), node.total.classes_present()), known)
                : 0;
        const Least least = rules.least(floor, on_left, missing - on_left);
        BucketBound<C> bound(criterion_, node.total);
        for (std::size_t i = 0; i < set.size(); ++i) {
            const std::uint32_t *row = set.row(i);
            std::int64_t rows = 0;
            for (std::size_t k = 0; k < below.c.size(); ++k) rows += row[k];
            // Cuts inside leave between one row of the bucket and all but one on the left.
            if (!set.exact(i) && below.n + rows - 1 >= least.left &&
                node.total.n - below.n - 1 >= least.right) {
                const double most = bound.highest(below, row, reach);
                settled.bound = std::max(settled.bound, most);
                if (most > reach) settled.alive.push_back({set.attribute, set.bucket[i]});
            }
            add(below, row);
        }
    }

    std::vector<ClassCounts> children_of(const OpenNode &node, const RefinedSet &set, const Choice &c) const {
        std::vector<ClassCounts> children(static_cast<std::size_t>(c.n_children),
                                          ClassCounts(node.total.c.size()));
        if (c.kind == TestKind::numeric) {
            for (std::uint32_t i = 0; i < set.size(); ++i) add(children[i <= c.lo ? 0 : 1], set.row(i));
        } else {
            for (auto [code, child] : c.branches)
                add(children[static_cast<std::size_t>(child)], set.row(static_cast<std::size_t>(code)));
        }
        add(children[static_cast<std::size_t>(c.default_child)], set.row(set.size()));
        return children;
    }

    bool set_threshold(LaneTest &test, std::int32_t attribute, RowKey lo, RowKey hi) const {
        const AttributeShape &shape = task_.layout->attributes[static_cast<std::size_t>(attribute)];
        NumericColumn ends;
        ends.is_integer = shape.kind == ValueKind::integers;
        if (ends.is_integer)
            ends.integers = {shape.integer_at(lo), shape.integer_at(hi)};
        else
            ends.floats = {shape.float_at(lo), shape.float_at(hi)};
        put_threshold(test, ends, 0, 1);
        return ends.is_integer;
    }
};

} // namespace

void Settling::graft(std::int64_t number, const Forest &part, std::int32_t set) {
    const OpenNode &node = nodes_[static_cast<std::size_t>(number)];
    forest_.costs.add(part.costs);
    forest_.n_nodes += part.n_nodes - 1;
    forest_.of(node.set).graft(node.record, part.sets[static_cast<std::size_t>(set)]);
}

std::unique_ptr<Settling> Settling::make(SettleTask task, Cancel &cancel) {
    const std::string criterion = task.criterion;
    std::int64_t most = 0;
    for (const ClassCounts &whole : task.wholes) most = std::max(most, whole.n);
    auto by_xlog = [&](auto made) -> std::unique_ptr<Settling> {
        auto xlog = std::make_unique<XlogTable>(static_cast<std::size_t>(most) + 1, cancel);
        if constexpr (requires { made.entropy; })
            made.entropy.xlog = xlog.get();
        else
            made.xlog = xlog.get();
        return std::make_unique<SettlingBy<decltype(made)>>(std::move(task), made, std::move(xlog));
    };
    if (criterion == "gini") return std::make_unique<SettlingBy<Gini>>(std::move(task), Gini{}, nullptr);
    if (criterion == "correlation")
        return std::make_unique<SettlingBy<Correlation>>(std::move(task), Correlation{}, nullptr);
    if (criterion == "entropy") return by_xlog(Entropy{});
    if (criterion == "gain_ratio") return by_xlog(GainRatio{});
    if (criterion == "c45") return by_xlog(C45<Entropy>{});
    throw std::invalid_argument("criterion '" + criterion + "' is not settled from counts");
}

} // namespace hornbeam
