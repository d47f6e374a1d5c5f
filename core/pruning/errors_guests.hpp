// Error-based pruning, continued: guests, the rows of other branches that are sent down a branch to see what
// raising it would come to. errors.hpp includes it at its end.
#pragma once

#include "pruning/errors.hpp"

namespace hornbeam {

/// Brings the rows closer that are likely to be sent when the place is judged.
template <class Rows> void ErrorPruner<Rows>::fetch_guests(std::size_t place) const {
    const std::size_t at = standing(place);
    if (shape_.leaf[at]) return;
    std::size_t largest = at;
    std::uint32_t most = 0;
    visit_children(at, [&](std::size_t child) {
        if (nodes_[child].size() > most) most = nodes_[child].size(), largest = child;
    });
    if (shape_.leaf[largest]) return;
    const Node &all = nodes_[at], &own = nodes_[largest];
    std::uint32_t left = first_rows;
    for (std::uint32_t i = all.begin; i < own.begin && left > 0; ++i, --left) sender_.fetch(order_[i]);
    for (std::uint32_t i = own.end; i < all.end && left > 0; ++i, --left) sender_.fetch(order_[i]);
}

/// The rows that are at the node and not at the branch will be guests. Where it may be enough to send `few`,
/// those of classes that are rare in the branch come first: they have more to get wrong there.
template <class Rows>
void ErrorPruner<Rows>::invite(std::size_t node, std::size_t branch, [[maybe_unused]] double few) {
    const Node &all = nodes_[node], &own = nodes_[branch];
    asked_ = 0;
    all_come_ = true;
    if constexpr (Rows::counts) {
        if (!rises_ || all.size() - own.size() < 16) return;
        all_come_ = false;
        visit_counts(branch, [&](std::int32_t code, double count) { take(code, count); });
        // By how much a class has to be rarer in the branch than in the node.
        const double share = static_cast<double>(own.size()) / static_cast<double>(all.size());
        double most = 0.0;
        for (double part : {0.0625, 0.25, 1.0}) {
            most = part * share;
            double come = 0.0;
            visit_counts(node, [&](std::int32_t code, double count) {
                double held = tally_[static_cast<std::size_t>(code)];
                if (held < most * count) come += count - held;
            });
            if (come >= few) break;
        }
        visit_counts(node, [&](std::int32_t code, double count) {
            auto k = static_cast<std::size_t>(code);
            comes_first_[k] = tally_[k] < most * count;
            tally_[k] = 0.0;
        });
        tallied_.clear();
    }
}

/// Has so many guests ready to go.
template <class Rows> void ErrorPruner<Rows>::gather(std::size_t node, std::size_t branch, std::size_t goal) {
    const Node &all = nodes_[node], &own = nodes_[branch];
    const std::uint32_t before = own.begin - all.begin, others = all.size() - own.size();
    while (n_guests_ < goal && asked_ < others) {
        const bool left = asked_ < before;
        const std::uint32_t *row = order_.data() + (left ? all.begin + asked_ : own.end + (asked_ - before));
        const std::size_t many =
            std::min({(left ? before : others) - std::size_t{asked_}, goal - n_guests_, at_once});
        asked_ += static_cast<std::uint32_t>(many);
        if (all_come_) {
            std::copy_n(row, many, guests_.get() + n_guests_);
            n_guests_ += static_cast<std::uint32_t>(many);
        } else {
            // Both lists take every row and keep theirs: which it is nobody can foresee.
            for (std::size_t i = 0; i < many; ++i) {
                const std::uint32_t first = comes_first_[rows_.classes[row[i]]];
                guests_[n_guests_] = later_[n_later_] = row[i];
                n_guests_ += first;
                n_later_ += 1 - first;
            }
        }
        if (many == at_once) cancel_.poll();
    }
    if (n_guests_ >= goal) return;
    std::copy_n(later_.get(), n_later_, guests_.get() + n_guests_);
    n_guests_ += n_later_;
    n_later_ = 0;
}

/// Guests go down the branch until so many have.
template <class Rows> void ErrorPruner<Rows>::send(std::size_t branch, std::size_t stop) {
    while (n_sent_ < stop) {
        const std::size_t first = n_sent_, last = std::min(stop, first + at_once);
        sender_.walk(branch, {guests_.get() + first, last - first}, reached_.get() + first);
        n_sent_ = static_cast<std::uint32_t>(last);
        if (rises_) seat(first, last);
        if (last - first == at_once) cancel_.poll();
    }
}

/// Counts guests at the leaves that they have reached.
template <class Rows> void ErrorPruner<Rows>::seat(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
        Seat &seat = seats_[reached_[i]];
        if (seat.same + seat.other == 0) visited_.push_back(static_cast<std::int32_t>(reached_[i]));
        const std::uint32_t same = rows_.classes[guests_[i]] == seat.code;
        seat.same += same;
        seat.other += 1 - same;
    }
}

/// Hangs every guest at its leaf.
template <class Rows> void ErrorPruner<Rows>::list_guests() {
    visited_.clear();
    next_guest_.resize(n_sent_);
    for (std::uint32_t i = 0; i < n_sent_; ++i) {
        pace_.step();
        const std::uint32_t leaf = reached_[i];
        if (!is_visited_[leaf]) visited_.push_back(static_cast<std::int32_t>(leaf));
        is_visited_[leaf] = 1;
        next_guest_[i] = first_guest_[leaf];
        first_guest_[leaf] = i;
    }
}

/// Expected errors of a leaf with its guests.
template <class Rows> double ErrorPruner<Rows>::with_guests(std::size_t leaf) {
    if constexpr (Rows::counts) {
        // Most often there is one, and it needs no tally.
        if (std::uint32_t only = first_guest_[leaf]; next_guest_[only] == none) {
            const auto guest = static_cast<std::int32_t>(rows_.classes[guests_[only]]);
            double most = 1.0, n = total(leaf) + 1.0;
            visit_counts(leaf, [&](std::int32_t code, double count) {
                most = std::max(most, count + (code == guest ? 1.0 : 0.0));
            });
            return expect_(n, n - most);
        }
    }
    visit_counts(leaf, [&](std::int32_t code, const Sum &sum) { take(code, sum); });
    Sum n = total(leaf);
    for (std::uint32_t g = first_guest_[leaf]; g != none; g = next_guest_[g]) {
        pace_.step();
        Sum weight = weigh_.of(guests_[g]);
        take(static_cast<std::int32_t>(rows_.classes[guests_[g]]), weight);
        n += weight;
    }
    return expected_of_tally(n);
}

/// What the branch is expected to get wrong at the least with the guests that have come so far, and with more
/// of them. Up to rounding.
template <class Rows> double ErrorPruner<Rows>::at_least(std::size_t branch) {
    // At a leaf no class but that of `most` has more than `second` rows, and more guests than all of the
    // other classes. So it gets no fewer wrong than if they were of one class, and that one were second: and
    // what is expected rises with what it gets wrong. From one error on, with e' = e + 0.5 and u = e' / n <=
    // 1, the slope of e' + sqrt(c (e' (1 - u) + c / 4)) is 1 + c (1 - 2 u) / (2 sqrt(..)), and the root is at
    // least c / 2; no error against one is among the steps that ExpectedErrors::rises looks at.
    double sum = nodes_[branch].expected;
    for (std::int32_t leaf : visited_) {
        pace_.step();
        const Seat &seat = seats_[static_cast<std::size_t>(leaf)];
        const std::uint32_t n = seat.n + seat.same + seat.other,
                            right = std::max(seat.most + seat.same, seat.second + seat.other);
        sum += expect_(static_cast<double>(n), static_cast<double>(n - right)) - seat.as_leaf;
    }
    return sum;
}

/// The sum over the leaves of the branch, children first and in order; only the nodes above guests have
/// changed. Infinity where it is above what matters.
template <class Rows> double ErrorPruner<Rows>::sum_with_guests(std::size_t branch, double matters) {
    double about = nodes_[branch].expected; // in another order
    for (std::int32_t leaf : visited_) {
        auto at = static_cast<std::size_t>(leaf);
        fresh_[at] = with_guests(at);
        about += fresh_[at] - nodes_[at].expected;
    }
    if (is_above(about, matters)) return std::numeric_limits<double>::infinity();
    std::size_t n_leaves = visited_.size();
    for (std::size_t i = 0; i < n_leaves; ++i) {
        auto at = static_cast<std::size_t>(visited_[i]);
        while (at != branch) {
            at = static_cast<std::size_t>(nodes_[at].parent);
            if (is_visited_[at]) break;
            is_visited_[at] = 1;
            visited_.push_back(static_cast<std::int32_t>(at));
        }
    }
    std::sort(visited_.begin(), visited_.end(), [&](std::int32_t a, std::int32_t b) {
        pace_.step();
        return a < b;
    });
    for (std::size_t i = visited_.size(); i-- > 0;) {
        pace_.step();
        auto at = static_cast<std::size_t>(visited_[i]);
        if (shape_.leaf[at]) continue;
        double sum = 0.0;
        visit_children(at, [&](std::size_t child) {
            sum += is_visited_[child] ? fresh_[child] : nodes_[child].expected;
        });
        fresh_[at] = sum;
    }
    return fresh_[branch];
}

template <class Rows> void ErrorPruner<Rows>::forget_guests() {
    for (std::int32_t node : visited_) {
        const auto at = static_cast<std::size_t>(node);
        if (rises_) seats_[at].same = seats_[at].other = 0;
        if (next_guest_.empty()) continue;
        is_visited_[at] = 0;
        first_guest_[at] = none;
    }
    visited_.clear();
    next_guest_.clear();
    n_guests_ = n_later_ = n_sent_ = 0;
}

} // namespace hornbeam
