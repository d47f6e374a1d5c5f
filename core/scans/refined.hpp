// The AVC-set of an attribute as far as it is known: value by value where its keys were kept or a bucket is a
// single value, bucket by bucket elsewhere.
#pragma once

#include <span>
#include <vector>

#include "scans/source_scan.hpp"

namespace hornbeam {

/// What one training set has of an attribute at a node. Entries are in the order of their keys; one whose low
/// and high key agree is a value (or a category), another a bucket of several.
struct RefinedSet {
    std::int32_t attribute = 0;
    bool nominal = false;
    std::uint32_t width = 0;           // cells of a row
    std::vector<std::uint32_t> counts; // [entry, then missing][class]
    std::vector<RowKey> low, high;
    std::vector<std::uint32_t> bucket;
    const SumShape *shape = nullptr; // of the sums that rows have besides their number
    std::size_t n_classes = 0;
    SumWords entry_sums; // [entry, then missing][class]
    KeySums sums;        // by class, where the place has them

    std::uint32_t size() const { return static_cast<std::uint32_t>(low.size()); }
    const std::uint32_t *row(std::size_t i) const { return counts.data() + i * width; }
    const std::uint64_t *sums_of(std::size_t i) const {
        return entry_sums.data() + i * n_classes * shape->words();
    }
    bool exact(std::size_t i) const { return low[i] == high[i]; }
    /// Whether the entries have all of these rows, and no others.
    bool adds_up_to(const ClassCounts &rows) const;
};

/// Rows of counts are as wide as the vector kernels want them.
std::uint32_t counts_width(std::size_t n_classes);

/// Reads the sets of one attribute at a place. `keys` are those of the buckets that are known value by value;
/// they must be complete. `left_out`: the fold that the training set leaves out, -1 for none.
class Refining {
  public:
    Refining(SourceScan &scan, std::int32_t place, std::int32_t left_out)
        : scan_(scan), place_(place), left_out_(left_out) {}

    /// `counted`: which of the counted attributes; `keys` ascending, of whole buckets.
    RefinedSet counted(std::size_t counted, const KeyTable &keys) const;
    /// From keys alone: all of them were kept, those of missing values too.
    RefinedSet listed(std::int32_t attribute, const KeyTable &keys) const;
    /// The class counts of the training set, and its sums.
    ClassCounts total() const;
    SumWords total_sums() const;

  private:
    SourceScan &scan_;
    std::int32_t place_;
    std::int32_t left_out_;

    RefinedSet fresh(std::int32_t attribute) const;
    bool counts(std::uint32_t joint) const {
        return left_out_ < 0 || joint / scan_.layout().n_classes != static_cast<std::size_t>(left_out_);
    }
    /// Adds the classes of a row of joint classes; false where none of it counts.
    bool add(std::span<const std::uint32_t> joint, std::uint32_t *to) const;
    /// Those from `begin` to `end` of all keys.
    void add_values(RefinedSet &set, const KeyTable &keys, std::size_t begin, std::size_t end) const;
    /// Adds the sums of joint classes to those of an entry.
    void add_joint_sums(const std::uint64_t *joint, std::uint64_t *to) const;
    void add_sums(const KeySums &joint, KeySums &to) const;
};

} // namespace hornbeam
