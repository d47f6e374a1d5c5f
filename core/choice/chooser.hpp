// The best test of a node for one training set: what a grower asks, whichever criterion answers.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "choice/frame.hpp"
#include "choice/open_categories.hpp"
#include "choice/split_criterion.hpp"

namespace hornbeam {

/// One training set at a node, while it is still growing there.
template <class Stats> struct Lane {
    std::int32_t set = 0;
    std::uint64_t record = 0; // of the set, in the forest
    Stats total;
    std::vector<OpenNote> open = {};
    SettingRange settings = {};
};

/// True where the attribute takes a single known value among these rows: it never splits below either.
template <class E> bool constant(const Segment<E> &segment) {
    return segment.listed() && (segment.size < 2 || Packed<E>::rank(segment.begin[0]) ==
                                                        Packed<E>::rank(segment.begin[segment.size - 1]));
}

/// Looks at one attribute after the other for one lane.
template <class E, class Target> class Chooser {
  public:
    using Stats = typename Target::Stats;

    virtual ~Chooser() = default;

    /// Turns to another lane; `consider` then looks at its node's attributes in order. `solo`: every entry of
    /// the node's lists counts once for it.
    virtual void open(const Lane<Stats> &lane, bool solo, const StopRules &rules) = 0;
    /// Replaces `best` where the attribute has a better test; `counts` are the lane's own of its slot, if it
    /// has one. False: no attribute can be better than what is found.
    virtual bool consider(const Segment<E> &segment, std::span<const E> rows, const AvcSlot *slot,
                          const std::uint32_t *counts, Choice &best) = 0;
    /// The same for an attribute that has been looked at by itself.
    virtual bool consider_tried(const Choice &found, Choice &best) const = 0;
    /// The same for a list or counted attribute whose best cut is known.
    virtual bool consider_found(const Segment<E> &segment, const FoundCut &cut, Choice &best) = 0;

    /// Where counts of a slot may be put together.
    std::vector<std::uint32_t> &room_for_counts() { return own_counts_; }

  private:
    std::vector<std::uint32_t> own_counts_;
};

/// The chooser of a criterion. Compiled in a file for each kind of target.
template <class E, class Target>
std::unique_ptr<Chooser<E, Target>> make_chooser(const Frame<E> &frame, const Target &target,
                                                 const SplitCriterion<Target> &criterion,
                                                 const GrowParameters &parameters, Cancel &cancel);

} // namespace hornbeam
