// The best cut by information of one training set, where every entry of the list counts once.
#pragma once

#include "choice/information_score.hpp"
#include "choice/plain_scan.hpp"

namespace hornbeam {

struct CountedScan;

/// The cuts [first, end) of a list that leave enough rows on their sides.
struct CutRange {
    std::uint32_t first, end;
};
template <class E> CutRange admissible_cuts(const Scan<E, ClassTarget> &scan) {
    const std::int64_t first = std::max<std::int64_t>(scan.least.left - scan.start.n - 1, 0),
                       end = std::min<std::int64_t>(scan.node.n - scan.least.right - scan.start.n,
                                                    std::int64_t{scan.size} - 1);
    if (first >= end) return {0, 0};
    return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end)};
}

/// How cuts are compared, and what their gains are divided by: the rows of the node, or more where others
/// have no value. `counted`: how many admissible cuts there are is asked for as well.
struct InformationSearch {
    const Entropy &entropy;
    InformationRule rule = InformationRule::gain;
    double whole = 0.0;
    bool counted = false;
};

/// Whole numbers tell which cuts may be the best, and the literal score decides among those: the cut is that
/// of plain_scan.
template <class E> Cut information_scan(const Scan<E, ClassTarget> &scan, const InformationSearch &search,
                                        const Kernels &kernels);
/// The same where the values of the attribute are counted.
Cut information_scan(const CountedScan &scan, const InformationSearch &search, const Kernels &kernels);

} // namespace hornbeam
