// The last nodes of training sets: where few rows are left, the subtree of each set is grown to its end in
// one go, over lists of bytes. What a node costs besides its entries is most of what small nodes cost.
#pragma once

#include <bit>
#include <optional>

#include "growth/ledger.hpp"
#include "growth/pending.hpp"
#include "growth/twig_information.hpp"

namespace hornbeam {

/// Twigs are of counted classes, and grown from narrow lists.
template <class E, class Target> inline constexpr bool bears_twigs =
    sizeof(E) == 4 && std::same_as<Target, ClassTarget>;

/// Where none are grown.
template <class E, class Target> class Twigs {
  public:
    Twigs(const Frame<E> &, const Target &, const SplitCriterion<Target> &, const GrowTask &,
          const RuleTable &, Ledger<E, Target> &) {}
    static std::size_t most_rows() { return 0; }
};

/// Rows of a twig are numbered in the order of its node; a list has their numbers by the value of an
/// attribute, and the part [begin, begin + size) of every list belongs to one node below.
template <class E, class Target>
    requires bears_twigs<E, Target>
class Twigs<E, Target> {
  public:
    using Node = Pending<E, ClassCounts>;

    Twigs(const Frame<E> &frame, const ClassTarget &target, const SplitCriterion<ClassTarget> &criterion,
          const GrowTask &task, const RuleTable &rules, Ledger<E, ClassTarget> &ledger)
        : frame_(frame), target_(target), task_(task), rules_(rules), ledger_(ledger),
          kernels_(twig_kernels_of(*task.parameters.kernels)) {
        const GrowParameters &p = task.parameters;
        const InformationCriterion *information = criterion.information();
        const bool by_information = information != nullptr && !criterion.traits.compares_attributes;
        grown_ = (criterion.traits.by_gini || by_information) && p.accelerate && p.twigs &&
                 p.settings.size() == 1 && p.settings[0].min_objs < 0.0 && p.competitors == 0 &&
                 target.n_classes <= twig_rows;
        if (grown_ && by_information) information_.emplace(*information, task.cancel);
    }

    /// Nodes of so many rows want lists; 0 where their attributes are not all listed.
    std::size_t most_rows() const {
        const auto &columns = task_.table.columns;
        const bool numeric = std::all_of(columns.begin(), columns.end(), [](const Column &c) {
            return std::holds_alternative<NumericColumn>(c);
        });
        const bool wanted = grown_ && numeric && columns.size() <= twig_lists;
        return wanted && task_.parameters.counting != CountValues::always ? twig_rows : 0;
    }
    /// Whether the sets of a node end here: few rows, and of all attributes lists without gaps. Several sets
    /// stay together where that was asked for.
    bool takes(const Node &node) const {
        return grown_ && node.rows.size() <= twig_rows && node.active.size() <= twig_lists &&
               node.avc.empty() &&
               (node.lanes.size() == 1 || task_.parameters.sharing == Sharing::automatic) &&
               (solo(node) || !frame_.sets.repeats()) &&
               std::all_of(node.active.begin(), node.active.end(),
                           [&](const Segment<E> &s) { return s.listed() && s.size == node.rows.size(); });
    }

    /// Grows all sets of the node to their ends.
    void grow(Node &node) {
        number_rows(node);
        const bool alone = solo(node);
        write_lists(node, alone ? lists_ : whole_lists_);
        for (const Lane<ClassCounts> &lane : node.lanes) {
            if (!alone) take_lists(node, lane);
            ledger_.forest.costs.spent(node.depth, Work::other);
            grow_lane(lane, node.depth);
        }
        if (ledger_.forest.lone()) order_rows(node);
    }

  private:
    /// A part of all lists. Its attributes are those of its parent that vary there.
    struct Part {
        Lane<ClassCounts> lane;
        std::int64_t depth = 0;
        std::uint32_t begin = 0, size = 0;
        std::size_t first = 0, last = 0; // of the parent's attributes in active_
    };
    struct Best {
        Cut cut;
        std::uint32_t list = 0;
        std::int64_t ones = 0; // on the left, of two classes
    };
    const Frame<E> &frame_;
    const ClassTarget &target_;
    const GrowTask &task_;
    const RuleTable &rules_;
    Ledger<E, ClassTarget> &ledger_;
    const TwigKernels &kernels_;
    bool grown_ = false;
    std::optional<TwigInformationCuts> information_; // else by gini
    std::vector<std::int32_t> left_;                 // of each class, where cuts are scored by information
    std::vector<std::uint8_t> local_;                // by the frame's id: that of the twig
    std::size_t stride_ = 0;                         // from list to list
    std::vector<std::uint8_t> lists_, whole_lists_;  // rows first, then by attribute; of a set, of all sets
    std::vector<std::uint8_t> ranks_;                // [list][id], from 0 on
    std::vector<std::uint16_t> values_;              // [list][rank]: the rank in the frame
    std::vector<Segment<E>> segments_;               // that the lists were written from
    ByTwigRow<std::uint8_t> classes_{}, flag_{};     // by id
    TwigCuts cuts_;
    TwigScores scores_;
    std::vector<std::uint16_t> active_; // lists, those of a node behind those of its parent
    std::vector<Part> stack_;
    std::vector<ClassCounts> counts_; // that may be used again
    Choice choice_;

    bool two_classes() const { return target_.n_classes == 2; }
    std::size_t n_lists() const { return segments_.size(); }
    std::uint8_t *list(std::vector<std::uint8_t> &lists, std::size_t i) { return lists.data() + i * stride_; }
    /// The list of the rows themselves comes before those of attributes.
    std::uint8_t *list(std::size_t i) { return list(lists_, i + 1); }
    const std::uint8_t *ranks(std::size_t i) const { return ranks_.data() + i * twig_rows; }

    // ---- from the lists of the frame ----

    void number_rows(const Node &node) {
        const std::size_t n = node.rows.size();
        if (local_.size() < frame_.capacity) local_.resize(frame_.capacity);
        std::uint8_t *local = local_.data();
        const ClassCode *code = target_.code.data();
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t id = Packed<E>::id(node.rows[i]);
            local[id] = static_cast<std::uint8_t>(i);
            classes_[i] = static_cast<std::uint8_t>(code[id]);
        }
        const std::uint32_t vectors = static_cast<std::uint32_t>((n + 63) / 64);
        cuts_.tables = vectors <= 2 ? vectors : 4;
        stride_ = std::size_t{vectors} * 64 + twig_room;
    }

    void write_lists(const Node &node, std::vector<std::uint8_t> &lists) {
        segments_ = node.active;
        auto room = [](auto &of, std::size_t n) {
            if (of.size() < n) of.resize(n);
        };
        room(lists, (n_lists() + 1) * stride_);
        room(ranks_, n_lists() * twig_rows);
        room(values_, n_lists() * twig_rows);
        std::uint8_t *to = list(lists, 0);
        for (E e : node.rows) *to++ = local_[Packed<E>::id(e)];
        for (std::size_t i = 0; i < n_lists(); ++i) write_list(segments_[i], i, list(lists, i + 1));
    }
    /// Bytes may lie anywhere: what is asked for entry by entry is kept in variables.
    void write_list(const Segment<E> &segment, std::size_t i, std::uint8_t *to) {
        const std::uint8_t *local = local_.data();
        std::uint8_t *rank = ranks_.data() + i * twig_rows;
        std::uint16_t *value = values_.data() + i * twig_rows;
        std::uint32_t last = Packed<E>::rank(segment.begin[0]), now = 0;
        for (const E *e = segment.begin, *end = e + segment.size; e != end; ++e) {
            const std::uint32_t r = Packed<E>::rank(*e);
            const std::uint8_t id = local[Packed<E>::id(*e)];
            now += r != last;
            last = r;
            *to++ = id;
            rank[id] = static_cast<std::uint8_t>(now);
            value[now] = static_cast<std::uint16_t>(r);
        }
    }
    /// Leaves in the lists the rows of one set.
    void take_lists(const Node &node, const Lane<ClassCounts> &lane) {
        const auto n = static_cast<std::uint32_t>(node.rows.size());
        for (std::uint32_t i = 0; i < n; ++i)
            flag_[i] = !(frame_.sets.of(Packed<E>::id(node.rows[i])) >> lane.set & 1);
        if (lists_.size() < whole_lists_.size()) lists_.resize(whole_lists_.size());
        for (std::size_t i = 0; i <= n_lists(); ++i)
            kernels_.keep(list(whole_lists_, i), n, flag_.data(), cuts_.tables, list(lists_, i));
    }
    /// Of a lone tree: leaf after leaf.
    void order_rows(Node &node) const {
        std::array<E, twig_rows> rows;
        std::copy(node.rows.begin(), node.rows.end(), rows.begin());
        for (std::size_t i = 0; i < node.rows.size(); ++i) node.rows[i] = rows[lists_[i]];
    }

    // ---- growing ----

    void grow_lane(const Lane<ClassCounts> &lane, std::int64_t depth) {
        task_.cancel.poll();
        active_.resize(n_lists());
        for (std::size_t i = 0; i < n_lists(); ++i) active_[i] = static_cast<std::uint16_t>(i);
        const auto size = static_cast<std::uint32_t>(lane.total.n);
        stack_.push_back(
            {{lane.set, lane.record, fresh_counts(), {}, lane.settings}, depth, 0, size, 0, n_lists()});
        stack_.back().lane.total = lane.total;
        while (!stack_.empty()) {
            Part part = std::move(stack_.back());
            stack_.pop_back();
            refine(part);
        }
    }

    void spent(const Part &part, Work work) { ledger_.forest.costs.spent(part.depth, work); }

    void refine(Part &part) {
        drop_constant(part);
        count_entries(part);
        open_cuts(part);
        const Best best = information_    ? best_by_information(part)
                          : two_classes() ? best_of_two(part)
                                          : best_of_many(part);
        set_choice(best, part);
        spent(part, Work::numeric);
        if (ledger_.worth(part.lane, choice_))
            split(part, best);
        else
            counts_.push_back(std::move(part.lane.total));
    }

    void drop_constant(Part &part) {
        active_.resize(part.last);
        const std::size_t first = active_.size();
        for (std::size_t i = part.first; i < part.last; ++i) {
            const std::uint16_t a = active_[i];
            const std::uint8_t *own = list(a) + part.begin;
            if (ranks(a)[own[0]] != ranks(a)[own[part.size - 1]]) active_.push_back(a);
        }
        part.first = first, part.last = active_.size();
    }
    void count_entries(const Part &part) {
        LevelCost &level = ledger_.forest.costs.at(part.depth);
        const auto entries = static_cast<std::int64_t>(part.size * (part.last - part.first));
        ++level.nodes;
        level.entries += entries;
        level.own_entries += entries;
    }

    void open_cuts(const Part &part) {
        const ClassCounts &total = part.lane.total;
        const std::int64_t n = total.n, leaf = rules_.of(part.lane.set, part.lane.settings.first).min_leaf;
        cuts_.n = part.size;
        cuts_.first = static_cast<std::uint32_t>(std::min(leaf, n) - 1);
        cuts_.end = static_cast<std::uint32_t>(std::max<std::int64_t>(n - leaf, 0));
        if (two_classes()) {
            cuts_.ones = static_cast<float>(total.c[1]);
            return;
        }
        cuts_.n_present = 0;
        for (std::size_t k = 0; k < total.c.size(); ++k) {
            if (total.c[k] == 0) continue;
            cuts_.present[cuts_.n_present] = static_cast<std::uint8_t>(k);
            cuts_.count[cuts_.n_present++] = static_cast<std::uint8_t>(total.c[k]);
        }
        cuts_.squares = static_cast<std::int32_t>(Gini::sum_of_squares(total));
    }

    /// The lists in order: a cut must be better than those before it. Single precision says where to look.
    template <class Look> Best best_of(const Part &part, Look look) {
        Best best;
        if (cuts_.first >= cuts_.end) return best;
        const double highest = information_ ? information_->highest_quality(part.lane.total)
                                            : Gini{}.highest_quality(part.lane.total);
        for (std::size_t i = part.first; i < part.last && best.cut.quality < highest; ++i)
            look(active_[i], list(active_[i]) + part.begin, best);
        return best;
    }
    template <class LookAt> void look_at_hits(float bar, LookAt look_at) {
        const TwigHits hits = kernels_.at_least(scores_, cuts_, bar);
        for (std::uint32_t v = 0; v < hits.size(); ++v)
            for (std::uint64_t left = hits[v]; left != 0; left &= left - 1)
                look_at(64 * v + static_cast<std::uint32_t>(std::countr_zero(left)));
    }

    Best best_of_two(const Part &part) {
        const ClassCounts &total = part.lane.total;
        const std::int64_t n = total.n, ones = total.c[1], squares = Gini::sum_of_squares(total);
        return best_of(part, [&](std::uint32_t a, const std::uint8_t *own, Best &best) {
            const float top = kernels_.two(own, classes_.data(), ranks(a), cuts_, scores_);
            TwoClassSweep sweep(n, ones, squares, best.cut.quality);
            if (top < 0.0f || static_cast<double>(top) * (1.0 + single_doubt) < sweep.reach) return;
            look_at_hits(top * (1.0f - single_doubt),
                         [&](std::uint32_t i) { sweep.look(i, i + 1, scores_.ones[i]); });
            if (sweep.best.quality > best.cut.quality) best = {sweep.best, a, scores_.ones[sweep.best.at]};
        });
    }
    Best best_of_many(const Part &part) {
        const std::int64_t n = part.lane.total.n;
        return best_of(part, [&](std::uint32_t a, const std::uint8_t *own, Best &best) {
            const float top = kernels_.many(own, classes_.data(), ranks(a), cuts_, scores_);
            ClassSweep sweep(n, cuts_.squares, best.cut.quality);
            if (top < 0.0f || top < sweep.bar()) return;
            look_at_hits(top * (1.0f - single_doubt), [&](std::uint32_t i) {
                const std::uint32_t sums = scores_.sums[i];
                sweep.look(i, sums & 0xffff, sums >> 16, i + 1);
            });
            if (sweep.best.quality > best.cut.quality) best = {sweep.best, a, 0};
        });
    }

    Best best_by_information(const Part &part) {
        if (cuts_.first < cuts_.end) information_->open(part.lane.total, cuts_);
        return best_of(part, [&](std::uint32_t a, const std::uint8_t *own, Best &best) {
            const auto score = two_classes() ? kernels_.two_by_information : kernels_.many_by_information;
            const float top = score(own, classes_.data(), ranks(a), cuts_, information_->tables(), scores_),
                        bar = information_->bar(best.cut.quality);
            if (top < bar) return;
            Cut cut;
            cut.quality = best.cut.quality;
            left_.assign(target_.n_classes, 0);
            std::uint32_t moved = 0;
            look_at_hits(std::max(bar, information_->as_good_as(top)), [&](std::uint32_t i) {
                for (; moved <= i; ++moved) ++left_[classes_[own[moved]]];
                const Score here = information_->literal(i + 1, left_);
                if (here.quality > cut.quality) cut = {here.quality, here.gain, i, i + 1, i + 1};
            });
            if (cut.next != 0) best = {cut, a, two_classes() ? scores_.ones[cut.at] : 0};
        });
    }

    void set_choice(const Best &best, const Part &part) {
        choice_.clear();
        if (!(best.cut.quality >= 0.0)) return;
        const std::uint8_t *own = list(best.list) + part.begin;
        choice_.quality = best.cut.quality;
        choice_.gain = best.cut.gain;
        choice_.attribute = segments_[best.list].attribute;
        choice_.kind = TestKind::numeric;
        choice_.default_child = 2 * best.cut.left >= part.size ? 0 : 1;
        choice_.n_children = 2;
        const std::uint16_t *value = values_.data() + best.list * twig_rows;
        choice_.lo = value[ranks(best.list)[own[best.cut.at]]];
        choice_.hi = value[ranks(best.list)[own[best.cut.at + 1]]];
    }

    void split(Part &part, const Best &best) {
        ledger_.record_test(part.lane, choice_);
        const auto left = static_cast<std::uint32_t>(best.cut.left);
        std::array<Part, 2> child;
        child[0].lane.total = left_counts(part, best);
        child[1].lane.total = std::move(part.lane.total);
        child[1].lane.total -= child[0].lane.total;
        ledger_.forest.n_nodes += 2;
        for (std::uint32_t c = 0; c < 2; ++c) {
            Part &to = child[c];
            to.begin = part.begin + c * left;
            to.size = c == 0 ? left : part.size - left;
            to.depth = part.depth + 1;
            to.first = part.first, to.last = part.last;
            to.lane.set = part.lane.set;
            to.lane.record = ledger_.forest.of(part.lane.set).records.size();
            to.lane.settings =
                ledger_.record_lane(part.lane.set, to.lane.total, to.depth, part.lane.settings);
        }
        spent(part, Work::statistics);
        part_lists(part, best, !child[0].lane.settings.empty() || !child[1].lane.settings.empty());
        for (std::size_t c = 2; c-- > 0;) // the first child is visited first
            child[c].lane.settings.empty() ? counts_.push_back(std::move(child[c].lane.total))
                                           : stack_.push_back(std::move(child[c]));
        spent(part, Work::tests);
    }
    ClassCounts fresh_counts() {
        if (counts_.empty()) return target_.zero();
        ClassCounts counts = std::move(counts_.back());
        counts_.pop_back();
        counts.clear();
        return counts;
    }
    ClassCounts left_counts(const Part &part, const Best &best) {
        ClassCounts counts = fresh_counts();
        counts.n = best.cut.left;
        if (two_classes()) {
            counts.c[1] = best.ones;
            counts.c[0] = counts.n - best.ones;
            return counts;
        }
        const std::uint8_t *own = list(best.list) + part.begin;
        for (std::int64_t i = 0; i < counts.n; ++i) ++counts.c[classes_[own[i]]];
        return counts;
    }
    static void flag_above(const std::uint8_t *rank, std::uint8_t last_left, std::size_t n,
                           std::uint8_t *__restrict flag) {
        for (std::size_t id = 0; id < n; ++id) flag[id] = rank[id] > last_left;
    }
    /// The tested list is in order already. Lists are for nodes that go on growing.
    void part_lists(const Part &part, const Best &best, bool grow_on) {
        const bool ordered = ledger_.forest.lone();
        if (!grow_on && !ordered) return;
        const std::uint8_t *rank = ranks(best.list);
        const std::uint8_t last_left = rank[list(best.list)[part.begin + best.cut.at]];
        flag_above(rank, last_left, 64 * cuts_.tables, flag_.data());
        if (ordered) kernels_.part(lists_.data() + part.begin, part.size, flag_.data(), cuts_.tables);
        for (std::size_t i = part.first; i < part.last && grow_on; ++i)
            if (active_[i] != best.list)
                kernels_.part(list(active_[i]) + part.begin, part.size, flag_.data(), cuts_.tables);
    }
};

} // namespace hornbeam
