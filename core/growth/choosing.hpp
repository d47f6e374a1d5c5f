// The test of each training set at a node: one attribute after the other, or each by itself and then
// compared.
#pragma once

#include "choice/chooser.hpp"
#include "growth/make_joint_sweep.hpp"
#include "growth/pending.hpp"
#include "running/parallel.hpp"

namespace hornbeam {

template <class E, class Target> class Choosing {
  public:
    using Stats = typename Target::Stats;
    using Node = Pending<E, Stats>;

    Choosing(const Frame<E> &frame, const Target &target, const SplitCriterion<Target> &criterion,
             const GrowTask &task, const RuleTable &rules)
        : frame_(frame), target_(target), criterion_(criterion), task_(task), rules_(rules),
          chooser_(one_more()), joint_(make_joint_sweep(frame, target, criterion, task, rules)) {}

    bool compares_attributes() const { return criterion_.traits.compares_attributes; }

    /// Fills `choice` with the best test of each lane. Several workers share the attributes.
    void choose(const Node &node, Counting<E, Target> &counting, Workers *workers,
                std::vector<Choice> &choice) {
        choice.resize(node.lanes.size());
        for (Choice &c : choice) c.clear();
        solo_ = solo(node);
        const bool shared = workers != nullptr && workers->several();
        const bool apart = shared || compares_attributes() || task_.parameters.competitors != 0;
        together_ =
            !shared && node.lanes.size() > 1 && joint_ != nullptr && joint_->sweep(node, counting, apart);
        if (!apart) return take_as_they_come(node, counting, choice);
        for (std::size_t i = 0; i < node.lanes.size(); ++i)
            compare(node, counting, i, rules(node, i), shared ? workers : nullptr, together_, choice[i]);
    }
    /// Adds what was read of the node that was chosen for last: lists and counts that several lanes were
    /// looked at in, and what the other lanes have of each.
    void add_cost(const Node &node, LevelCost &cost) const {
        for (std::size_t a = 0; a < node.active.size(); ++a) {
            const Segment<E> &segment = node.active[a];
            const std::int64_t passes = together_ ? joint_->passes(a) : 0;
            cost.joint += passes;
            cost.entries +=
                passes * static_cast<std::int64_t>(segment.listed() ? segment.size : node.rows.size());
            for (std::size_t i = 0; i < node.lanes.size(); ++i)
                if (!together_ || !joint_->knows(a, i)) cost.entries += node.lanes[i].total.n;
        }
    }
    /// The best test of one lane under another of its settings; the node is the one chosen for last.
    void choose_under(const Node &node, Counting<E, Target> &counting, std::size_t lane,
                      std::uint32_t setting, Choice &choice) {
        choice.clear();
        compare(node, counting, lane, rules_.of(node.lanes[lane].set, setting), nullptr, false, choice);
    }

    /// Whether lists and counted values are scanned once for all lanes of a node.
    bool scans_together() const { return joint_ != nullptr && sizeof(E) == 4 && !frame_.sets.repeats(); }

  private:
    const Frame<E> &frame_;
    const Target &target_;
    const SplitCriterion<Target> &criterion_;
    const GrowTask &task_;
    const RuleTable &rules_;
    bool solo_ = false;
    bool together_ = false; // several lanes of the node were looked at at once
    using AnyChooser = std::unique_ptr<Chooser<E, Target>>;
    AnyChooser chooser_;
    std::vector<AnyChooser> choosers_; // one a worker
    std::vector<Choice> found_;        // by attribute, of one lane
    std::vector<Entered> entered_;
    std::unique_ptr<JointSweep<E, Target>> joint_; // none: each lane is looked at by itself
    Choice trial_;                                 // of one attribute, before its turn

    AnyChooser one_more() const {
        return make_chooser<E, Target>(frame_, target_, criterion_, task_.parameters, task_.cancel);
    }

    /// The most lenient of a lane's settings chooses.
    const StopRules &rules(const Node &node, std::size_t lane) const {
        return rules_.of(node.lanes[lane].set, node.lanes[lane].settings.first);
    }

    void take_as_they_come(const Node &node, Counting<E, Target> &counting, std::vector<Choice> &choice) {
        const std::size_t lanes = node.lanes.size();
        for (std::size_t i = 0; i < lanes; ++i) {
            chooser_->open(node.lanes[i], solo_, rules(node, i));
            const std::size_t tried = together_ ? try_first(node, counting, i) : node.active.size();
            const double sure = together_ ? std::max(joint_->floor(i), trial_.quality) : -1.0;
            for (std::size_t a = 0; a < node.active.size(); ++a) {
                const Segment<E> &segment = node.active[a];
                bool more = true;
                if (together_ && joint_->knows(a, i))
                    more = chooser_->consider_found(segment, joint_->cut(a, i), choice[i]);
                else if (a == tried)
                    more = chooser_->consider_tried(trial_, choice[i]);
                else if (!together_ || !(joint_->most(a, i) < sure))
                    more = consider(node, counting, i, a, *chooser_, choice[i]);
                if (!more) break;
            }
        }
    }
    /// The attribute for one lane alone.
    bool consider(const Node &node, const Counting<E, Target> &counting, std::size_t lane, std::size_t a,
                  Chooser<E, Target> &chooser, Choice &best) const {
        poll_if_large(node, task_.cancel);
        const AvcSlot *slot = slot_of(frame_, node, node.active[a]);
        const std::uint32_t *counts =
            slot == nullptr ? nullptr : counting.own(node, lane, *slot, chooser.room_for_counts());
        return chooser.consider(node.active[a], node.rows, slot, counts, best);
    }

    /// Looks at the nominal attribute that promises most, if that is more than the lane's best cut: `trial_`
    /// is its test then. Returns which it is.
    std::size_t try_first(const Node &node, const Counting<E, Target> &counting, std::size_t lane) {
        std::size_t best = node.active.size();
        double most = joint_->floor(lane);
        for (std::size_t a = 0; a < node.active.size(); ++a) {
            const double bound = joint_->most(a, lane);
            if (bound > most && bound < std::numeric_limits<double>::infinity()) most = bound, best = a;
        }
        trial_.clear();
        if (best != node.active.size()) consider(node, counting, lane, best, *chooser_, trial_);
        return best;
    }

    /// Each attribute by itself, then the attributes in order: the same as one after the other.
    void compare(const Node &node, Counting<E, Target> &counting, std::size_t lane, const StopRules &rules,
                 Workers *workers, bool together, Choice &choice) {
        const std::size_t attributes = node.active.size();
        if (found_.size() < attributes) found_.resize(attributes);
        auto look = [&](std::size_t a, Chooser<E, Target> &chooser) {
            found_[a].clear();
            if (together && joint_->knows(a, lane))
                chooser.consider_found(node.active[a], joint_->cut(a, lane), found_[a]);
            else
                consider(node, counting, lane, a, chooser, found_[a]);
        };
        if (workers == nullptr) {
            chooser_->open(node.lanes[lane], solo_, rules);
            for (std::size_t a = 0; a < attributes; ++a) look(a, *chooser_);
        } else {
            while (choosers_.size() < workers->places()) choosers_.push_back(one_more());
            for (AnyChooser &chooser : choosers_) chooser->open(node.lanes[lane], solo_, rules);
            workers->share(attributes, [&](std::size_t a, unsigned w) { look(a, *choosers_[w]); });
        }
        entered_.clear();
        for (std::size_t a = 0; a < attributes; ++a)
            if (found_[a].found()) entered_.push_back({&found_[a]});
        criterion_.select(entered_, rules, task_.parameters.competitors, choice);
    }
};

} // namespace hornbeam
