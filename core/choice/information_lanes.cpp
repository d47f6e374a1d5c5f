#include "choice/information_lanes.hpp"

#include <algorithm>
#include <bit>

namespace hornbeam {

bool worth_a_pass(std::size_t n, std::size_t n_classes, std::int64_t entries) {
    const bool two = n_classes == 2;
    const double alone = two ? 1.2 : 2.8; // nanoseconds for an entry of one lane, copied and looked at
    double together = 19.0;               // for an entry of all lanes
    if (n >= 150) together = two ? 10.0 : 17.0;
    if (n >= 400) together = two ? 7.0 : 14.0;
    if (n >= 800) together = two ? 5.5 : 11.0;
    if (n >= 1600) together = two ? 4.0 : 8.0;
    if (n >= 5000) together = two ? 3.0 : 5.0;
    return together * static_cast<double>(n) < alone * static_cast<double>(entries);
}

std::uint32_t suitable_block(std::uint32_t n, std::size_t n_classes) {
    const bool many = n_classes >= 20;
    if (n < (many ? 300 : 150) || n_classes > most_block_classes) return 0;
    if (n < 600 && !many) return 16;
    if (n < 1500) return 32;
    return n < 5000 ? 64 : 128;
}

namespace {

template <class E> bool counts(const LaneList<E> &list, std::uint32_t i, std::size_t lane) {
    return list.in[list.pattern[Packed<E>::id(list.entries[i])]].in[lane] != 0;
}
/// What takes an entry of a list to the left.
template <class E> auto mover(const LaneList<E> &list, std::vector<LaneRow> &left) {
    return [&](std::uint32_t i) {
        const std::uint32_t id = Packed<E>::id(list.entries[i]);
        const std::size_t k = list.n_classes == 2 ? Packed<E>::bit(list.entries[i]) : list.classes[id];
        left[k].of -= list.in[list.pattern[id]].in;
    };
}

} // namespace

void InformationLanes::open(std::span<const ClassCounts *const> nodes, std::span<const double> wholes) {
    const auto some =
        std::find_if(nodes.begin(), nodes.end(), [](const auto *node) { return node != nullptr; });
    const std::size_t n_classes = (*some)->c.size();
    static const ClassCounts nobody;
    seats_.clear();
    all_.assign(n_classes, LaneRow{});
    whole_ = LaneInts{} + 1; // tangents have a middle
    bar_ = InformationBar{};
    bar_.ratio = rule_ == InformationRule::ratio;
    bar_.doubt = static_cast<std::int32_t>(n_classes) + 1;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const ClassCounts &node = nodes[i] == nullptr ? nobody : *nodes[i];
        seats_.push_back({{entropy_, rule_, node, wholes[i], entropy_.content(node)}, {}, -1});
        if (node.n == 0) continue;
        whole_[i] = static_cast<std::int32_t>(node.n);
        for (std::size_t k = 0; k < n_classes; ++k) all_[k].of[i] = static_cast<std::int32_t>(node.c[k]);
        bar_.content[i] = seats_[i].node.content_units();
        bar_.whole_log[i] = fixed_.data()[node.n];
    }
    has_tables_ = false;
}

/// Asks of a lane's cuts what beats the best so far.
void InformationLanes::raise(std::size_t lane) {
    const Seat &seat = seats_[lane];
    bar_.reach[lane] = std::max(bar_.reach[lane], seat.node.reach(seat.best.quality));
    bar_.quality[lane] = std::max(bar_.quality[lane], seat.node.quality_to_reach(seat.best.quality));
}

void InformationLanes::aim(std::span<const InformationAsk> asks, std::size_t n_classes) {
    left_.assign(n_classes, LaneRow{});
    bar_.reach = LaneInts{} + never_reached;
    bar_.quality = LaneFloats{};
    bar_.least = LaneInts{} + 1;
    bar_.most = LaneInts{};
    for (std::size_t i = 0; i < asks.size(); ++i) {
        const InformationAsk &ask = asks[i];
        Seat &seat = seats_[i];
        seat.best = {};
        seat.best.quality = ask.floor;
        seat.seen = -1;
        if (!ask.wanted) continue;
        const std::int64_t start = ask.start == nullptr ? 0 : ask.start->n;
        // Both sides have entries of the list.
        bar_.least[i] = static_cast<std::int32_t>(std::max(ask.least.left, start + 1));
        bar_.most[i] = static_cast<std::int32_t>(
            std::max<std::int64_t>(std::min(seat.node.n - ask.least.right, start + ask.known - 1), 0));
        if (bar_.least[i] > bar_.most[i]) continue;
        bar_.reach[i] = always_reached;
        raise(i);
        if (ask.start != nullptr)
            for (std::size_t k = 0; k < n_classes; ++k)
                left_[k].of[i] = static_cast<std::int32_t>(ask.start->c[k]);
    }
}

template <class E> void InformationLanes::cuts(const LaneList<E> &list, std::span<const InformationAsk> asks,
                                               std::uint32_t block, bool counted, std::span<Cut> best) {
    aim(asks, list.n_classes);
    LaneInts start{}, n_cuts{};
    if (counted) {
        for (const LaneRow &rows : left_) start += rows.of;
        if constexpr (sizeof(E) == 4)
            kernels_.information.count_narrow(list, start, bar_, n_cuts);
        else
            kernels_.information.count_wide(list, start, bar_, n_cuts);
    }
    if (block == 0)
        scan_entries(list);
    else
        scan_blocks(list, block);
    for (std::size_t i = 0; i < asks.size(); ++i) {
        Cut &cut = best[i] = seats_[i].best;
        if (cut.next == 0) {
            cut = {};
        } else {
            while (!counts(list, cut.at, i)) --cut.at;
            while (!counts(list, cut.next, i)) ++cut.next;
        }
        cut.cuts = n_cuts[i];
    }
}
template void InformationLanes::cuts(const LaneList<std::uint32_t> &, std::span<const InformationAsk>,
                                     std::uint32_t, bool, std::span<Cut>);
template void InformationLanes::cuts(const LaneList<std::uint64_t> &, std::span<const InformationAsk>,
                                     std::uint32_t, bool, std::span<Cut>);

/// What a lane has in the cells of a value, all classes together.
std::int64_t rows_of(const LaneCells &cells, std::uint32_t value, std::size_t lane) {
    std::int64_t rows = 0;
    for (std::uint32_t k = 0; k < cells.n_classes; ++k) {
        const std::uint32_t *cell = cells.own + (std::size_t{value} * cells.width + k) * cells.columns;
        rows +=
            std::int64_t{cells.whole[(std::size_t{value} * cells.width + k) * cells.columns]} - cell[lane];
    }
    return rows;
}

void InformationLanes::cuts(const LaneCells &cells, std::uint32_t n_values,
                            std::span<const InformationAsk> asks, std::span<Cut> best) {
    const std::size_t n_classes = cells.n_classes;
    aim(asks, n_classes);
    at_ = left_, begin_.resize(n_classes), phis_.resize(std::max(phis_.size(), n_classes));
    InformationValues values{cells, n_values, fixed_.data(), all_.data(),  whole_,        {},
                             {},    {},       at_.data(),    phis_.data(), begin_.data(), {}};
    for (std::size_t i = 0; i < asks.size(); ++i) {
        values.seated[i] = -static_cast<std::int32_t>(asks[i].wanted);
        for (std::size_t k = 0; k < n_classes; ++k) {
            const std::int32_t left = left_[k].of[i];
            values.left[i] += left;
            phis_[k].of[i] = fixed_.data()[left] + fixed_.data()[all_[k].of[i] - left];
            values.sum[i] += phis_[k].of[i];
        }
    }
    hits_.begin = hits_.end = 0;
    while (kernels_.information.values(values, bar_, hits_)) {
        left_ = begin_;
        look_at_hits([&](std::uint32_t value) {
            for (std::size_t k = 0; k < n_classes; ++k) {
                const std::size_t cell = (std::size_t{value} * cells.width + k) * cells.columns;
                LaneInts own;
                __builtin_memcpy(&own, cells.own + cell, sizeof(own));
                left_[k].of += (static_cast<std::int32_t>(cells.whole[cell]) - own) & values.seated;
            }
        });
    }
    for (std::size_t i = 0; i < asks.size(); ++i) {
        Cut &cut = best[i] = seats_[i].best;
        if (cut.next == 0) {
            cut = {};
        } else {
            while (rows_of(cells, cut.at, i) == 0) --cut.at;
            while (rows_of(cells, cut.next, i) == 0) ++cut.next;
        }
        cut.cuts = values.cuts[i];
    }
}

template <class E> void InformationLanes::scan_blocks(const LaneList<E> &list, std::uint32_t size) {
    const std::uint32_t n_blocks = (list.n + size - 1) / size;
    const std::size_t vectors = (std::size_t{n_blocks} + 1) * list.n_classes;
    if (blocks_.size() < n_blocks) blocks_.resize(n_blocks);
    if (lefts_.size() < vectors) lefts_.resize(vectors), phis_.resize(vectors);
    if (chords_.size() < list.n_classes) chords_.resize(list.n_classes);
    std::copy(left_.begin(), left_.end(), lefts_.begin());
    const InformationBlocks blocks{fixed_.data(),  fixed_.rises(), all_.data(),  whole_,        size,
                                   blocks_.data(), lefts_.data(),  phis_.data(), chords_.data()};
    const InformationKernels &kernels = kernels_.information;
    auto walk = [&](std::uint32_t block) {
        if constexpr (sizeof(E) == 4)
            return kernels.walk_narrow(list, blocks, bar_, block, hits_);
        else
            return kernels.walk_wide(list, blocks, bar_, block, hits_);
    };
    if constexpr (sizeof(E) == 4)
        kernels.bound_narrow(list, blocks, bar_);
    else
        kernels.bound_wide(list, blocks, bar_);
    for (std::uint32_t block = walk(0); block < n_blocks; block = walk(block + 1)) {
        std::copy_n(lefts_.begin() + static_cast<std::ptrdiff_t>(block * list.n_classes), list.n_classes,
                    left_.begin());
        look_at_hits(mover(list, left_));
    }
}

/// What the next entry of a class changes in the sum of phi_k, by its rows on the left, for each class and
/// lane; and phi by the rows on the left, for each lane.
void InformationLanes::write_tables() {
    const std::int32_t *xlog = fixed_.data();
    steps_.clear(), phi_.clear();
    step_begin_.assign(all_.size(), LaneRow{});
    phi_begin_ = LaneInts{};
    steps_.push_back(0); // where nobody sits
    phi_.push_back(0), phi_.push_back(0);
    for (std::size_t k = 0; k < all_.size(); ++k)
        for (std::size_t i = 0; i < seats_.size(); ++i) {
            const std::int32_t all = all_[k].of[i];
            step_begin_[k].of[i] = static_cast<std::int32_t>(steps_.size());
            for (std::int32_t l = 0; l < all; ++l)
                steps_.push_back((xlog[l + 1] - xlog[l]) - (xlog[all - l] - xlog[all - l - 1]));
            steps_.push_back(0); // read where no entry is left
        }
    for (std::size_t i = 0; i < seats_.size(); ++i) {
        const std::int32_t whole = whole_[i];
        phi_begin_[i] = static_cast<std::int32_t>(phi_.size());
        for (std::int32_t l = 0; l <= whole; ++l) phi_.push_back(xlog[l] + xlog[whole - l]);
    }
    has_tables_ = true;
}

template <class E> void InformationLanes::scan_entries(const LaneList<E> &list) {
    if (!has_tables_) write_tables();
    const std::int32_t *xlog = fixed_.data();
    at_.resize(list.n_classes), begin_.resize(list.n_classes);
    InformationEntries entries{steps_.data(), phi_.data(), phi_begin_, {}, {}, at_.data(), begin_.data()};
    for (std::size_t k = 0; k < list.n_classes; ++k) {
        at_[k].of = step_begin_[k].of + left_[k].of;
        entries.left += left_[k].of;
        for (std::size_t i = 0; i < seats_.size(); ++i)
            entries.sum[i] += xlog[left_[k].of[i]] + xlog[all_[k].of[i] - left_[k].of[i]];
    }
    hits_.begin = hits_.end = 0;
    auto next = [&] {
        if constexpr (sizeof(E) == 4)
            return kernels_.information.entries_narrow(list, entries, bar_, hits_);
        else
            return kernels_.information.entries_wide(list, entries, bar_, hits_);
    };
    while (next()) {
        for (std::size_t k = 0; k < list.n_classes; ++k) left_[k].of = begin_[k].of - step_begin_[k].of;
        look_at_hits(mover(list, left_));
    }
}

/// Looks at the cuts that may be the best; move(i) takes entry or value `i` to the left.
template <class Move> void InformationLanes::look_at_hits(Move move) {
    std::uint32_t moved = hits_.begin;
    for (std::uint32_t i = hits_.begin; i < hits_.end; ++i) {
        std::uint32_t lanes = hits_.lanes[i - hits_.begin];
        if (lanes == 0) continue;
        for (; moved <= i; ++moved) move(moved);
        for (; lanes != 0; lanes &= lanes - 1) look(static_cast<std::size_t>(std::countr_zero(lanes)), i);
    }
}

/// The literal score of a lane's cut behind the entry `at`.
void InformationLanes::look(std::size_t lane, std::uint32_t at) {
    Seat &seat = seats_[lane];
    const XlogTable &xlog = *entropy_.xlog;
    double left_sum = 0.0, right_sum = 0.0;
    std::int64_t left = 0;
    for (std::size_t k = 0; k < left_.size(); ++k) {
        const std::int32_t l = left_[k].of[lane];
        left += l;
        left_sum += xlog(l);
        right_sum += xlog(all_[k].of[lane] - l);
    }
    if (left == seat.seen || left < bar_.least[lane] || left > bar_.most[lane]) return;
    seat.seen = left;
    const Score score = seat.node.literal(left, left_sum, right_sum);
    if (!(score.quality > seat.best.quality)) return;
    seat.best = {score.quality, score.gain, at, at + 1, left};
    raise(lane);
}

} // namespace hornbeam
