// C4.5's error-based pruning. The training rows lie in one array, those of a node side by side; a node is
// judged after its children. What raising a branch would cost is found by sending only the rows of the
// *other* branches down it: at most half of a node's rows in a binary tree, and no more of them than it takes
// to see that it does not pay. A branch that is raised is judged anew, but only where rows have come in: a
// subtree that was pruned with the same rows would come out as it is.
#include "hornbeam/prune.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "expected_errors.hpp"
#include "hornbeam/criteria/entropy.hpp"
#include "hornbeam/criteria/gini.hpp"
#include "prune_rows.hpp"
#include "prune_shape.hpp"

namespace hornbeam {

namespace {

constexpr double slack = 0.1;
constexpr std::size_t at_once = 1024;   // guests that are sent without a look at the clock
constexpr std::uint32_t first_look = 4; // guests after which a first judgement is tried

double impurity_of(const ClassCounts &counts, std::string_view criterion) {
    static const XlogTable xlog;
    if (criterion == "gini" || criterion == "correlation") return Gini{}.impurity(counts);
    return Entropy{&xlog}.impurity(counts);
}

class ErrorPruner {
  public:
    ErrorPruner(const FlatTree &tree, const PruneRows &rows, double confidence, std::string_view criterion,
                Cancel &cancel);
    Pruned prune();

  private:
    /// What is known of a node and the rows at it.
    struct Node {
        std::uint32_t begin = 0, end = 0; // of the rows in `order_`
        std::int32_t parent = -1;
        std::int32_t place = 0;
        double as_leaf = 0;  // expected errors of the node as a leaf
        double expected = 0; // and of what stands below it
        double most = 0;     // rows of the class it predicts
        std::uint32_t size() const { return end - begin; }
    };

    std::size_t standing(std::size_t place) const { return static_cast<std::size_t>(shape_.standing[place]); }
    template <class Visit> void visit_children(std::size_t node, Visit visit) const {
        auto first = static_cast<std::size_t>(tree_.first_child[node]);
        auto many = static_cast<std::size_t>(tree_.n_children[node]);
        for (std::size_t place = first; place < first + many; ++place) visit(standing(place));
    }
    template <class Visit> void visit_counts(std::size_t node, Visit visit) const {
        if (shape_.recounted[node] >= 0) {
            for (const ClassCount &c :
                 shape_.recounts[static_cast<std::size_t>(shape_.recounted[node])].counts)
                visit(c.code, c.count);
            return;
        }
        for (auto i = static_cast<std::size_t>(tree_.count_start[node]);
             i < static_cast<std::size_t>(tree_.count_start[node + 1]); ++i)
            visit(tree_.count_class[i], tree_.count[i]);
    }

    void judge(std::size_t place);
    double if_raised(std::size_t node, std::size_t branch, double below, double as_leaf);
    void send(std::size_t branch, const Node &all, const Node &own, std::size_t stop);
    double at_least(std::size_t branch);
    double with_guests(std::size_t leaf);
    double sum_with_guests(std::size_t branch);
    void forget_guests();
    void raise(std::size_t place, std::size_t branch);
    void lay_out(std::size_t branch, std::uint32_t begin, std::uint32_t end);
    void recount(std::size_t node);
    void keep_counts(std::size_t node);

    const FlatTree &tree_;
    const PruneRows &rows_;
    std::string_view criterion_;
    Cancel &cancel_;
    Shape shape_;
    Sender sender_; // sees who stands where
    ExpectedErrors expect_;
    bool rises_;
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> order_;  // the rows, leaf after leaf
    std::vector<std::uint32_t> moved_;  // scratch for `order_`
    std::vector<std::uint32_t> places_; // still to be judged, the next one last

    // Guests: rows of other branches, sent down a branch to see what would come of it. They hang at the leaf
    // that they reached, in a list.
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> first_guest_; // by leaf
    std::vector<std::uint32_t> next_guest_;  // by position in `guests_`
    std::vector<std::uint32_t> guests_;      // rows
    std::vector<std::uint32_t> reached_;     // scratch: their leaves
    std::vector<std::int32_t> visited_;      // leaves with guests; later also the nodes above them
    std::vector<std::uint8_t> is_visited_;
    std::vector<double> fresh_; // expected errors of a visited node with its guests
    std::vector<double> tally_; // by class, zero between uses
    std::vector<std::int32_t> tallied_;
};

ErrorPruner::ErrorPruner(const FlatTree &tree, const PruneRows &rows, double confidence,
                         std::string_view criterion, Cancel &cancel)
    : tree_(tree), rows_(rows), criterion_(criterion), cancel_(cancel), shape_(tree),
      sender_(tree, rows, shape_.standing), expect_(confidence), rises_(expect_.rises()),
      nodes_(tree.n_nodes()), moved_(rows.n_rows), first_guest_(tree.n_nodes(), none),
      is_visited_(tree.n_nodes(), 0), fresh_(tree.n_nodes()),
      tally_(static_cast<std::size_t>(tree.n_classes), 0.0) {
    std::vector<std::uint32_t> begin, end;
    order_ = rows_by_leaf(tree, rows, begin, end, cancel);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        Node &node = nodes_[i];
        node.begin = begin[i], node.end = end[i];
        node.place = static_cast<std::int32_t>(i);
        node.most = tree.count[predicted(tree, i)];
        node.as_leaf = expect_(tree.weight[i], tree.weight[i] - node.most);
        for (std::int32_t c = 0; c < tree.n_children[i]; ++c)
            nodes_[static_cast<std::size_t>(tree.first_child[i] + c)].parent = static_cast<std::int32_t>(i);
    }
}

Pruned ErrorPruner::prune() {
    // Places are numbered from the root down, so taken from the end children come before their parents.
    places_.resize(nodes_.size());
    std::iota(places_.begin(), places_.end(), 0u);
    while (!places_.empty()) {
        std::size_t place = places_.back();
        places_.pop_back();
        judge(place);
        if (places_.size() % 256 == 0) cancel_.poll();
    }
    ClassCounts counts(tally_.size());
    for (Recount &r : shape_.recounts) {
        counts.clear();
        counts.n = r.rows;
        for (const ClassCount &c : r.counts)
            counts.c[static_cast<std::size_t>(c.code)] = static_cast<std::int64_t>(c.count);
        r.impurity = impurity_of(counts, criterion_);
    }
    return rebuild(tree_, shape_);
}

void ErrorPruner::judge(std::size_t place) {
    std::size_t at = standing(place), largest = 0;
    Node &node = nodes_[at];
    if (shape_.leaf[at]) {
        node.expected = node.as_leaf;
        return;
    }
    double below = 0.0;
    std::uint32_t most = 0;
    visit_children(at, [&](std::size_t child) {
        below += nodes_[child].expected;
        if (nodes_[child].size() > most) most = nodes_[child].size(), largest = child;
    });
    double raised = if_raised(at, largest, below, node.as_leaf);
    if (node.as_leaf <= raised + slack && node.as_leaf <= below + slack) {
        shape_.leaf[at] = 1;
        sender_.close(at, place);
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
double ErrorPruner::if_raised(std::size_t node, std::size_t branch, double below, double as_leaf) {
    const Node &all = nodes_[node], &own = nodes_[branch];
    const std::uint32_t others = all.size() - own.size();
    // The leaf is out of the question above below + slack; else it is it or the branch that wins.
    double matters = as_leaf <= below + slack ? as_leaf - slack : below + slack;
    std::uint32_t goal = rises_ ? 0 : others;
    for (;;) {
        send(branch, all, own, std::min(goal, others));
        if (guests_.size() == others) return sum_with_guests(branch);
        double least = at_least(branch);
        if (least > matters + 1e-6 * (1.0 + least)) return std::numeric_limits<double>::infinity();
        goal = std::max(2 * goal, first_look);
    }
}

/// Of the rows that are at the node and not at the branch, the first `stop` become guests.
void ErrorPruner::send(std::size_t branch, const Node &all, const Node &own, std::size_t stop) {
    std::uint32_t before = own.begin - all.begin;
    while (guests_.size() < stop) {
        std::size_t first = guests_.size(), last = std::min(stop, first + at_once);
        for (std::size_t i = first; i < last; ++i)
            guests_.push_back(order_[i < before ? all.begin + i : own.end + (i - before)]);
        reached_.resize(last - first);
        sender_.walk(branch, std::span(guests_).subspan(first), reached_.data());
        for (std::size_t i = first; i < last; ++i) {
            std::uint32_t leaf = reached_[i - first];
            if (!is_visited_[leaf]) {
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
double ErrorPruner::with_guests(std::size_t leaf) {
    visit_counts(leaf, [&](std::int32_t code, double count) {
        tally_[static_cast<std::size_t>(code)] = count;
        tallied_.push_back(code);
    });
    const Node &node = nodes_[leaf];
    double n = static_cast<double>(node.size()), most = node.most;
    for (std::uint32_t g = first_guest_[leaf]; g != none; g = next_guest_[g]) {
        auto code = rows_.classes[guests_[g]];
        if (tally_[code] == 0.0) tallied_.push_back(code);
        tally_[code] += 1.0;
        most = std::max(most, tally_[code]);
        n += 1.0;
    }
    for (std::int32_t code : tallied_) tally_[static_cast<std::size_t>(code)] = 0.0;
    tallied_.clear();
    return expect_(n, n - most);
}

/// What the branch is expected to get wrong with the guests that have come so far: more of them will not make
/// it less. Up to rounding.
double ErrorPruner::at_least(std::size_t branch) {
    double sum = nodes_[branch].expected;
    for (std::int32_t leaf : visited_) {
        auto at = static_cast<std::size_t>(leaf);
        sum += with_guests(at) - nodes_[at].expected;
    }
    return sum;
}

/// The sum over the leaves of the branch, children first and in order; only the nodes above guests have
/// changed.
double ErrorPruner::sum_with_guests(std::size_t branch) {
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
    std::sort(visited_.begin(), visited_.end());
    for (std::size_t i = visited_.size(); i-- > 0;) {
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

void ErrorPruner::forget_guests() {
    for (std::int32_t node : visited_) {
        is_visited_[static_cast<std::size_t>(node)] = 0;
        first_guest_[static_cast<std::size_t>(node)] = none;
    }
    visited_.clear();
    guests_.clear();
    next_guest_.clear();
}

/// The branch takes the place with all its rows: the guests stay, and what they have changed is judged anew.
void ErrorPruner::raise(std::size_t place, std::size_t branch) {
    const Node &old = nodes_[standing(place)];
    std::uint32_t begin = old.begin, end = old.end;
    nodes_[branch].parent = old.parent;
    nodes_[branch].place = static_cast<std::int32_t>(place);
    shape_.standing[place] = static_cast<std::int32_t>(branch);
    if (shape_.leaf[branch]) sender_.close(branch, place);
    lay_out(branch, begin, end);
    for (std::size_t i = visited_.size(); i-- > 0;) recount(static_cast<std::size_t>(visited_[i]));
    for (std::int32_t node : visited_)
        places_.push_back(static_cast<std::uint32_t>(nodes_[static_cast<std::size_t>(node)].place));
}

/// The rows of the branch and its guests, leaf after leaf, in the place that its parent's rows had.
void ErrorPruner::lay_out(std::size_t branch, std::uint32_t begin, std::uint32_t end) {
    std::uint32_t at = begin;
    std::vector<std::size_t> waiting{branch}, inner;
    while (!waiting.empty()) {
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
        for (std::uint32_t i = it.begin; i < it.end; ++i) moved_[at++] = order_[i];
        for (std::uint32_t g = first_guest_[node]; g != none; g = next_guest_[g]) moved_[at++] = guests_[g];
        it.begin = from;
        it.end = at;
    }
    // In reverse preorder every child is complete before its parent.
    for (std::size_t i = inner.size(); i-- > 0;)
        visit_children(inner[i], [&](std::size_t child) { nodes_[inner[i]].end = nodes_[child].end; });
    std::copy(moved_.begin() + begin, moved_.begin() + end, order_.begin() + begin);
}

/// Counts of a node whose rows have changed: of a leaf with its guests, else of its children.
void ErrorPruner::recount(std::size_t at) {
    auto take = [&](std::int32_t code, double count) {
        double &sum = tally_[static_cast<std::size_t>(code)];
        if (sum == 0.0) tallied_.push_back(code);
        sum += count;
    };
    if (shape_.leaf[at]) {
        visit_counts(at, take);
        for (std::uint32_t g = first_guest_[at]; g != none; g = next_guest_[g])
            take(static_cast<std::int32_t>(rows_.classes[guests_[g]]), 1.0);
    } else {
        visit_children(at, [&](std::size_t child) { visit_counts(child, take); });
    }
    keep_counts(at);
}

/// The tally becomes the counts of the node.
void ErrorPruner::keep_counts(std::size_t at) {
    if (shape_.recounted[at] < 0) {
        shape_.recounted[at] = static_cast<std::int32_t>(shape_.recounts.size());
        shape_.recounts.emplace_back();
    }
    Recount &r = shape_.recounts[static_cast<std::size_t>(shape_.recounted[at])];
    Node &node = nodes_[at];
    std::sort(tallied_.begin(), tallied_.end());
    r.counts.clear();
    node.most = 0.0;
    for (std::int32_t code : tallied_) {
        double &count = tally_[static_cast<std::size_t>(code)];
        r.counts.push_back({code, count});
        node.most = std::max(node.most, count);
        count = 0.0;
    }
    tallied_.clear();
    r.rows = node.size();
    r.weight = static_cast<double>(node.size());
    node.as_leaf = expect_(r.weight, r.weight - node.most);
}

} // namespace

Pruned prune_by_errors(const FlatTree &tree, const PruneRows &rows, double confidence,
                       std::string_view criterion, Cancel &cancel) {
    if (tree.n_nodes() == 1) return rebuild(tree, Shape(tree));
    return ErrorPruner(tree, rows, confidence, criterion, cancel).prune();
}

} // namespace hornbeam
