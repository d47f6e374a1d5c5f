// C4.5's error-based pruning. The training rows lie in one array, those of a node side by side; a node is
// judged after its children. What raising a branch would cost is found by sending only the rows of the
// *other* branches down it: at most half of a node's rows in a binary tree, and no more of them than it takes
// to see that it does not pay. A branch that is raised is judged anew, but only where rows have come in: a
// subtree that was pruned with the same rows would come out as it is.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>

#include "pruning/expected_errors.hpp"
#include "pruning/rows.hpp"
#include "pruning/shape.hpp"
#include "pruning/weights.hpp"

namespace hornbeam {

/// `Rows` says what rows come to: CountedRows or WeighedRows.
template <class Rows> class ErrorPruner {
  public:
    ErrorPruner(const FlatTree &tree, const PruneRows &rows, const PruneCosts &costs, double confidence,
                std::string_view criterion, Cancel &cancel);
    Pruned prune();

  private:
    using Sum = typename Rows::Sum;

    static constexpr double slack = 0.1;
    static constexpr std::size_t at_once = 1024;    // guests that are sent without a look at the clock
    static constexpr std::uint32_t first_look = 4;  // guests after which a first judgement is tried
    static constexpr std::uint32_t first_rows = 16; // rows that are fetched before they are asked for
    static constexpr std::int64_t few_classes = 4;
    static constexpr std::size_t ahead = 4; // places between fetching and judging

    /// What is known of a node and the rows at it.
    struct Node {
        std::uint32_t begin = 0, end = 0; // of the rows in `order_`
        std::int32_t parent = -1;
        std::int32_t place = 0;
        double as_leaf = 0;  // expected errors of the node as a leaf
        double expected = 0; // and of what stands below it
        std::uint32_t size() const { return end - begin; }
    };

    /// What is counted at a node, and the guests that have come to a leaf: enough to bound what it gets wrong
    /// with them.
    struct Seat {
        double as_leaf = 0;
        std::uint32_t n = 0, most = 0, second = 0; // rows; of the class that has most; of the next
        std::uint32_t code = 0;                    // that class
        std::uint32_t same = 0, other = 0;         // guests of that class and of others
    };

    /// Whether a sum in whatever order says that the one in the order of the law is above.
    static bool is_above(double sum, double bound) { return sum > bound + 1e-6 * (1.0 + sum); }
    std::size_t standing(std::size_t place) const { return static_cast<std::size_t>(shape_.standing[place]); }
    template <class Visit> void visit_children(std::size_t node, Visit visit) const {
        auto first = static_cast<std::size_t>(tree_.first_child[node]);
        auto many = static_cast<std::size_t>(tree_.n_children[node]);
        for (std::size_t place = first; place < first + many; ++place) visit(standing(place));
    }
    template <class Visit> void visit_counts(std::size_t node, Visit visit) const {
        if (shape_.recounted[node] >= 0) {
            for (const auto &c : recounts_[static_cast<std::size_t>(shape_.recounted[node])])
                visit(c.code, c.sum);
            return;
        }
        for (auto i = static_cast<std::size_t>(tree_.count_start[node]);
             i < static_cast<std::size_t>(tree_.count_start[node + 1]); ++i)
            if constexpr (Rows::counts)
                visit(tree_.count_class[i], tree_.count[i]);
            else
                visit(tree_.count_class[i], sums_[i]);
    }
    /// What the rows of a node come to.
    Sum total(std::size_t node) const {
        if constexpr (Rows::counts)
            return static_cast<double>(nodes_[node].size());
        else
            return totals_[node];
    }

    void count_leaf(std::size_t leaf);
    bool holds_few(std::size_t leaf) const;
    void count_inner(std::size_t node);
    double expected_as_leaf(std::size_t node);
    void take(std::int32_t code, const Sum &sum);
    double expected_of_tally(const Sum &n);
    void fetch_guests(std::size_t place) const;
    void judge(std::size_t place);
    double if_raised(std::size_t node, std::size_t branch, double below);
    void invite(std::size_t node, std::size_t branch, double few);
    void gather(std::size_t node, std::size_t branch, std::size_t goal);
    void send(std::size_t branch, std::size_t stop);
    void seat(std::size_t first, std::size_t last);
    void list_guests();
    double at_least(std::size_t branch);
    double with_guests(std::size_t leaf);
    double sum_with_guests(std::size_t branch, double matters);
    void forget_guests();
    void raise(std::size_t place, std::size_t branch);
    void lay_out(std::size_t branch, std::uint32_t begin, std::uint32_t end);
    void recount(std::size_t node);

    const FlatTree &tree_;
    const PruneRows &rows_;
    Cancel &cancel_;
    Pace pace_; // of rows and nodes
    Rows weigh_;
    Shape shape_;
    Sender sender_; // sees who stands where
    ExpectedErrors expect_;
    bool rises_;
    std::vector<Node> nodes_;
    std::vector<Seat> seats_; // by node, where guests are counted
    std::vector<Sum> sums_;   // as tree_.count, exact; nothing where rows are counted
    std::vector<Sum> totals_; // by node; likewise
    std::vector<std::vector<ClassSum<Sum>>> recounts_;
    std::vector<std::uint32_t> order_;  // the rows, leaf after leaf
    std::vector<std::uint32_t> moved_;  // scratch for `order_`
    std::vector<std::uint32_t> places_; // still to be judged, the next one last

    // Guests: rows of other branches, sent down a branch to see what would come of it. Where it takes the
    // exact sum, they hang at the leaf that they reached, in a list.
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> first_guest_;   // by leaf
    std::vector<std::uint32_t> next_guest_;    // by position in `guests_`, of those in a list
    std::unique_ptr<std::uint32_t[]> guests_;  // rows
    std::unique_ptr<std::uint32_t[]> later_;   // guests that are sent last
    std::unique_ptr<std::uint32_t[]> reached_; // the leaf of each guest that was sent
    std::uint32_t n_guests_ = 0, n_later_ = 0, n_sent_ = 0;
    std::uint32_t asked_ = 0;               // how many rows are guests by now, or will be later
    bool all_come_ = true;                  // as they lie, else:
    std::vector<std::uint8_t> comes_first_; // by class
    std::vector<std::int32_t> visited_;     // leaves with guests; later also the nodes above them
    std::vector<std::uint8_t> is_visited_;
    std::vector<double> fresh_; // expected errors of a visited node with its guests
    std::vector<Sum> tally_;    // by class, zero between uses
    std::vector<std::int32_t> tallied_;
};

template <class Rows>
ErrorPruner<Rows>::ErrorPruner(const FlatTree &tree, const PruneRows &rows, const PruneCosts &costs,
                               double confidence, std::string_view criterion, Cancel &cancel)
    : tree_(tree), rows_(rows), cancel_(cancel), pace_(cancel, Rows::counts ? 20 : 100),
      weigh_(rows, tree, costs, criterion, cancel), shape_(tree),
      sender_(tree, rows, shape_.standing, cancel), expect_(confidence),
      rises_(Rows::counts && expect_.rises()), nodes_(tree.n_nodes()), seats_(rises_ ? tree.n_nodes() : 0),
      first_guest_(tree.n_nodes(), none), comes_first_(static_cast<std::size_t>(tree.n_classes)),
      is_visited_(tree.n_nodes(), 0), fresh_(tree.n_nodes()),
      tally_(static_cast<std::size_t>(tree.n_classes)) {
    std::vector<std::uint32_t> begin, end;
    order_ = rows_by_leaf(tree, rows, begin, end, cancel);
    for (auto *rows_of : {&guests_, &later_, &reached_})
        *rows_of = std::make_unique_for_overwrite<std::uint32_t[]>(order_.size());
    if constexpr (!Rows::counts) {
        sums_.resize(tree.count.size());
        totals_.resize(tree.n_nodes());
    }
    for (std::size_t i = nodes_.size(); i-- > 0;) {
        pace_.step();
        Node &node = nodes_[i];
        node.begin = begin[i], node.end = end[i];
        node.place = static_cast<std::int32_t>(i);
        tree.n_children[i] == 0 ? count_leaf(i) : count_inner(i);
        node.as_leaf = expected_as_leaf(i);
        for (std::int32_t c = 0; c < tree.n_children[i]; ++c)
            nodes_[static_cast<std::size_t>(tree.first_child[i] + c)].parent = static_cast<std::int32_t>(i);
    }
}

/// Whether the rows at a leaf are of the few classes that the tree knows of, as many of each.
template <class Rows> bool ErrorPruner<Rows>::holds_few(std::size_t leaf) const {
    std::span<const std::uint32_t> at = std::span(order_).subspan(nodes_[leaf].begin, nodes_[leaf].size());
    bool same = static_cast<std::int64_t>(at.size()) == tree_.rows[leaf];
    std::size_t known = 0; // else some are of classes that the leaf has not
    visit_counts(leaf, [&](std::int32_t code, double count) {
        std::size_t held = 0;
        in_stretches(at.size(), cancel_, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) held += rows_.classes[at[i]] == code;
        });
        same &= static_cast<double>(held) == count;
        known += held;
    });
    return same && known == at.size();
}

/// Checks that the rows at a leaf are those that the tree knows of, and sums up what they weigh.
template <class Rows> void ErrorPruner<Rows>::count_leaf(std::size_t leaf) {
    // To go through the rows once for each of few classes is faster than to wait for sum after sum.
    if constexpr (Rows::counts)
        if (tree_.count_start[leaf + 1] - tree_.count_start[leaf] <= few_classes && holds_few(leaf)) return;
    std::span<const std::uint32_t> at = std::span(order_).subspan(nodes_[leaf].begin, nodes_[leaf].size());
    for (std::uint32_t row : at) {
        pace_.step();
        tally_[rows_.classes[row]] += weigh_.of(row);
    }
    bool same = static_cast<std::int64_t>(at.size()) == tree_.rows[leaf];
    Sum known{};
    for (auto i = static_cast<std::size_t>(tree_.count_start[leaf]);
         i < static_cast<std::size_t>(tree_.count_start[leaf + 1]); ++i) {
        Sum &sum = tally_[static_cast<std::size_t>(tree_.count_class[i])];
        same &= weigh_.nearest(sum) == tree_.count[i];
        known += sum;
        if constexpr (!Rows::counts) sums_[i] = sum;
        sum = Sum{};
    }
    if constexpr (Rows::counts) {
        same &= known == static_cast<double>(at.size()); // else some are of classes that the leaf has not
    } else {
        totals_[leaf] = known;
        // A class that the leaf does not know of is left in the tally.
        for (std::uint32_t row : at) same &= weigh_.is_zero(tally_[rows_.classes[row]]);
    }
    if (!same)
        throw OtherRows("the rows are not those that the tree was grown from: leaf " + std::to_string(leaf) +
                        " has others");
}

template <class Rows> void ErrorPruner<Rows>::count_inner(std::size_t node) {
    if constexpr (!Rows::counts) {
        visit_children(node, [&](std::size_t child) {
            totals_[node] += totals_[child];
            visit_counts(child, [&](std::int32_t code, const Sum &sum) { take(code, sum); });
        });
        for (auto i = static_cast<std::size_t>(tree_.count_start[node]);
             i < static_cast<std::size_t>(tree_.count_start[node + 1]); ++i)
            sums_[i] = tally_[static_cast<std::size_t>(tree_.count_class[i])];
        for (std::int32_t code : tallied_) tally_[static_cast<std::size_t>(code)] = Sum{};
        tallied_.clear();
    }
}

template <class Rows> void ErrorPruner<Rows>::take(std::int32_t code, const Sum &sum) {
    Sum &all = tally_[static_cast<std::size_t>(code)];
    if (weigh_.is_zero(all)) tallied_.push_back(code);
    all += sum;
}

/// Expected errors of a leaf of what was tallied; the tally is empty afterwards.
template <class Rows> double ErrorPruner<Rows>::expected_of_tally(const Sum &n) {
    double e = weigh_.wrong(n, tallied_, tally_);
    for (std::int32_t code : tallied_) tally_[static_cast<std::size_t>(code)] = Sum{};
    tallied_.clear();
    return expect_(weigh_.nearest(n), e);
}

template <class Rows> double ErrorPruner<Rows>::expected_as_leaf(std::size_t node) {
    if constexpr (Rows::counts) {
        double most = 0.0, second = 0.0, n = total(node);
        std::int32_t code = 0;
        visit_counts(node, [&](std::int32_t k, double count) {
            second = std::max(second, std::min(most, count));
            if (count > most) most = count, code = k;
        });
        const double expected = expect_(n, n - most);
        if (rises_)
            seats_[node] = {expected, nodes_[node].size(), static_cast<std::uint32_t>(most),
                            static_cast<std::uint32_t>(second), static_cast<std::uint32_t>(code)};
        return expected;
    } else {
        visit_counts(node, [&](std::int32_t code, const Sum &sum) { take(code, sum); });
        return expected_of_tally(totals_[node]);
    }
}

template <class Rows> Pruned ErrorPruner<Rows>::prune() {
    // Places are numbered from the root down, so taken from the end children come before their parents.
    places_.resize(nodes_.size());
    std::iota(places_.begin(), places_.end(), 0u);
    while (!places_.empty()) {
        std::size_t place = places_.back();
        places_.pop_back();
        if (places_.size() >= ahead) fetch_guests(places_[places_.size() - ahead]);
        judge(place);
        if (places_.size() % 256 == 0) cancel_.poll();
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        pace_.step();
        if (shape_.recounted[i] < 0) continue;
        cancel_.poll();
        const auto &sums = recounts_[static_cast<std::size_t>(shape_.recounted[i])];
        Recount &r = shape_.recounts[static_cast<std::size_t>(shape_.recounted[i])];
        r.rows = nodes_[i].size();
        r.weight = weigh_.nearest(total(i));
        r.impurity = weigh_.impurity(r.rows, total(i), sums);
        for (const auto &c : sums) r.counts.push_back({c.code, weigh_.nearest(c.sum)});
    }
    Pruned pruned = rebuild(tree_, shape_, cancel_);
    spell_out(tree_, pruned, cancel_);
    return pruned;
}

template <class Rows> void ErrorPruner<Rows>::judge(std::size_t place) {
    std::size_t at = standing(place), largest = 0;
    Node &node = nodes_[at];
    if (shape_.leaf[at]) {
        node.expected = node.as_leaf;
        return;
    }
    double below = 0.0;
    Sum most{};
    visit_children(at, [&](std::size_t child) {
        below += nodes_[child].expected;
        if (Sum n = total(child); weigh_.is_more(n, most)) most = n, largest = child;
    });
    double raised = if_raised(at, largest, below);
    if (node.as_leaf <= raised + slack && node.as_leaf <= below + slack) {
        shape_.leaf[at] = 1;
        sender_.close(at);
        node.expected = node.as_leaf;
    } else if (raised <= below + slack) {
        raise(place, largest);
    } else {
        node.expected = below;
    }
    forget_guests();
}

/// Expected errors if all rows of the node went down the branch; infinity where they are known to be so many
/// that their number does not matter.
template <class Rows>
double ErrorPruner<Rows>::if_raised(std::size_t node, std::size_t branch, double below) {
    const double as_leaf = nodes_[node].as_leaf, own = nodes_[branch].expected;
    if (shape_.leaf[branch]) return as_leaf; // all rows meet again in one leaf
    // The leaf is out of the question above below + slack; else it is it or the branch that wins.
    const double matters = as_leaf <= below + slack ? as_leaf - slack : below + slack;
    const std::size_t others = nodes_[node].size() - nodes_[branch].size();
    // As far as seen; more guests do not lower it. What a guest adds tells when it should be decided.
    double least = own, added = 1.0;
    if (rises_ && is_above(least, matters)) return std::numeric_limits<double>::infinity();
    invite(node, branch, 1.5 * (matters - own));
    while (rises_ && n_sent_ < others) {
        const std::size_t most = 4 * std::size_t{n_sent_} + 16;
        const double wait = 1.1 * (matters - least) / added + first_look;
        const std::size_t next = wait < static_cast<double>(most) ? static_cast<std::size_t>(wait) : most;
        const std::size_t goal = std::min(others, n_sent_ + next);
        gather(node, branch, goal);
        send(branch, goal);
        least = at_least(branch);
        if (is_above(least, matters)) return std::numeric_limits<double>::infinity();
        added = std::max((least - own) / static_cast<double>(n_sent_), 1e-3);
    }
    gather(node, branch, others);
    send(branch, others);
    list_guests();
    return sum_with_guests(branch, matters);
}

} // namespace hornbeam

#include "pruning/errors_guests.hpp"
#include "pruning/errors_raise.hpp"
