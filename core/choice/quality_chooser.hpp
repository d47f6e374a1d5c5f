// The best test of a node for one training set by quality: every attribute in order, strictly better wins.
#pragma once

#include <bit>
#include <limits>

#include "choice/chooser.hpp"
#include "choice/nominal.hpp"

namespace hornbeam {

/// The fast scans want lists in which every entry counts once: those of a node where the lane is alone
/// (`solo`), or copies of what is the lane's own.
template <class E, class Target> class QualityChooser final : public Chooser<E, Target> {
  public:
    using Stats = typename Target::Stats;

    QualityChooser(const Frame<E> &frame, const Target &target, const SplitCriterion<Target> &criterion,
                   const GrowParameters &parameters, Cancel &cancel)
        : frame_(frame), target_(target), criterion_(criterion.copy()), parameters_(parameters),
          cancel_(cancel), zero_(target.zero()), missing_(zero_), known_(zero_) {}

    void open(const Lane<Stats> &lane, bool solo, const StopRules &rules) override {
        lane_ = &lane;
        solo_ = solo || parameters_.accelerate;
        copies_ = !solo && parameters_.accelerate;
        own_rows_.clear();
        rules_ = &rules;
        classes_ = 0;
        if constexpr (of_classes)
            if (rules.asks_objs()) classes_ = lane.total.classes_present();
        criterion_->open(lane.set, lane.total);
        highest_ = parameters_.accelerate ? criterion_->highest_quality(lane.total)
                                          : std::numeric_limits<double>::infinity();
        if (solo_) criterion_->gather(facts_, lane.total);
    }

    bool consider(const Segment<E> &segment, std::span<const E> rows, const AvcSlot *slot,
                  const std::uint32_t *counts, Choice &best) override {
        if (segment.listed())
            consider_list(copies_ ? own_list(segment) : segment, best);
        else if (slot != nullptr && !slot->nominal)
            consider_counts(*slot, counts, best);
        else
            consider_nominal(segment.attribute, copies_ && slot == nullptr ? own_rows(rows) : rows, slot,
                             counts, best);
        return best.quality < highest_;
    }
    bool consider_tried(const Choice &found, Choice &best) const override {
        if (found.found() && found.quality > best.quality) best = found;
        return best.quality < highest_;
    }
    bool consider_found(const Segment<E> &segment, const FoundCut &cut, Choice &best) override {
        auto rank = [&](std::uint32_t at) {
            return segment.listed() ? Packed<E>::rank(segment.begin[at]) : at;
        };
        if (compares()) {
            const std::int64_t known = lane_->total.n - cut.missing;
            left_.n = cut.left, right_.n = known - cut.left, missing_.n = cut.missing;
            if (cut.quality > 0.0) enter(segment.attribute, cut, best, rank);
            return true;
        }
        if (cut.quality > best.quality) {
            const bool larger_left = cut.left >= lane_->total.n - cut.left;
            best.quality = cut.quality;
            record_cut(segment.attribute, cut,
                       cut.missing_child >= 0 ? cut.missing_child
                       : larger_left          ? 0
                                              : 1,
                       best, rank);
        }
        return best.quality < highest_;
    }

  private:
    static constexpr bool of_classes = requires(Stats s) { s.c; };
    static constexpr bool weighs = requires(Stats s) { s.weight; };

    const Frame<E> &frame_;
    const Target &target_;
    std::unique_ptr<SplitCriterion<Target>> criterion_; // its own: it remembers the node it is turned to
    const GrowParameters &parameters_;
    Cancel &cancel_;
    Stats zero_, missing_, known_;
    Stats left_, right_; // of a test that c45 enters
    NodeFacts facts_;
    ScanScratch scratch_;
    const Lane<Stats> *lane_ = nullptr;
    bool solo_ = false;   // every entry that is looked at counts once
    bool copies_ = false; // the node has other lanes' entries too
    std::vector<E> own_list_, own_rows_;
    const StopRules *rules_ = nullptr;
    int classes_ = 0; // present at the node, where min_objs asks
    double highest_ = 0.0;
    CategoryTable<Stats> table_;
    std::vector<std::int32_t> slot_;
    std::vector<std::uint32_t> tally_;

    /// C4.5, which is a criterion of classes: attributes are compared once all have entered their tests.
    bool compares() const { return of_classes && criterion_->traits.compares_attributes; }
    /// Whether the statistics of known rows are wanted even where nothing is missing.
    bool keeps_known() const { return compares() || (weighs && rules_->asks_objs()); }
    std::int64_t times(std::uint32_t id) const { return solo_ ? 1 : frame_.sets.count(id, lane_->set); }

    Segment<E> own_list(const Segment<E> &segment) {
        own_list_.resize(static_cast<std::size_t>(lane_->total.n) + 1);
        E *end = copy_own<E>(frame_.sets, lane_->set, {segment.begin, segment.size}, own_list_.data());
        return {segment.attribute, static_cast<std::uint32_t>(end - own_list_.data()), own_list_.data()};
    }
    std::span<const E> own_rows(std::span<const E> rows) {
        if (own_rows_.empty()) {
            own_rows_.resize(static_cast<std::size_t>(lane_->total.n) + 1);
            copy_own<E>(frame_.sets, lane_->set, rows, own_rows_.data());
            own_rows_.pop_back();
        }
        return own_rows_;
    }

    void consider_list(const Segment<E> &segment, Choice &best) {
        if (segment.size < 2) return;
        const Stats &total = lane_->total;
        missing_.clear();
        if (solo_ && segment.size == total.n) {
            if (keeps_known()) known_ = total;
        } else {
            known_.clear();
            for (std::uint32_t i = 0; i < segment.size; ++i) {
                pause(i);
                std::uint32_t id = Packed<E>::id(segment.begin[i]);
                if (std::int64_t m = times(id); m != 0) target_.add_for_quality(known_, id, m);
            }
            missing_ = total;
            missing_ -= known_;
        }
        auto cut_from = [&](const Stats &node, const Stats &start, Least least, double floor) {
            Scan<E, Target> scan{segment.begin, segment.size, target_, node,  start,
                                 facts_,        scratch_,     cancel_, least, floor};
            if constexpr (weighs)
                if (keeps_known()) {
                    scan.known = &known_;
                    scan.least_weight = rules_->cut_floor(criterion_->scorer().weight(known_), classes_);
                    scan.missing = missing_.n;
                    scan.min_leaf = rules_->min_leaf;
                }
            return solo_ && parameters_.accelerate
                       ? criterion_->scan(scan, *parameters_.kernels)
                       : plain_scan(scan, criterion_->sought(),
                                    [this](std::uint32_t id) { return times(id); });
        };
        auto rank = [&](std::uint32_t at) { return Packed<E>::rank(segment.begin[at]); };
        if constexpr (of_classes)
            if (compares())
                return enter_cut(segment.attribute, best, cut_from, rank,
                                 [&](const Cut &cut) { return sum_to(segment, rank(cut.at)); });
        const bool taken = consider_cut(segment.attribute, best, cut_from, rank);
        if constexpr (weighs)
            if (taken && missing_.n == 0) best.default_child = heavier_side(segment, best.lo);
    }
    /// The statistics of the known rows up to rank `lo`.
    Stats sum_to(const Segment<E> &segment, std::uint32_t lo) {
        Stats left = zero_;
        for (std::uint32_t i = 0; i < segment.size && Packed<E>::rank(segment.begin[i]) <= lo; ++i) {
            std::uint32_t id = Packed<E>::id(segment.begin[i]);
            if (std::int64_t m = times(id); m != 0) target_.add_for_quality(left, id, m);
        }
        return left;
    }
    /// Of a cut whose left side ends with rank `lo`.
    std::int32_t heavier_side(const Segment<E> &segment, std::uint32_t lo) {
        Stats left = sum_to(segment, lo), right = lane_->total;
        right -= left;
        return as_heavy(left, right) ? 0 : 1;
    }

    void consider_counts(const AvcSlot &slot, const std::uint32_t *counts, Choice &best) {
        if constexpr (counts_rows<Stats>) {
            const std::uint32_t width = frame_.avc->width;
            read_counts(counts + slot.n_values * width, missing_);
            auto cut_from = [&](const Stats &node, const Stats &start, Least least, double floor) {
                CountedScan scan{counts, slot.n_values, width, node, start, lane_->total.n - missing_.n,
                                 facts_, scratch_,      least, floor};
                return criterion_->scan(scan, *parameters_.kernels);
            };
            auto rank = [](std::uint32_t at) { return at; };
            if (!compares()) {
                consider_cut(slot.attribute, best, cut_from, rank);
                return;
            }
            known_ = lane_->total;
            known_ -= missing_;
            enter_cut(slot.attribute, best, cut_from, rank, [&](const Cut &) { return zero_; });
        }
    }

    /// The known rows that min_objs asks for on both sides of a cut. Where rows weigh differently, the scan
    /// itself looks at what its sides weigh.
    std::int64_t rows_to_leave(std::int64_t known) const {
        if constexpr (weighs)
            return 0;
        else
            return rules_->asks_objs() ? rows_from(rules_->cut_floor(as_double(known), classes_), known) : 0;
    }

    /// The best cut of a numeric attribute, with missing_ on either side; `rank` tells what a cut's ends
    /// mean. True where it is the best test so far.
    template <class CutFrom, class Rank>
    bool consider_cut(std::int32_t attribute, Choice &best, CutFrom cut_from, Rank rank) {
        const std::int64_t missing = missing_.n;
        const std::int64_t floor = rows_to_leave(lane_->total.n - missing);
        auto cut_with = [&](const Stats &start, Least least) {
            return cut_from(lane_->total, start, least, best.quality);
        };
        Cut cut;
        std::int32_t default_child = 0;
        if (missing == 0) {
            cut = cut_with(zero_, rules_->least(floor, 0, 0));
            default_child = cut.left >= lane_->total.n - cut.left ? 0 : 1;
        } else {
            cut = cut_with(missing_, rules_->least(floor, missing, 0));
            Cut right = cut_with(zero_, rules_->least(floor, 0, missing));
            bool right_wins =
                right.quality > cut.quality || (right.quality == cut.quality && right.at < cut.at);
            if (right_wins) cut = right, default_child = 1;
        }
        if (!(cut.quality > best.quality)) return false;
        best.quality = cut.quality;
        return record_cut(attribute, cut, default_child, best, rank);
    }

    /// C4.5: the cut of most information, if that is more than the price of having sought it. Missing rows go
    /// to the larger side; where all rows weigh 1, sizes that hold without them hold with them. `left_of`
    /// sums the left side, where rows weigh differently.
    template <class CutFrom, class Rank, class LeftOf>
    void enter_cut(std::int32_t attribute, Choice &best, CutFrom cut_from, Rank rank, LeftOf left_of) {
        const Least least = weighs ? Least{} : rules_->least(rows_to_leave(known_.n), 0, 0);
        const Cut cut = cut_from(known_, zero_, least, 0.0);
        if (!(cut.quality > 0.0)) return;
        if constexpr (weighs) {
            left_ = left_of(cut);
            right_ = known_;
            right_ -= left_;
        } else { // their numbers are enough
            left_.n = cut.left;
            right_.n = known_.n - cut.left;
        }
        enter(attribute, cut, best, rank);
    }
    /// `left_`, `right_` and `missing_` are its parts.
    template <class Rank> void enter(std::int32_t attribute, const Cut &cut, Choice &best, Rank rank) {
        const Stats &node = lane_->total;
        const double gain = cut.gain - criterion_->penalty(cut.cuts, node);
        if (!(gain >= negligible_gain)) return;
        const std::array<const Stats *, 3> parts{&left_, &right_, &missing_};
        best.quality = gain;
        best.split = criterion_->split(node, std::span(parts).first(missing_.n != 0 ? 3 : 2));
        record_cut(attribute, cut, as_heavy(left_, right_) ? 0 : 1, best, rank);
    }

    template <class Rank> bool record_cut(std::int32_t attribute, const Cut &cut, std::int32_t default_child,
                                          Choice &best, Rank rank) const {
        best.gain = cut.gain;
        best.attribute = attribute;
        best.kind = TestKind::numeric;
        best.default_child = default_child;
        best.n_children = 2;
        best.lo = rank(cut.at);
        best.hi = rank(cut.next);
        best.branches.clear();
        return true;
    }

    void consider_nominal(std::int32_t attribute, std::span<const E> rows, const AvcSlot *slot,
                          const std::uint32_t *counts, Choice &best) {
        const FrameCodes &codes = frame_.nominal[static_cast<std::size_t>(attribute)];
        if (slot != nullptr && !may_beat(best.quality, counts, slot->n_values + 1)) return;
        if (slot != nullptr)
            read_table(counts, slot->n_values, frame_.avc->width);
        else if (!tally(codes, rows))
            count_rows(codes, rows);
        const bool by_numbers = parameters_.accelerate && criterion_->traits.by_gini;
        choose_nominal<Stats>({criterion_->sought(), lane_->total, table_, *rules_, by_numbers, cancel_},
                              attribute, parameters_.nominal, best);
        if (compares() && best.found()) best.split = split_of(best);
    }

    /// No test gains more than one that tells all categories, and the missing rows, apart.
    bool may_beat(double quality, const std::uint32_t *counts, std::uint32_t n_rows) const {
        if constexpr (counts_rows<Stats>) {
            if (!criterion_->traits.by_gini || !parameters_.accelerate || quality < 0.0) return true;
            double sum = 0.0;
            for (std::uint32_t j = 0; j < n_rows; ++j, counts += frame_.avc->width) {
                std::int64_t n = 0, squares = 0;
                for (std::uint32_t k = 0; k < frame_.avc->n_classes; ++k) {
                    n += counts[k];
                    squares += std::int64_t{counts[k]} * counts[k];
                }
                if (n != 0) sum += as_double(squares) / as_double(n);
            }
            const double n = as_double(lane_->total.n), roundings = 1.0 + 1e-9;
            return (sum * roundings - as_double(facts_.squares) / n) / n >= quality;
        }
        return true;
    }

    /// The information of the split itself, of a test that table_ has led to.
    double split_of(const Choice &test) {
        std::vector<const Stats *> parts;
        if (test.kind == TestKind::multiway) {
            for (std::size_t i = 0; i < test.branches.size(); ++i) parts.push_back(&table_.stats[i]);
        } else {
            left_ = right_ = zero_;
            for (std::size_t i = 0; i < test.branches.size(); ++i)
                (test.branches[i].second == 0 ? left_ : right_) += table_.stats[i];
            parts = {&left_, &right_};
        }
        if (table_.missing.n != 0) parts.push_back(&table_.missing);
        return criterion_->split(lane_->total, parts);
    }

    /// Called for every row of a long loop: looks for a stop now and then.
    void pause(std::size_t i) const {
        if (i % 32768 == 32767) cancel_.poll();
    }

    void reserve(std::size_t present) {
        while (table_.stats.size() < present) {
            pause(table_.stats.size());
            table_.stats.push_back(zero_);
        }
        table_.missing = zero_;
    }

    /// Classes and few categories: one pass of plain counting. False where it does not apply.
    bool tally(const FrameCodes &codes, std::span<const E> rows) {
        if constexpr (counts_rows<Stats>) {
            const std::size_t k = zero_.c.size(), c = static_cast<std::size_t>(codes.n_categories);
            constexpr std::size_t small = 1 << 14;
            if (!solo_ || (c + 1) * k > small || rows.size() * 4 < c) return false;
            tally_.assign((c + 1) * k, 0);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                pause(i);
                std::uint32_t id = Packed<E>::id(rows[i]);
                std::size_t row = codes.code[id] < 0 ? c : static_cast<std::size_t>(codes.code[id]);
                ++tally_[row * k + target_.code[id]];
            }
            read_table(tally_.data(), static_cast<std::uint32_t>(c), k);
            return true;
        } else {
            return false;
        }
    }
    /// Fills table_ from a row of class counts for each category and one for missing.
    void read_table(const std::uint32_t *counts, std::uint32_t n_categories, std::size_t width) {
        if constexpr (counts_rows<Stats>) {
            table_.code.clear();
            reserve(0);
            for (std::uint32_t j = 0; j < n_categories; ++j) {
                if (table_.stats.size() == table_.code.size()) table_.stats.push_back(zero_);
                Stats &s = table_.stats[table_.code.size()];
                read_counts(counts + j * width, s);
                if (s.n != 0) table_.code.push_back(static_cast<std::int32_t>(j));
            }
            read_counts(counts + n_categories * width, table_.missing);
        }
    }
    void read_counts(const std::uint32_t *counts, ClassCounts &s) const {
        s.n = 0;
        for (std::size_t i = 0; i < s.c.size(); ++i) {
            s.c[i] = counts[i];
            s.n += s.c[i];
        }
    }

    /// Puts the codes found in order: by going through all categories where that is shorter than sorting.
    void order_codes(std::int32_t n_categories) {
        if (static_cast<std::size_t>(n_categories) / 16 > table_.code.size())
            return std::sort(table_.code.begin(), table_.code.end());
        table_.code.clear();
        for (std::int32_t code = 0; code < n_categories; ++code)
            if (slot_[static_cast<std::size_t>(code)] >= 0) table_.code.push_back(code);
    }

    /// Any target, any number of categories: time and room follow the rows of the node, not the categories of
    /// the column.
    void count_rows(const FrameCodes &codes, std::span<const E> rows) {
        if (slot_.size() < static_cast<std::size_t>(codes.n_categories))
            slot_.resize(static_cast<std::size_t>(codes.n_categories), -1);
        table_.code.clear();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            pause(i);
            const std::uint32_t id = Packed<E>::id(rows[i]);
            std::int32_t code = codes.code[id];
            if (code < 0 || slot_[static_cast<std::size_t>(code)] >= 0 || times(id) == 0) continue;
            slot_[static_cast<std::size_t>(code)] = 0;
            table_.code.push_back(code);
        }
        order_codes(codes.n_categories);
        reserve(table_.code.size());
        for (std::size_t i = 0; i < table_.code.size(); ++i) {
            slot_[static_cast<std::size_t>(table_.code[i])] = static_cast<std::int32_t>(i);
            table_.stats[i].clear();
        }
        for (std::size_t i = 0; i < rows.size(); ++i) {
            pause(i);
            std::uint32_t id = Packed<E>::id(rows[i]);
            std::int64_t m = times(id);
            if (m == 0) continue;
            std::int32_t code = codes.code[id];
            Stats &s = code < 0
                           ? table_.missing
                           : table_.stats[static_cast<std::size_t>(slot_[static_cast<std::size_t>(code)])];
            target_.add_for_quality(s, id, m);
        }
        for (std::int32_t code : table_.code) slot_[static_cast<std::size_t>(code)] = -1;
    }
};

/// QUEST has a chooser of its own.
template <class E>
std::unique_ptr<Chooser<E, ClassTarget>> make_quest_chooser(const Frame<E> &frame, const ClassTarget &target,
                                                            const Quest &criterion,
                                                            const GrowParameters &parameters, Cancel &cancel);

template <class E, class Target>
std::unique_ptr<Chooser<E, Target>> make_chooser(const Frame<E> &frame, const Target &target,
                                                 const SplitCriterion<Target> &criterion,
                                                 const GrowParameters &parameters, Cancel &cancel) {
    if constexpr (std::is_same_v<Target, ClassTarget>)
        if (criterion.traits.by_quest)
            return make_quest_chooser<E>(frame, target, static_cast<const SplitBy<Quest> &>(criterion).rule,
                                         parameters, cancel);
    return std::make_unique<QualityChooser<E, Target>>(frame, target, criterion, parameters, cancel);
}

} // namespace hornbeam
