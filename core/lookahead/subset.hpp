// Subset tests of a nominal attribute, from the counts of classes in each of its categories.
#pragma once

#include <cstddef>
#include <cstdint>

#include "numbers/xlog.hpp"
#include "running/cancel.hpp"

namespace hornbeam {

/// Rows by [category present][class present]; `missing` by class, all 0 where no value is missing.
struct CategoryCounts {
    const std::uint32_t *rows = nullptr;
    std::uint32_t categories = 0, classes = 0;
    const std::uint32_t *missing = nullptr;
};

inline constexpr std::uint32_t most_listed_subsets = 8; // categories up to which every subset is a test

/// The law's best subset, written as bits (1: left) of 64-bit words. Its quality is not given.
void best_subset(const CategoryCounts &counts, const XlogTable &xlog, Cancel &cancel, std::uint64_t *left);
/// The law's order of categories, whose prefixes are tests where there are many.
void subset_order(const CategoryCounts &counts, const XlogTable &xlog, Cancel &cancel, std::uint32_t *order);

} // namespace hornbeam
