// The fewest leaves that some rows need, by branch and bound over sets of rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "running/cancel.hpp"

namespace hornbeam {

/// Thrown where more sets of rows would have to be remembered than allowed.
struct RoomOver {};

/// A set of rows, a bit each.
using RowSet = std::vector<std::uint64_t>;

/// The tests of a set of rows are those of all rows that part it. What a set needs does not depend on where
/// it lies in a tree, and a part of it never needs more: lower bounds of sets are remembered and rise, and a
/// tree of k leaves is sought only where one of k - 1 is known not to exist.
class Prover {
  public:
    /// `tests`: the rows on the left of each. Rows that no test parts must be of one class.
    Prover(std::vector<RowSet> tests, std::vector<std::uint32_t> class_of, std::size_t most_sets,
           Cancel &cancel);

    /// No tree has fewer leaves.
    std::uint32_t lower() const { return lower_; }
    /// Looks for a tree of `lower()` leaves; where there is none, `lower()` rises.
    bool find();
    /// The test of a smallest tree of some rows; -1: they are of one class.
    std::int32_t test_of(const RowSet &rows);
    const RowSet &test(std::int32_t t) const { return tests_[static_cast<std::size_t>(t)]; }

  private:
    static constexpr std::uint32_t too_many = 0xFFFFFFFFu;
    struct Known {
        std::uint32_t least = 3;
        std::int32_t test = -1; // of a tree of `least` leaves, once it is found
    };

    std::vector<RowSet> tests_, classes_;
    std::vector<std::uint32_t> class_of_;
    std::size_t words_, most_;
    Pace pace_;
    std::vector<Known> known_;
    /// Of `known_`, words_ each, in chunks: what is there is never moved, so that a stop need not wait for
    /// it.
    std::vector<std::unique_ptr<std::uint64_t[]>> sets_;
    /// By hash: places in `known_`, + 1, in the lower half, the upper half of the hash in the upper one, so
    /// that few sets are compared that differ; 0: free.
    std::vector<std::uint64_t> slots_;
    static constexpr std::uint64_t low_half = 0xFFFFFFFFu;
    std::vector<std::unique_ptr<std::uint64_t[]>> levels_;
    RowSet all_;
    std::uint32_t lower_ = 1;

    const RowSet &class_of_first(const std::uint64_t *rows) const;
    bool pure(const std::uint64_t *rows) const;
    std::uint32_t classes_in(const std::uint64_t *rows) const;
    std::int32_t last_test(const std::uint64_t *rows);
    std::uint64_t *level(std::size_t depth);
    static constexpr std::size_t chunk = 1024;
    std::uint64_t *set(std::size_t i) const { return sets_[i / chunk].get() + i % chunk * words_; }
    /// Where a set is or would be, its place in `known_`, + 1 (0: it is not there), and what its hash adds.
    struct Slot {
        std::size_t at;
        std::uint32_t known;
        std::uint64_t tag;
    };
    Slot slot_of(const std::uint64_t *rows) const;
    std::uint32_t place_of(const std::uint64_t *rows);
    void widen();
    std::uint32_t bound_of(const std::uint64_t *rows) const;
    std::uint32_t solve(const std::uint64_t *rows, std::uint32_t limit, std::size_t depth);
    std::int32_t test_for(const std::uint64_t *rows, std::uint32_t leaves, std::size_t depth);
};

} // namespace hornbeam
