// Error-based pruning, continued: guests, the rows of other branches that are sent down a branch to see what
// raising it would come to. prune_errors.hpp includes it at its end.
#pragma once

#include "prune_errors.hpp"

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
    while (guests_.size() < goal && asked_ < others) {
        pace_.step();
        std::uint32_t row = order_[asked_ < before ? all.begin + asked_ : own.end + (asked_ - before)];
        ++asked_;
        if (all_come_ || comes_first_[rows_.classes[row]]) {
            guests_.push_back(row);
            sender_.fetch(row);
        } else {
            later_.push_back(row);
        }
    }
    if (guests_.size() >= goal) return;
    guests_.insert(guests_.end(), later_.begin(), later_.end());
    later_.clear();
}

/// Guests go down the branch until so many have.
template <class Rows> void ErrorPruner<Rows>::send(std::size_t branch, std::size_t stop) {
    while (next_guest_.size() < stop) {
        std::size_t first = next_guest_.size(), last = std::min(stop, first + at_once);
        reached_.resize(last - first);
        sender_.walk(branch, std::span(guests_).subspan(first, last - first), reached_.data());
        for (std::size_t i = first; i < last; ++i) {
            std::uint32_t leaf = reached_[i - first];
            if (!is_visited_[leaf]) {
                __builtin_prefetch(&nodes_[leaf]); // it will be looked at
                __builtin_prefetch(&tree_.count_start[leaf]);
                is_visited_[leaf] = 1;
                visited_.push_back(static_cast<std::int32_t>(leaf));
            }
            next_guest_.push_back(first_guest_[leaf]);
            first_guest_[leaf] = static_cast<std::uint32_t>(i);
        }
        if (last - first == at_once) cancel_.poll();
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

/// What the branch is expected to get wrong with the guests that have come so far: more of them will not make
/// it less. Up to rounding.
template <class Rows> double ErrorPruner<Rows>::at_least(std::size_t branch) {
    double sum = nodes_[branch].expected;
    for (std::int32_t leaf : visited_) {
        pace_.step();
        auto at = static_cast<std::size_t>(leaf);
        sum += with_guests(at) - nodes_[at].expected;
    }
    return sum;
}

/// The sum over the leaves of the branch, children first and in order; only the nodes above guests have
/// changed.
template <class Rows> double ErrorPruner<Rows>::sum_with_guests(std::size_t branch) {
    for (std::int32_t leaf : visited_)
        fresh_[static_cast<std::size_t>(leaf)] = with_guests(static_cast<std::size_t>(leaf));
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
        is_visited_[static_cast<std::size_t>(node)] = 0;
        first_guest_[static_cast<std::size_t>(node)] = none;
    }
    visited_.clear();
    guests_.clear();
    later_.clear();
    next_guest_.clear();
}

} // namespace hornbeam
