// Query packs: one enumeration of a stick serves all tests behind it, and tests share the literals they begin
// with.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "first_order/refine.hpp"

namespace hornbeam {

/// An answer for one of the examples at hand, by its position among them, and one constant of a group (-1:
/// the group has none).
struct Found {
    std::uint32_t position = 0;
    std::int32_t constant = -1;
};

/// Where tests of a group hold, over the positions of some examples: one bit each; or the constants they hold
/// for; or the least (`<=`) or greatest (`>`) value, null_code where there is none.
struct Coverage {
    std::vector<std::uint64_t> yes;
    std::vector<Found> found;
    std::vector<Code> extreme;
    std::vector<Found> over; // more steps than the budget: no answer

    bool holds(std::size_t position) const { return (yes[position / 64] >> (position % 64) & 1) != 0; }
    void set(std::size_t position) { yes[position / 64] |= std::uint64_t{1} << (position % 64); }
};

/// The literals of a query that some tests are tied to by their variables. Shared by all tests that have the
/// same variables of the query.
struct ConnectedPart {
    Query literals;
    std::vector<std::int64_t> key;  // the literals, variables renamed
    std::vector<std::int64_t> name; // of each variable there; -1: it has none
    std::int64_t n_names = 1;       // the key has the first
};

/// A group made ready for evaluation: its literals (an open threshold last), the part of the query it is tied
/// to, and the constants of its hole by code (-1: not one of them).
struct ReadyGroup {
    const TestGroup *group = nullptr;
    Query reordered; // empty: the literals are the test's own
    const ConnectedPart *part = nullptr;
    const std::vector<std::int32_t> *constant_of = nullptr;
    std::size_t n_constants = 0;

    const Query &literals() const { return reordered.empty() ? group->test : reordered; }
};

/// A stick and the tests behind it, as a trie of their literals. Node 0 is the end of the stick.
class Pack {
  public:
    struct Node {
        Step step;
        const Literal *literal = nullptr;      // of a group
        std::int32_t parent = -1, branch = -1; // branch: the node below the stick that it belongs to
        bool hole = false;
        std::int32_t open = 0; // terminals at or below it
        std::vector<std::int32_t> children, terminals;
        Bound bound;
    };
    struct Terminal {
        std::int32_t group = 0; // among those of the pack
        std::int32_t node = 0;
    };

    Pack(const RelationalDatabase &database, std::span<const Literal> stick,
         std::span<const ReadyGroup *const> groups);

    const RelationalDatabase &database;
    std::vector<const ReadyGroup *> groups;
    std::vector<Step> stick;
    std::vector<Node> nodes;
    std::vector<Terminal> terminals; // by group
    std::size_t n_variables = 1;

  private:
    std::int32_t child_of(std::int32_t parent, const Literal &literal);
};

/// The state of one pack while it runs over examples, one after the other.
class PackRun {
  public:
    PackRun(const Pack &pack, std::uint64_t budget, Cancel &cancel);

    /// Answers all groups for an example, or those that `wanted` names. Afterwards each group has `answer`,
    /// or it is `unsure`: perhaps its steps alone are more than the budget, and it must be asked alone.
    void run(std::size_t example, const std::vector<bool> *wanted);
    bool unsure(std::size_t group) const;
    bool succeeded(std::size_t group) const { return done_[group]; }
    std::span<const std::int32_t> constants(std::size_t group) const { return found_[group]; }
    Code extreme(std::size_t group) const { return extreme_[group]; }
    std::uint64_t steps() const { return all_steps_; }

  private:
    const Pack &pack_;
    std::uint64_t budget_, stick_ = 0, all_steps_ = 0, before_ = 0;
    Bindings b_;
    std::vector<std::int32_t> open_;     // by node: terminals that are not done
    std::vector<std::int32_t> all_open_; // the same before an example is looked at
    std::vector<std::uint64_t> spent_;   // by node below the stick: steps
    std::vector<bool> killed_, done_, wanted_;
    bool overflow_ = false, partly_ = false;
    std::int32_t branch_ = -1; // that is being run
    std::vector<std::vector<std::int32_t>> found_;
    std::vector<std::vector<std::uint32_t>> stamp_; // by group and constant: the run that found it
    std::uint32_t runs_ = 0;
    std::vector<Code> extreme_;

    void reset(std::size_t example, const std::vector<bool> *wanted);
    bool at_stick(std::size_t i);
    void run_branch(std::int32_t node);
    void run_node(std::int32_t node);
    void visit(std::int32_t node);
    void reach(std::int32_t group);
    void finish(std::int32_t group);
    void kill();
    bool too_many() const {
        const std::uint64_t here =
            branch_ < 0 ? 0 : spent_[static_cast<std::size_t>(branch_)] + (b_.steps - before_);
        return stick_ + here > budget_;
    }
};

} // namespace hornbeam
