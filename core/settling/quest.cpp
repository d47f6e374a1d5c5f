// Settling as QUEST decides: the attribute by its sums, then the place of its cut among the values known.
#include "settling/quest.hpp"

#include <algorithm>

#include "choice/quest_choice.hpp"
#include "settling/nodes.hpp"

namespace hornbeam {
namespace {

class SettlingByQuest final : public SettlingNodes<ClassTarget> {
  public:
    explicit SettlingByQuest(SettleTask task)
        : SettlingNodes(std::move(task), std::make_unique<SplitBy<Quest>>(Quest{})) {}

    Settled look(std::int64_t number, const RefinedSet &set, Cancel &cancel) override {
        return look_at(nodes_[static_cast<std::size_t>(number)], set, -1.0, cancel);
    }

    Settled choose(std::int64_t, std::vector<Settled> &found) override {
        Settled best;
        for (Settled &one : found)
            if (one.choice.quality > best.choice.quality) best = std::move(one);
        return best;
    }

    Settled settle(std::int64_t number, const SetReader &sets, const LookedInto &, double,
                   Cancel &cancel) override {
        const OpenNode &node = nodes_[static_cast<std::size_t>(number)];
        Settled best;
        std::vector<AliveBucket> unknown;
        for (std::size_t a = 0; a < sets.size(); ++a) {
            cancel.poll();
            const RefinedSet set = sets.read(a);
            if (!judged(set)) {
                add_inexact(set, unknown);
                continue;
            }
            Settled found = look_at(node, set, best.choice.quality, cancel);
            if (found.choice.quality > best.choice.quality) best = std::move(found);
        }
        if (unknown.empty()) return best;
        best = {};
        best.state = Settled::State::open;
        best.alive = std::move(unknown);
        return best;
    }

  private:
    const Quest quest_;

    static bool exact(const RefinedSet &set) {
        for (std::size_t i = 0; i < set.size(); ++i)
            if (!set.exact(i)) return false;
        return true;
    }
    /// Whether all is known that the choice between attributes asks for.
    static bool judged(const RefinedSet &set) { return set.nominal || set.sums.there() || exact(set); }
    static void add_inexact(const RefinedSet &set, std::vector<AliveBucket> &to) {
        for (std::size_t i = 0; i < set.size(); ++i)
            if (!set.exact(i)) to.push_back({set.attribute, set.bucket[i]});
    }

    /// What an attribute enters; nothing where it is not surer than `surest`.
    Settled look_at(const OpenNode &node, const RefinedSet &set, double surest, Cancel &cancel) const {
        Settled found;
        if (set.size() == 0) return found;
        if (set.nominal)
            look_at_categories(node, set, cancel, found);
        else
            look_at_values(node, set, surest, found);
        const Choice &c = found.choice;
        // Where the node is a leaf it is one whatever the values next to the cut.
        if (found.state != Settled::State::open && c.kind != TestKind::leaf && worth(node, c)) {
            found.state = found.ends.empty() ? Settled::State::test : Settled::State::open;
            found.alive = found.ends;
            found.children = children_of(node, set, c);
        }
        return found;
    }

    void look_at_categories(const OpenNode &node, const RefinedSet &set, Cancel &cancel,
                            Settled &found) const {
        QuestChooser<std::uint32_t> chooser(frame_, target_, quest_, task_.parameters, cancel);
        const Lane<ClassCounts> lane{node.set, node.record, node.total};
        chooser.open(lane, true, rules_of(node));
        const AvcSlot slot{set.attribute, true, 0, set.size()};
        chooser.consider({set.attribute, 0, nullptr}, {}, &slot, set.counts.data(), found.choice);
    }

    // ---- numeric attributes ----

    void look_at_values(const OpenNode &node, const RefinedSet &set, double surest, Settled &found) const {
        if (set.sums.there()) return look_at_sums(node, set, set.sums, surest, found);
        const std::size_t n_classes = node.total.c.size();
        KeySums sums(task_.layout->attributes[static_cast<std::size_t>(set.attribute)], n_classes);
        for (std::size_t i = 0; i < set.size(); ++i)
            for (std::size_t k = 0; k < n_classes; ++k)
                if (set.row(i)[k] != 0) sums.add(set.low[i], k, set.row(i)[k]);
        look_at_sums(node, set, sums, surest, found);
    }

    void look_at_sums(const OpenNode &node, const RefinedSet &set, const KeySums &sums, double surest,
                      Settled &found) const {
        ExponentSpan span = sums.span();
        // The ends of buckets are compared with the cut, whether a row has them or not.
        for (std::size_t i = 0; i < set.size(); ++i)
            if (!set.exact(i))
                for (RowKey end : {set.low[i], set.high[i]}) sums.widen(span, end);
        const int limbs = limbs_for(span.bits(), static_cast<std::uint64_t>(node.total.n));
        if (limbs <= 1)
            look_by<1>(node, set, sums, span.lowest, surest, found);
        else if (limbs <= 2)
            look_by<2>(node, set, sums, span.lowest, surest, found);
        else if (limbs <= 4)
            look_by<4>(node, set, sums, span.lowest, surest, found);
        else
            look_by<36>(node, set, sums, span.lowest, surest, found); // any doubles
    }

    template <int W> void look_by(const OpenNode &node, const RefinedSet &set, const KeySums &sums,
                                  int exponent, double surest, Settled &found) const {
        ClassCounts known(node.total.c.size());
        for (std::size_t i = 0; i < set.size(); ++i) add(known, set.row(i));
        std::vector<Moments<W>> moments;
        for (std::size_t k = 0; k < known.c.size(); ++k)
            moments.push_back(sums.of<W>(k, known.c[k], exponent));
        ValueSplit<W> split;
        if (!split.open(moments, exponent)) return;
        const double quality = -split.log_p() + 0.0;
        if (!(quality > surest)) return;
        found.choice.quality = quality;
        found.choice.attribute = set.attribute;
        split.part();
        for (int way = 0; way < 2; ++way) {
            const std::uint32_t end = first_right(set, sums.keys(), split, found);
            if (found.state == Settled::State::open) return;
            if (end != 0 && end != set.size()) return cut_before(node, set, known, end, found);
            split.take_halfway();
        }
    }

    /// The first entry that does not go left; the set is `open` where only some of its values do.
    template <int W> static std::uint32_t first_right(const RefinedSet &set, const ExactKeys &keys,
                                                      const ValueSplit<W> &split, Settled &found) {
        const auto high = std::partition_point(set.high.begin(), set.high.end(),
                                               [&](RowKey key) { return split.goes_left(keys.value(key)); });
        const auto end = static_cast<std::uint32_t>(high - set.high.begin());
        if (end != set.size() && !set.exact(end) && split.goes_left(keys.value(set.low[end]))) {
            found.state = Settled::State::open;
            found.alive.push_back({set.attribute, set.bucket[end]});
        }
        return end;
    }

    void cut_before(const OpenNode &node, const RefinedSet &set, const ClassCounts &known, std::uint32_t end,
                    Settled &found) const {
        ClassCounts missing = node.total, left(known.c.size()), right = left;
        missing -= known;
        for (std::uint32_t i = 0; i < end; ++i) add(left, set.row(i));
        const StopRules &rules = rules_of(node);
        const double least = rules.cut_floor(as_double(known.n), node.total.classes_present());
        Choice &c = found.choice;
        c.lo = end - 1, c.hi = end;
        if (!admit_sides(quest_, node.total, rules, least, {known, missing, left, right}, c)) return;
        c.kind = TestKind::numeric;
        found.lo = set.low[c.lo], found.hi = set.low[c.hi];
        // What is known of a bucket stays known, and must not be looked for again.
        for (std::uint32_t at : {c.lo, c.hi})
            if (!set.exact(at)) found.ends.push_back({c.attribute, set.bucket[at]});
    }
};

} // namespace

std::unique_ptr<Settling> settle_by_quest(SettleTask task) {
    return std::make_unique<SettlingByQuest>(std::move(task));
}

} // namespace hornbeam
