// The test of each training set at a node: one attribute after the other, or each by itself and then
// compared.
#pragma once

#include "hornbeam/choice.hpp"
#include "hornbeam/parallel.hpp"
#include "hornbeam/pending.hpp"
#include "hornbeam/policy.hpp"

namespace hornbeam {

template <class E, Criterion C> class Choosing {
  public:
    using Target = typename C::Target;
    using Stats = typename Target::Stats;
    using Node = Pending<E, Stats>;

    Choosing(const Frame<E> &frame, const Target &target, const C &criterion, const GrowTask &task,
             const std::vector<StopRules> &rules)
        : frame_(frame), target_(target), criterion_(criterion), task_(task), rules_(rules),
          chooser_(frame, target, criterion, task.parameters, task.cancel) {}

    /// Fills `choice` with the best test of each lane. Several workers share the attributes.
    void choose(const Node &node, Workers *workers, std::vector<Choice> &choice) {
        choice.resize(node.lanes.size());
        for (Choice &c : choice) c.clear();
        solo_ =
            node.lanes.size() == 1 && node.lanes[0].total.n == static_cast<std::int64_t>(node.rows.size());
        const bool shared = workers != nullptr && workers->several();
        if (!shared && !compares_attributes<C> && task_.parameters.competitors == 0)
            take_as_they_come(node, choice);
        else
            compare(node, shared ? workers : nullptr, choice);
    }

  private:
    const Frame<E> &frame_;
    const Target &target_;
    const C &criterion_;
    const GrowTask &task_;
    const std::vector<StopRules> &rules_;
    bool solo_ = false;
    Chooser<E, C> chooser_;
    std::vector<Chooser<E, C>> choosers_; // one a worker
    std::vector<Choice> found_;           // [attribute][lane]
    std::vector<Entered> entered_;

    const StopRules &rules(const Node &node, std::size_t lane) const {
        return rules_[static_cast<std::size_t>(node.lanes[lane].set)];
    }
    /// Between two attributes of a node, where that may be long.
    void poll_if_large(const Node &node) {
        if (node.rows.size() > 2048) task_.cancel.poll();
    }

    void take_as_they_come(const Node &node, std::vector<Choice> &choice) {
        for (std::size_t i = 0; i < node.lanes.size(); ++i) {
            chooser_.open(node.lanes[i], solo_, rules(node, i));
            for (const Segment<E> &segment : node.active) {
                poll_if_large(node);
                if (!chooser_.consider(segment, node.rows, node.avc, choice[i])) break;
            }
        }
    }

    /// Each attribute by itself, then the attributes in order: the same as one after the other.
    void compare(const Node &node, Workers *workers, std::vector<Choice> &choice) {
        const std::size_t lanes = node.lanes.size(), attributes = node.active.size();
        if (found_.size() < attributes * lanes) found_.resize(attributes * lanes);
        auto look = [&](std::size_t a, std::size_t i, Chooser<E, C> &chooser) {
            Choice &found = found_[a * lanes + i];
            found.clear();
            chooser.consider(node.active[a], node.rows, node.avc, found);
        };
        if (workers != nullptr) {
            while (choosers_.size() < workers->places())
                choosers_.emplace_back(frame_, target_, criterion_, task_.parameters, task_.cancel);
            workers->share(attributes, [&](std::size_t a, unsigned w) {
                for (std::size_t i = 0; i < lanes; ++i) {
                    choosers_[w].open(node.lanes[i], solo_, rules(node, i));
                    look(a, i, choosers_[w]);
                }
            });
        } else {
            for (std::size_t i = 0; i < lanes; ++i) {
                chooser_.open(node.lanes[i], solo_, rules(node, i));
                for (std::size_t a = 0; a < attributes; ++a) {
                    poll_if_large(node);
                    look(a, i, chooser_);
                }
            }
        }
        for (std::size_t i = 0; i < lanes; ++i) {
            entered_.clear();
            for (std::size_t a = 0; a < attributes; ++a)
                if (Choice &found = found_[a * lanes + i]; found.found()) entered_.push_back({&found});
            decide(entered_, criterion_, rules(node, i), task_.parameters.competitors, choice[i]);
        }
    }
};

} // namespace hornbeam
