// Numeric cuts of one training set by fast scans that return the same cut as the plain one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <type_traits>

#include "choice/information_scan.hpp"
#include "choice/plain_scan.hpp"
#include "criteria/c45.hpp"
#include "criteria/correlation.hpp"
#include "criteria/entropy.hpp"
#include "criteria/gain_ratio.hpp"
#include "criteria/gini.hpp"
#include "criteria/variance.hpp"
#include "criteria/weighted_classes.hpp"
#include "criteria/weighted_variance.hpp"

namespace hornbeam {

/// Gini for any number of classes. Kept by O(1) updates: s = sum of l_k^2 and x = sum of l_k c_k over the
/// classes, from which sum of D_k^2 = n^2 s - 2 n l x + l^2 S. The literal gain only where the real one may
/// reach the best.
struct ClassSweep {
    std::int64_t n, squares;
    double reach; // times l (n - l)
    double slack; // of the contrast, where it is computed in doubles
    Cut best;

    ClassSweep(std::int64_t n, std::int64_t squares, double floor) : n(n), squares(squares) {
        best.quality = floor;
        double nn = as_double(n) * as_double(n);
        slack = 0x1p-50 * nn * nn;
        aim();
    }
    void aim() { reach = gain_to_reach(best.quality) * as_double(n) * as_double(n) * (1.0 - 1e-9); }
    /// What a cut's score in rows (sum of l_k^2 / l + sum of r_k^2 / r) has to reach, told in single
    /// precision.
    float bar() const {
        if (best.quality < 0.0) return -1.0f;
        const double rows = gain_to_reach(best.quality) * as_double(n) + as_double(squares) / as_double(n);
        return static_cast<float>(rows * (1.0 - single_doubt));
    }
    bool promising(double s, double x, double left) const {
        double whole = as_double(n);
        double contrast = (whole * whole * s - 2.0 * whole * left * x) + left * left * as_double(squares);
        return contrast + slack >= reach * (left * (whole - left));
    }
    void look(std::uint32_t at, std::int64_t s, std::int64_t x, std::int64_t left) {
        if (!promising(as_double(s), as_double(x), as_double(left))) return;
        double sum = as_double(s) / as_double(left) + as_double(squares - 2 * x + s) / as_double(n - left);
        double g = Gini::gain(sum, squares, n);
        if (!(g > best.quality)) return;
        best = {g, g, at, at + 1, left};
        aim();
    }
    Cut result(double floor) {
        if (best.quality == floor) best.quality = -1.0;
        return best;
    }
};

/// Wide lists: s and x have words of their own.
inline Cut gini_scan_classes(const Scan<std::uint64_t, ClassTarget> &scan, const Kernels &) {
    using Side = ScanScratch::Side;
    if (scan.scratch.sides.size() < scan.node.c.size()) scan.scratch.sides.resize(scan.node.c.size());
    Side *const sides = scan.scratch.sides.data();
    std::int64_t s = 0, x = 0, left = scan.start.n;
    for (ClassCode k : scan.facts.present) {
        sides[k] = {scan.start.c[k], scan.node.c[k]};
        s += sides[k].left * sides[k].left;
        x += sides[k].left * sides[k].all;
    }
    ClassSweep sweep(scan.node.n, scan.facts.squares, scan.floor);
    for (std::uint32_t i = 0; i + 1 < scan.size; ++i) {
        scan.pause(i);
        Side &side = sides[scan.target.code[scan.id(i)]];
        s += 2 * side.left + 1;
        x += side.all;
        ++side.left;
        ++left;
        if (scan.cuts_after(i) && scan.admits(left)) sweep.look(i, s, x, left);
    }
    return sweep.result(scan.floor);
}

/// Narrow lists: n has 15 bits, so s and x share a word, and an entry costs one addition to it. Lists of many
/// values are held against the best block by block.
inline Cut gini_scan_classes(const Scan<std::uint32_t, ClassTarget> &scan, const Kernels &kernels) {
    if (scan.scratch.steps.size() < scan.node.c.size()) scan.scratch.steps.resize(scan.node.c.size());
    std::uint64_t *const steps = scan.scratch.steps.data();
    std::uint64_t running = 0;
    for (ClassCode k : scan.facts.present) {
        auto left = static_cast<std::uint64_t>(scan.start.c[k]),
             all = static_cast<std::uint64_t>(scan.node.c[k]);
        steps[k] = (2 * left + 1) | (all << 32);
        running += (left * left) | ((left * all) << 32);
    }
    auto add = [&](std::uint32_t i) {
        std::uint64_t &step = steps[scan.target.code[scan.id(i)]];
        running += step;
        step += 2;
        return running;
    };
    // An entry waits for the step of its class, which the entry before may have written: two wait as long.
    auto add_two = [&](std::uint32_t i, std::uint64_t *to) {
        std::uint64_t &a = steps[scan.target.code[scan.id(i)]], &b = steps[scan.target.code[scan.id(i + 1)]];
        const std::uint64_t step = a, next_step = b + 2 * (&a == &b);
        to[0] = running + step;
        to[1] = running += step + next_step;
        a = step + 2;
        b = next_step + 2;
    };
    ClassSweep sweep(scan.node.n, scan.facts.squares, scan.floor);
    auto look = [&](std::uint32_t i, std::uint64_t word) {
        sweep.look(i, static_cast<std::uint32_t>(word), static_cast<std::int64_t>(word >> 32),
                   scan.start.n + i + 1);
    };
    const auto [first, end] = admissible_cuts(scan);
    if (first >= end) return Cut{};
    const std::uint32_t cuts = scan.size - 1;
    std::uint32_t values =
        Packed<std::uint32_t>::rank(scan.list[cuts]) - Packed<std::uint32_t>::rank(scan.list[0]);
    for (std::uint32_t i = 0; i < first; ++i) add(i);
    if (values < cuts / 8) {
        for (std::uint32_t i = first; i < end; ++i) {
            std::uint64_t word = add(i);
            if (scan.cuts_after(i)) look(i, word);
        }
        return sweep.result(scan.floor);
    }
    std::uint64_t words[scan_block];
    std::uint16_t hit[scan_block / lane_width];
    for (std::uint32_t begin = first; begin < end; begin += scan_block) {
        std::uint32_t size = std::min(scan_block, end - begin);
        std::uint32_t i = 0;
        for (; i + 2 <= size; i += 2) add_two(begin + i, words + i);
        if (i < size) words[i] = add(begin + i), ++i;
        for (; i % lane_width != 0; ++i) words[i] = 0; // whole vectors are read
        const ClassCuts against{static_cast<std::int32_t>(scan.node.n),
                                static_cast<std::int32_t>(scan.facts.squares),
                                static_cast<std::int32_t>(scan.start.n + begin + 1), sweep.bar()};
        if (!kernels.class_hits(words, size, against, hit)) continue;
        for (std::uint32_t v = 0; v < size; v += lane_width)
            for (unsigned hits = hit[v / lane_width]; hits != 0; hits &= hits - 1) {
                i = v + static_cast<std::uint32_t>(std::countr_zero(hits));
                if (scan.cuts_after(begin + i)) look(begin + i, words[i]);
            }
    }
    return sweep.result(scan.floor);
}

/// Gini of two classes: the real gain of a cut is 2 D^2 / (n^2 n_L n_R), D = n ones_L - n_L ones. The literal
/// gain only where that may reach the best.
struct TwoClassSweep {
    std::int64_t n, ones, squares;
    double reach; // of D^2 / (n_L n_R)
    Cut best;

    TwoClassSweep(std::int64_t n, std::int64_t ones, std::int64_t squares, double floor)
        : n(n), ones(ones), squares(squares) {
        best.quality = floor;
        aim();
    }
    double half_nn() const { return as_double(n) * as_double(n) * 0.5; }
    void aim() { reach = gain_to_reach(best.quality) * half_nn() * (1.0 - 1e-9); }
    // Most cuts go no further: in shared objects the compiler would call it for each.
    [[gnu::always_inline]] void look(std::uint32_t at, std::int64_t left, std::int64_t left_ones) {
        double d = static_cast<double>(n * left_ones - left * ones);
        if (d * d < reach * as_double(left * (n - left))) return;
        weigh(at, left, left_ones);
    }

  private:
    [[gnu::noinline]] void weigh(std::uint32_t at, std::int64_t left, std::int64_t left_ones) {
        double g = gain(left, left_ones);
        if (!(g > best.quality)) return;
        best = {g, g, at, at + 1, left};
        aim();
    }
    double gain(std::int64_t left, std::int64_t left_ones) const {
        auto square_sum = [](std::int64_t a, std::int64_t b) { return a * a + b * b; };
        std::int64_t right = n - left, right_ones = ones - left_ones;
        double sum = as_double(square_sum(left - left_ones, left_ones)) / as_double(left) +
                     as_double(square_sum(right - right_ones, right_ones)) / as_double(right);
        return Gini::gain(sum, squares, n);
    }
};

/// Looks at the cuts [begin, end) of a two-class list that may be the best, in order; all leave enough rows.
/// `ones`: in the list before them.
template <class E> void look_at_hits(const Scan<E, ClassTarget> &scan, const TwoClass &counts,
                                     std::uint32_t begin, std::uint32_t end, std::uint32_t ones,
                                     const Kernels &kernels, TwoClassSweep &sweep) {
    Stretch stretch;
    stretch.next = begin, stretch.next_ones = ones;
    const auto margin =
        static_cast<float>((negligible_gain + gain_slack) * sweep.half_nn() * (1.0 + single_doubt));
    auto next = [&] {
        const ScoreBar bar{static_cast<float>(sweep.reach * (1.0 - single_doubt)), margin};
        if constexpr (sizeof(E) == 4)
            return kernels.hits_narrow(scan.list, end, counts, bar, stretch);
        else
            return kernels.hits_wide(scan.list, end, counts, bar, stretch);
    };
    while (next()) {
        for (std::uint64_t hits = stretch.is_hit; hits != 0; hits &= hits - 1) {
            const int i = std::countr_zero(hits);
            const std::uint32_t at = stretch.begin + static_cast<std::uint32_t>(i);
            const int seen = std::popcount(stretch.is_one & (~std::uint64_t{0} >> (63 - i)));
            sweep.look(at, counts.start_n + at + 1, counts.start_ones + stretch.ones + seen);
        }
    }
}

/// The same, one by one: where n * ones is no whole double.
template <class E>
void look_at_all(const Scan<E, ClassTarget> &scan, const TwoClass &counts, TwoClassSweep &sweep) {
    std::int64_t left = counts.start_n, ones = counts.start_ones;
    for (std::uint32_t i = 0; i + 1 < scan.size; ++i) {
        scan.pause(i);
        ones += Packed<E>::bit(scan.list[i]);
        if (scan.admits(++left) && scan.cuts_after(i)) sweep.look(i, left, ones);
    }
}

/// Two classes. Single precision says where to look: first at which blocks, where there are many of them.
template <class E> Cut gini_scan_two(const Scan<E, ClassTarget> &scan, const Kernels &kernels) {
    constexpr std::uint32_t many = 8 * scan_block;
    constexpr std::int64_t exact_products = std::int64_t{1} << 26;
    const std::int64_t n = scan.node.n;
    TwoClassSweep sweep(n, scan.node.c[1], scan.facts.squares, scan.floor);
    const TwoClass counts{
        n, scan.node.c[1], scan.start.n, scan.start.c[1], scan.least.left, scan.least.right};
    const auto [begin, end] = admissible_cuts(scan);
    if (begin >= end) return Cut{};
    if (n >= exact_products) {
        look_at_all(scan, counts, sweep);
        return sweep.best.quality == scan.floor ? Cut{} : sweep.best;
    }
    if (scan.size < many) {
        std::uint32_t ones = 0;
        for (std::uint32_t i = 0; i < begin; ++i) ones += Packed<E>::bit(scan.list[i]);
        look_at_hits(scan, counts, begin, end, ones, kernels, sweep);
        return sweep.best.quality == scan.floor ? Cut{} : sweep.best;
    }
    std::vector<BlockPeak> &peaks = scan.scratch.peaks;
    peaks.resize(scan.size / scan_block + 1);
    if constexpr (sizeof(E) == 4)
        kernels.peaks_narrow(scan.list, scan.size, counts, peaks.data());
    else
        kernels.peaks_wide(scan.list, scan.size, counts, peaks.data());
    const std::uint32_t blocks = (scan.size - 1 + scan_block - 1) / scan_block;
    float top = 0.0f;
    for (std::uint32_t b = 0; b < blocks; ++b) top = std::max(top, peaks[b].score);
    constexpr double single = 1e-6; // a few roundings to single precision
    // Where every gain counts as 0 the first admissible cut wins: nothing may be passed over.
    const double half_nn = sweep.half_nn();
    bool all_zero = scan.floor < 0.0 && top * (1.0 + single) < (negligible_gain + gain_slack) * half_nn;
    if (!all_zero) sweep.reach = std::max(sweep.reach, top * (1.0 - single) - gain_slack * half_nn);
    for (std::uint32_t b = 0; b < blocks; ++b) {
        if (b % 1024 == 1023) scan.cancel.poll();
        if (static_cast<double>(peaks[b].score) * (1.0 + single) < sweep.reach) continue;
        std::uint32_t from = b * scan_block, to = std::min(from + scan_block, end), ones = peaks[b].ones;
        for (; from < std::min(begin, to); ++from) ones += Packed<E>::bit(scan.list[from]);
        look_at_hits(scan, counts, from, to, ones, kernels, sweep);
    }
    return sweep.best.quality == scan.floor ? Cut{} : sweep.best;
}

/// Variance: a first pass in doubles bounds what any cut can gain; only an attribute that may win is summed
/// exactly, and only its near-best cuts are scored.
template <class E, int W>
Cut variance_scan(const Scan<E, NumericTarget<W>> &scan, const Variance<W> &criterion) {
    using Stats = TargetSums<W>;
    const std::size_t q = scan.target.n_targets;
    const std::int64_t n = scan.node.n;
    const double nn = as_double(n), impurity = scan.facts.impurity;
    const std::vector<double> &centre = scan.facts.centre;
    // Bounds would vanish in the range of subnormal numbers.
    if (impurity < 1e-200) return plain_scan_alone(scan, criterion);
    Cut best;
    best.quality = scan.floor;
    std::vector<double> &first = scan.scratch.first, &sum = scan.scratch.sum;
    first.resize(q);
    double offset = 0.0;
    for (std::size_t t = 0; t < q; ++t) {
        first[t] = nearest_double(scan.start.y[t], criterion.exponent) - as_double(scan.start.n) * centre[t];
        offset += std::abs(centre[t]);
    }
    // |D| <= n A with A = sum of |y - mean| <= n sqrt(variance); D is off by at most n times the error of the
    // running sum, plus what the rounded mean leaves over.
    const double a = nn * std::sqrt(impurity) * (1.0 + 1e-9);
    const double error = nn * 0x1p-52 * ((nn + 8.0) * a + 4.0 * nn * offset);
    const double slack = as_double(static_cast<std::int64_t>(q)) * (2.0 * nn * a + error) * error;
    auto contrast = [&](std::uint32_t i) {
        const double *y = scan.target.y.data() + scan.id(i) * q;
        double squares = 0.0;
        for (std::size_t t = 0; t < q; ++t) {
            sum[t] += y[t] - centre[t];
            double d = nn * sum[t];
            squares += d * d;
        }
        return squares;
    };
    sum = first;
    double top = -1.0, top_sides = 1.0;
    std::int64_t left = scan.start.n;
    Pace pace(scan.cancel, 5 + 5 * q);
    for (std::uint32_t i = 0; i + 1 < scan.size; ++i) {
        pace.step();
        double c = contrast(i);
        ++left;
        if (!scan.cuts_after(i) || !scan.admits(left)) continue;
        double sides = as_double(left) * as_double(n - left);
        if (c * top_sides > top * sides) top = c, top_sides = sides;
    }
    if (top < 0.0) return Cut{};
    const double scale = nn * nn, relative = 1.0 - 1e-12;
    const double zero = negligible_gain * impurity; // gains below count as 0
    const double most = (top / top_sides + slack / std::max(nn - 1.0, 1.0)) / scale;
    auto to_reach = [&](double quality) { return quality < 0.0 ? -1.0 : std::max(quality, zero) * relative; };
    double reach = to_reach(scan.floor);
    if (most < reach) return Cut{};
    if (scan.floor >= 0.0 || most * relative > zero)
        if (double least = (top - slack) / top_sides / scale * relative; least > zero)
            reach = std::max(reach, least);
    Stats exact = scan.start, right = scan.target.zero();
    sum = first;
    for (std::uint32_t i = 0; i + 1 < scan.size; ++i) {
        pace.step();
        double c = contrast(i);
        scan.target.add_for_quality(exact, scan.id(i), 1);
        if (!scan.cuts_after(i) || !scan.admits(exact.n)) continue;
        if (c + slack < reach * scale * (as_double(exact.n) * as_double(n - exact.n))) continue;
        right = scan.node;
        right -= exact;
        std::array<const Stats *, 2> sides{&exact, &right};
        Score s = criterion.score(scan.node, sides);
        if (s.quality > best.quality) {
            best = {s.quality, s.gain, i, i + 1, exact.n};
            reach = std::max(reach, to_reach(s.quality));
        }
    }
    if (best.quality == scan.floor) best.quality = -1.0;
    return best;
}

template <Criterion C> void prepare(NodeFacts &facts, const C &, const ClassCounts &node) {
    read_facts(facts, node);
}
template <int W> void prepare(NodeFacts &facts, const Variance<W> &criterion, const TargetSums<W> &node) {
    facts.impurity = criterion.impurity(node);
    facts.centre.resize(node.y.size());
    for (std::size_t t = 0; t < node.y.size(); ++t)
        facts.centre[t] = nearest_quotient(node.y[t], Variance<W>::count(node.n), criterion.exponent);
}

template <class C, class Stats> void prepare(NodeFacts &, const C &, const Stats &) {} // the others need none

/// How the criteria of information compare cuts.
inline InformationSearch search_of(const Entropy &criterion, const ClassCounts &node) {
    return {criterion, InformationRule::gain, as_double(node.n), false};
}
inline InformationSearch search_of(const GainRatio &criterion, const ClassCounts &node) {
    return {criterion.entropy, InformationRule::ratio, as_double(node.n), false};
}
inline InformationSearch search_of(const KnownInformation<Entropy> &criterion, const ClassCounts &) {
    return {*criterion.information, InformationRule::gain, criterion.whole, true};
}

/// The fast scan of a criterion, where it has one, for a set that is alone at the node with every row
/// counting once.
template <class E> Cut fast_scan(const Scan<E, ClassTarget> &scan, const Gini &, const Kernels &kernels) {
    return scan.node.c.size() == 2 ? gini_scan_two(scan, kernels) : gini_scan_classes(scan, kernels);
}
template <class E>
Cut fast_scan(const Scan<E, ClassTarget> &scan, const Entropy &criterion, const Kernels &kernels) {
    return information_scan(scan, search_of(criterion, scan.node), kernels);
}
template <class E>
Cut fast_scan(const Scan<E, ClassTarget> &scan, const GainRatio &criterion, const Kernels &kernels) {
    return information_scan(scan, search_of(criterion, scan.node), kernels);
}
template <class E> Cut fast_scan(const Scan<E, ClassTarget> &scan, const KnownInformation<Entropy> &criterion,
                                 const Kernels &kernels) {
    return information_scan(scan, search_of(criterion, scan.node), kernels);
}
template <class E, int W>
Cut fast_scan(const Scan<E, NumericTarget<W>> &scan, const Variance<W> &criterion, const Kernels &) {
    return variance_scan(scan, criterion);
}
template <class E, Criterion C>
Cut fast_scan(const Scan<E, typename C::Target> &scan, const C &criterion, const Kernels &) {
    return plain_scan_alone(scan, criterion);
}
} // namespace hornbeam
