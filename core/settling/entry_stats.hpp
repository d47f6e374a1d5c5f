// The statistics of a criterion from what scans count and sum: of a node, and of an entry of an AVC-set.
#pragma once

#include "criteria/seen.hpp"
#include "scans/refined.hpp"
#include "scans/sums.hpp"

namespace hornbeam {

/// Sums of each class: `sums` has a place for every class, or none where rows are only counted.
inline void add_sums(const SumShape &, const std::uint64_t *, ClassCounts &) {}
template <int W> void add_sums(const SumShape &shape, const std::uint64_t *sums, ClassSums<W> &s) {
    for (std::size_t k = 0; k < s.c.size(); ++k, sums += shape.words()) {
        const Fixed<W> weight = shape.weight<W>(sums);
        s.c[k] += weight;
        s.weight += weight;
    }
}
template <int W> void add_sums(const SumShape &shape, const std::uint64_t *sums, TargetSums<W> &s) {
    for (std::size_t t = 0; t < s.y.size(); ++t) {
        s.y[t] += shape.y<W>(sums, t);
        s.yy[t] += shape.yy<2 * W>(sums, t);
    }
}
template <int W> void add_sums(const SumShape &shape, const std::uint64_t *sums, WeightedSums<W> &s) {
    s.weight += shape.weight<W>(sums);
    for (std::size_t t = 0; t < s.y.size(); ++t) {
        s.y[t] += shape.y<W>(sums, t);
        s.yy[t] += shape.yy<W>(sums, t);
    }
}

/// Rows that all weigh 1, as sums of weights.
template <class Counts, int W> void add_ones(const Counts &counts, ClassSums<W> &s) {
    for (std::size_t k = 0; k < s.c.size(); ++k) {
        Fixed<W> weight;
        weight.limb[0] = static_cast<std::uint64_t>(counts[k]);
        s.c[k] += weight;
        s.weight += weight;
    }
}

template <class Stats> Stats zero_stats(const SumShape &shape, std::size_t n_classes) {
    if constexpr (requires(Stats s) { s.c; })
        return Stats(n_classes);
    else
        return Stats(shape.n_targets());
}

template <class Stats>
Stats read_stats(const SumShape &shape, const ClassCounts &rows, const SumWords &sums) {
    if constexpr (counts_rows<Stats>) {
        return rows;
    } else {
        Stats s = zero_stats<Stats>(shape, rows.c.size());
        s.n = rows.n;
        if (!shape.empty())
            add_sums(shape, sums.data(), s);
        else if constexpr (requires { s.c; })
            add_ones(rows.c, s);
        return s;
    }
}

/// The entries of a set as examples: an id is an entry, and the last one the missing rows.
template <class S> struct EntryTarget {
    using Stats = S;
    const RefinedSet *set = nullptr;
    std::size_t n_classes = 0;

    const SumShape &shape() const { return *set->shape; }
    Stats zero() const { return zero_stats<Stats>(shape(), n_classes); }
    std::int64_t rows(std::size_t id) const {
        std::int64_t n = 0;
        for (std::size_t k = 0; k < n_classes; ++k) n += set->row(id)[k];
        return n;
    }
    void add_for_quality(Stats &s, std::size_t id, std::int64_t) const {
        s.n += rows(id);
        if (!shape().empty())
            add_sums(shape(), set->sums_of(id), s);
        else if constexpr (requires { s.c; })
            add_ones(set->row(id), s);
    }
};

/// A criterion that looks at entries instead of rows.
template <class C> struct ByEntry : C {
    using Stats = typename C::Target::Stats;
    using Target = EntryTarget<Stats>;
};

} // namespace hornbeam
