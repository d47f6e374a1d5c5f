// Error-based pruning, continued: what changes when a branch is raised. errors.hpp includes it at its
// end.
#pragma once

#include "pruning/errors.hpp"

namespace hornbeam {

/// The branch takes the place with all its rows: the guests stay, and what they have changed is judged anew.
template <class Rows> void ErrorPruner<Rows>::raise(std::size_t place, std::size_t branch) {
    const Node &old = nodes_[standing(place)];
    std::uint32_t begin = old.begin, end = old.end;
    const std::int32_t old_parent = old.parent;
    nodes_[branch].parent = old_parent;
    nodes_[branch].place = static_cast<std::int32_t>(place);
    shape_.standing[place] = static_cast<std::int32_t>(branch);
    if (old_parent >= 0) sender_.stand(static_cast<std::size_t>(old_parent), place);
    lay_out(branch, begin, end);
    for (std::size_t i = visited_.size(); i-- > 0;) recount(static_cast<std::size_t>(visited_[i]));
    for (std::int32_t node : visited_)
        places_.push_back(static_cast<std::uint32_t>(nodes_[static_cast<std::size_t>(node)].place));
}

/// The rows of the branch and its guests, leaf after leaf, in the place that its parent's rows had.
template <class Rows>
void ErrorPruner<Rows>::lay_out(std::size_t branch, std::uint32_t begin, std::uint32_t end) {
    moved_.resize(order_.size());
    std::uint32_t at = begin;
    std::vector<std::size_t> waiting{branch}, inner;
    while (!waiting.empty()) {
        pace_.step();
        std::size_t node = waiting.back();
        waiting.pop_back();
        Node &it = nodes_[node];
        std::uint32_t from = at;
        if (!shape_.leaf[node]) {
            inner.push_back(node);
            std::size_t first = waiting.size();
            visit_children(node, [&](std::size_t child) { waiting.push_back(child); });
            std::reverse(waiting.begin() + static_cast<std::ptrdiff_t>(first), waiting.end());
            it.begin = from;
            continue;
        }
        for (std::uint32_t i = it.begin; i < it.end; ++i) {
            pace_.step();
            moved_[at++] = order_[i];
        }
        for (std::uint32_t g = first_guest_[node]; g != none; g = next_guest_[g]) moved_[at++] = guests_[g];
        it.begin = from;
        it.end = at;
    }
    // In reverse preorder every child is complete before its parent.
    for (std::size_t i = inner.size(); i-- > 0;)
        visit_children(inner[i], [&](std::size_t child) { nodes_[inner[i]].end = nodes_[child].end; });
    std::copy(moved_.begin() + begin, moved_.begin() + end, order_.begin() + begin);
}

/// Sums of a node whose rows have changed: of a leaf with its guests, else of its children.
template <class Rows> void ErrorPruner<Rows>::recount(std::size_t at) {
    pace_.step();
    if (shape_.leaf[at]) {
        visit_counts(at, [&](std::int32_t code, const Sum &sum) { take(code, sum); });
        for (std::uint32_t g = first_guest_[at]; g != none; g = next_guest_[g])
            take(static_cast<std::int32_t>(rows_.classes[guests_[g]]), weigh_.of(guests_[g]));
    } else {
        visit_children(at, [&](std::size_t child) {
            visit_counts(child, [&](std::int32_t code, const Sum &sum) { take(code, sum); });
        });
    }
    if (shape_.recounted[at] < 0) {
        shape_.recounted[at] = static_cast<std::int32_t>(recounts_.size());
        shape_.recounts.emplace_back();
        recounts_.emplace_back();
    }
    auto &sums = recounts_[static_cast<std::size_t>(shape_.recounted[at])];
    std::sort(tallied_.begin(), tallied_.end());
    sums.clear();
    Sum n{};
    for (std::int32_t code : tallied_) {
        sums.push_back({code, tally_[static_cast<std::size_t>(code)]});
        n += sums.back().sum;
    }
    if constexpr (!Rows::counts) totals_[at] = n;
    for (std::int32_t code : tallied_) tally_[static_cast<std::size_t>(code)] = Sum{};
    tallied_.clear();
    nodes_[at].as_leaf = expected_as_leaf(at);
}

} // namespace hornbeam
