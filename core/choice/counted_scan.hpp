// Numeric cuts of one training set, value by value, from the counts of an AVC-group.
#pragma once

#include <numeric>

#include "choice/avc.hpp"
#include "choice/scan.hpp"

namespace hornbeam {

/// One attribute's rows of counts at one node. `start` is already on the left: the missing rows, where they
/// are tried there. A cut must leave `least` rows on its sides and beat `floor`.
struct CountedScan {
    const std::uint32_t *counts = nullptr;
    std::uint32_t n_values = 0, width = 0;
    const ClassCounts &node;
    const ClassCounts &start;
    std::int64_t known = 0; // rows that have a value
    const NodeFacts &facts;
    ScanScratch &scratch;
    Least least;
    double floor = -1.0;

    std::size_t n_classes() const { return node.c.size(); }
    const std::uint32_t *row(std::uint32_t v) const { return counts + v * width; }
    std::int64_t rows_of(std::uint32_t v) const {
        return std::accumulate(row(v), row(v) + n_classes(), std::int64_t{0});
    }
    bool admits(std::int64_t left) const { return least.admits(left, node.n - left); }
    /// Whether rows with a greater value are left over, once `left` rows are on the left.
    bool cuts(std::int64_t left) const { return left - start.n < known; }

    /// Completes the best cut, whose `at` is a value.
    Cut result(Cut best) const {
        if (best.quality == floor) return Cut{};
        best.next = best.at + 1;
        while (rows_of(best.next) == 0) ++best.next;
        return best;
    }
};

/// Any criterion: the literal score after each value.
template <Criterion C> Cut literal_scan(const CountedScan &scan, const C &criterion) {
    Cut best;
    best.quality = scan.floor;
    ClassCounts &left = scan.scratch.left, &right = scan.scratch.right;
    left = scan.start;
    right = scan.node;
    right -= left;
    const std::array<const ClassCounts *, 2> sides{&left, &right};
    std::int64_t cuts = 0;
    for (std::uint32_t v = 0; v < scan.n_values; ++v) {
        const std::int64_t rows = scan.rows_of(v);
        if (rows == 0) continue;
        for (std::size_t k = 0; k < scan.n_classes(); ++k)
            left.c[k] += scan.row(v)[k], right.c[k] -= scan.row(v)[k];
        left.n += rows, right.n -= rows;
        if (!scan.cuts(left.n)) break;
        if (!scan.admits(left.n)) continue;
        ++cuts;
        Score s = criterion.score(scan.node, sides);
        if (s.quality > best.quality) best = {s.quality, s.gain, v, v, left.n};
    }
    best.cuts = cuts;
    return scan.result(best);
}

template <Criterion C> Cut counted_scan(const CountedScan &scan, const C &criterion, const Kernels &) {
    return literal_scan(scan, criterion);
}
/// By information: whole numbers come first, where there are tables of them.
template <Criterion C>
    requires requires(const C &c, const ClassCounts &node) { search_of(c, node); }
Cut counted_scan(const CountedScan &scan, const C &criterion, const Kernels &kernels) {
    const InformationSearch search = search_of(criterion, scan.node);
    return search.entropy.fixed == nullptr ? literal_scan(scan, criterion)
                                           : information_scan(scan, search, kernels);
}

/// Gini, two classes: as the lists are scanned.
inline Cut counted_scan_two(const CountedScan &scan) {
    TwoClassSweep sweep(scan.node.n, scan.node.c[1], scan.facts.squares, scan.floor);
    std::int64_t left = scan.start.n, ones = scan.start.c[1];
    for (std::uint32_t v = 0; v < scan.n_values; ++v) {
        const std::uint32_t *row = scan.row(v);
        if ((row[0] | row[1]) == 0) continue;
        left += row[0] + row[1];
        ones += row[1];
        if (!scan.cuts(left)) break;
        if (scan.admits(left)) sweep.look(v, left, ones);
    }
    return scan.result(sweep.best);
}

inline Cut counted_scan(const CountedScan &scan, const Gini &, const Kernels &kernels) {
    if (scan.n_classes() == 2) return counted_scan_two(scan);
    std::vector<ValueSums> &sums = scan.scratch.sums;
    std::vector<std::uint32_t> &node = scan.scratch.node_counts, &left_counts = scan.scratch.left_counts;
    if (sums.size() < scan.n_values) sums.resize(scan.n_values);
    node.assign(scan.width, 0);
    std::copy(scan.node.c.begin(), scan.node.c.end(), node.begin());
    left_counts.assign(scan.width, 0);
    std::copy(scan.start.c.begin(), scan.start.c.end(), left_counts.begin());
    kernels.value_sums(scan.counts, scan.n_values, scan.width, node.data(), left_counts.data(),
                       scan.node.n < 1 << 16, sums.data());
    ClassSweep sweep(scan.node.n, scan.facts.squares, scan.floor);
    std::int64_t left = scan.start.n;
    for (std::uint32_t v = 0; v < scan.n_values; ++v) {
        if (sums[v].rows == 0) continue;
        left += sums[v].rows;
        if (!scan.cuts(left)) break;
        if (scan.admits(left)) sweep.look(v, sums[v].squares, sums[v].products, left);
    }
    return scan.result(sweep.best);
}

} // namespace hornbeam
