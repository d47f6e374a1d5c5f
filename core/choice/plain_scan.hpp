// Numeric cuts of one training set: what a scan is given, and the plain scan of every criterion.
#pragma once

#include <array>

#include "choice/information_scratch.hpp"
#include "choice/scorer.hpp"
#include "choice/test.hpp"
#include "criteria/sizes.hpp"
#include "kernels/kernels.hpp"
#include "running/cancel.hpp"

namespace hornbeam {

/// What the fast scans ask of a node once, whatever the attribute.
struct NodeFacts {
    std::int64_t squares = 0;       // sum of squared class counts
    std::vector<ClassCode> present; // classes, ascending
    double impurity = 0.0;
    std::vector<double> centre; // mean of each target

    /// Weighted classes in doubles, in units where the node weighs 1 to 2.
    struct Mass {
        double factor, all;
    };
    std::vector<Mass> mass;      // of each class
    double whole = 0.0;          // of the node; 0 where doubles will not do
    double mass_squares = 0.0;   // sum of squares over classes
    double mass_logs = 0.0;      // sum of x log2 x over classes
    double content_slack = 0.0;  // how far an entropy in doubles may be off
    double contrast_slack = 0.0; // the same of the sum of D_k^2, by left^2
    int mass_scale = 0;          // a power of two
};

inline void read_facts(NodeFacts &facts, const ClassCounts &node) {
    facts.squares = 0;
    facts.present.clear();
    for (std::size_t k = 0; k < node.c.size(); ++k) {
        if (node.c[k] == 0) continue;
        facts.squares += node.c[k] * node.c[k];
        facts.present.push_back(static_cast<ClassCode>(k));
    }
}

/// Room that the scans of one thread use again and again. Not thread_local: where memory is short, the C
/// library ends the process when such storage is first touched.
struct ScanScratch {
    struct Side {
        std::int64_t left, all;
    };
    std::vector<Side> sides; // of each class
    InformationScratch information;
    std::vector<std::uint64_t> steps; // of each class: what its next entry adds to the running word
    std::vector<BlockPeak> peaks;
    ClassCounts left, right;
    std::vector<double> first, sum;                      // of each target
    std::vector<std::uint32_t> node_counts, left_counts; // of each class
    std::vector<ValueSums> sums;                         // after each value
    std::vector<double> masses;                          // of each class, on the left
};

/// One attribute's list at one node, for one training set. `start` is already on the left: the missing rows,
/// where they are tried there. A cut must leave `least` rows on its sides and beat `floor`.
template <class E, class Target> struct Scan {
    const E *list = nullptr;
    std::uint32_t size = 0;
    const Target &target;
    const typename Target::Stats &node;
    const typename Target::Stats &start;
    const NodeFacts &facts;
    ScanScratch &scratch;
    Cancel &cancel;
    Least least;
    double floor = -1.0;
    const typename Target::Stats *known = nullptr; // where known rows on either side must weigh least_weight
    double least_weight = 0.0;
    std::int64_t missing = 0, min_leaf = 1; // where missing rows go to the heavier side

    /// Called for every entry of a slow scan: looks for a stop now and then.
    void pause(std::uint32_t i) const {
        if (i % 32768 == 32767) cancel.poll();
    }

    std::uint32_t id(std::uint32_t i) const { return Packed<E>::id(list[i]); }
    bool cuts_after(std::uint32_t i) const {
        return Packed<E>::rank(list[i]) != Packed<E>::rank(list[i + 1]);
    }
    bool admits(std::int64_t left) const { return least.admits(left, node.n - left); }
};

/// Whether the known rows of both sides weigh enough, and where missing rows go to the heavier side, whether
/// there are enough rows then; rows that all weigh 1 are counted by `least`.
template <class E, class Target> bool weighs_enough(const Scan<E, Target> &scan,
                                                    const Scorer<typename Target::Stats> &criterion,
                                                    const typename Target::Stats &left) {
    if constexpr (requires { left.weight; }) {
        if (scan.known == nullptr) return true;
        typename Target::Stats part = left, rest = *scan.known;
        part -= scan.start;
        rest -= part;
        if (scan.least_weight > 0.0 &&
            !(criterion.weight(part) >= scan.least_weight && criterion.weight(rest) >= scan.least_weight))
            return false;
        if (criterion.of_known_rows) {
            const bool to_left = as_heavy(part, rest);
            return part.n + (to_left ? scan.missing : 0) >= scan.min_leaf &&
                   rest.n + (to_left ? 0 : scan.missing) >= scan.min_leaf;
        }
    }
    return true;
}

/// Figure 6 of paper 000, literally; `count(id)` is the multiplicity of an example in the set.
template <class E, class Target, class Count>
Cut plain_scan(const Scan<E, Target> &scan, const Scorer<typename Target::Stats> &criterion, Count count) {
    using Stats = typename Target::Stats;
    Cut best;
    best.quality = scan.floor;
    Stats left = scan.start, right = scan.target.zero();
    const std::uint32_t none = ~std::uint32_t{0};
    std::uint32_t last = none; // the last entry that counts
    std::int64_t cuts = 0;
    Pace pace(scan.cancel, 20 + 10 * width_of(scan.node));
    for (std::uint32_t i = 0; i < scan.size; ++i) {
        pace.step();
        std::int64_t times = count(scan.id(i));
        if (times == 0) continue;
        bool cut = last != none && Packed<E>::rank(scan.list[last]) != Packed<E>::rank(scan.list[i]);
        if (cut && scan.admits(left.n) && weighs_enough(scan, criterion, left)) {
            ++cuts;
            right = scan.node;
            right -= left;
            std::array<const Stats *, 2> sides{&left, &right};
            Score s = criterion.score(scan.node, sides);
            if (s.quality > best.quality) best = {s.quality, s.gain, last, i, left.n};
        }
        scan.target.add_for_quality(left, scan.id(i), times);
        last = i;
    }
    best.cuts = cuts;
    if (best.quality == scan.floor) best.quality = -1.0;
    return best;
}

/// The same for a set that is alone at the node with every row counting once.
template <class E, class Target, Criterion C>
Cut plain_scan_alone(const Scan<E, Target> &scan, const C &criterion) {
    return plain_scan(scan, ScorerOf<C>(criterion), [](std::uint32_t) { return std::int64_t{1}; });
}

} // namespace hornbeam
