// What every lane of a node has in each of its children.
#pragma once

#include "growth/pending.hpp"

namespace hornbeam {

template <class E, class Target> class ChildTotals {
  public:
    using Stats = typename Target::Stats;
    using Node = Pending<E, Stats>;

    ChildTotals(const Frame<E> &frame, const Target &target, NodePool<E, Target> &pool, Cancel &cancel)
        : frame_(frame), target_(target), pool_(pool), cancel_(cancel) {}

    /// [child * lanes + lane]; the largest child's are what the others leave of the node's, which are used
    /// up.
    std::span<Stats> count(Node &node, std::span<const Node> child) {
        const std::size_t k = node.lanes.size();
        const bool alone = solo(node);
        std::size_t largest = 0;
        for (std::size_t c = 1; c < child.size(); ++c)
            if (child[c].rows.size() > child[largest].rows.size()) largest = c;
        totals_.clear();
        for (std::size_t i = 0; i < k * child.size(); ++i) totals_.push_back(pool_.fresh_stats());
        for (std::size_t i = 0; i < k; ++i) std::swap(totals_[largest * k + i], node.lanes[i].total);
        for (std::size_t c = 0; c < child.size(); ++c) {
            if (c == largest) continue;
            std::span<Stats> total = std::span(totals_).subspan(c * k, k);
            if (k > 1 && frame_.sets.by_complement)
                add_complements(node, child[c].rows, total);
            else
                add_lanes(node, child[c].rows, alone, total);
            for (std::size_t i = 0; i < k; ++i) totals_[largest * k + i] -= total[i];
        }
        return totals_;
    }

  private:
    const Frame<E> &frame_;
    const Target &target_;
    NodePool<E, Target> &pool_;
    Cancel &cancel_;
    std::vector<Stats> totals_;

    /// Figure 3 of paper 000: a row is added for every lane in which it counts.
    void add_lanes(const Node &node, std::span<const E> rows, bool alone, std::span<Stats> total) {
        if constexpr (std::is_same_v<Stats, ClassCounts>)
            if (alone && target_.n_classes == 2) return add_bits(rows, total[0]);
        for (std::size_t i = 0; i < total.size(); ++i)
            for_entries(rows, cancel_, [&](E e) {
                const std::uint32_t id = Packed<E>::id(e);
                if (std::int64_t m = alone ? 1 : frame_.sets.count(id, node.lanes[i].set); m != 0)
                    target_.add(total[i], id, m);
            });
    }

    /// Of two classes an entry has that of its row.
    void add_bits(std::span<const E> rows, ClassCounts &total) {
        in_stretches(rows.size(), cancel_, [&](std::size_t lo, std::size_t hi) {
            E ones = 0;
            for (std::size_t i = lo; i < hi; ++i) ones += Packed<E>::bit(rows[i]);
            total.c[1] += static_cast<std::int64_t>(ones);
        });
        total.n += static_cast<std::int64_t>(rows.size());
        total.c[0] = total.n - total.c[1];
    }

    /// Figure 4: a row is added to the whole, and once more where a lane leaves it out.
    void add_complements(const Node &node, std::span<const E> rows, std::span<Stats> total) {
        const LanePlaces places(node.lanes);
        Stats whole = pool_.fresh_stats();
        for_entries(rows, cancel_, [&](E e) {
            const std::uint32_t id = Packed<E>::id(e);
            target_.add(whole, id, 1);
            places.each(~frame_.sets.of(id), [&](std::size_t lane) { target_.add(total[lane], id, 1); });
        });
        for (Stats &t : total) {
            Stats left_out = std::exchange(t, whole);
            t -= left_out;
        }
        pool_.recycle_stats(std::move(whole));
    }
};

} // namespace hornbeam
