// The judge of a tree that came from outside: sizes first, then the shape, then node by node.
#include "tree/verify.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace hornbeam {

namespace {

[[noreturn]] void refuse(const std::string &what) { throw InvalidTree("tree: " + what); }

[[noreturn]] void refuse(std::size_t node, const std::string &what) {
    throw InvalidTree("node " + std::to_string(node) + ": " + what);
}

std::string text(std::int64_t number) { return std::to_string(number); }

void require_size(const char *field, std::size_t size, std::size_t expected) {
    if (size == expected) return;
    refuse(std::string(field) + " has " + std::to_string(size) + " entries where " +
           std::to_string(expected) + " belong");
}

void verify_sizes(const FlatTree &t) {
    std::size_t n = t.n_nodes();
    if (n == 0) refuse("no node at all");
    if (n > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
        refuse(std::to_string(n) + " nodes; at most 2147483647 are allowed");
    if (t.n_classes < 0 || t.n_targets < 0 || (t.n_classes > 0) == (t.n_targets > 0))
        refuse("n_classes " + text(t.n_classes) + " and n_targets " + text(t.n_targets) +
               "; exactly one of them is positive");
    require_size("attribute", t.attribute.size(), n);
    require_size("first_child", t.first_child.size(), n);
    require_size("n_children", t.n_children.size(), n);
    require_size("default_child", t.default_child.size(), n);
    require_size("threshold", t.threshold.size(), n);
    require_size("threshold_integer", t.threshold_integer.size(), n);
    require_size("rows", t.rows.size(), n);
    require_size("weight", t.weight.size(), n);
    require_size("impurity", t.impurity.size(), n);
    require_size("gain", t.gain.size(), n);
    require_size("branch_start", t.branch_start.size(), n + 1);
    require_size("branch_child", t.branch_child.size(), t.branch_code.size());
    require_size("count", t.count.size(), t.count_class.size());
    if (t.n_targets == 0 || !t.count_start.empty()) require_size("count_start", t.count_start.size(), n + 1);
    if (t.n_targets > 0) require_size("count_class", t.count_class.size(), 0);
    require_size("mean", t.mean.size(), n * static_cast<std::size_t>(t.n_targets));
}

void verify_starts(const char *field, const std::vector<std::int64_t> &start, std::size_t size) {
    if (start.empty()) return;
    if (start.front() != 0) refuse(std::string(field) + " begins at " + text(start.front()) + ", not at 0");
    for (std::size_t i = 1; i < start.size(); ++i)
        if (start[i] < start[i - 1]) refuse(i - 1, std::string(field) + " goes down to " + text(start[i]));
    if (start.back() != static_cast<std::int64_t>(size))
        refuse(std::string(field) + " ends at " + text(start.back()) + " where there are " +
               std::to_string(size) + " entries");
}

void verify_leaf(const FlatTree &t, std::size_t i) {
    if (t.attribute[i] != -1 || t.first_child[i] != -1 || t.n_children[i] != 0 || t.default_child[i] != -1)
        refuse(i, "a leaf with an attribute, a child or a default branch");
    if (t.gain[i] != 0.0) refuse(i, "a leaf with a gain");
    if (t.branch_start[i] != t.branch_start[i + 1]) refuse(i, "a leaf with branches");
}

/// Children come later than their node, so no path can close to a cycle.
void verify_children(const FlatTree &t, std::size_t i, TestKind kind, std::vector<bool> &has_parent) {
    std::int64_t first = t.first_child[i], n = t.n_children[i];
    if (kind == TestKind::multiway ? n < 2 : n != 2)
        refuse(i, text(n) + " children; " +
                      (kind == TestKind::multiway ? "a multiway test has at least 2" : "its test has 2"));
    if (first <= static_cast<std::int64_t>(i))
        refuse(i, "first child " + text(first) + " does not come after it");
    if (first + n > static_cast<std::int64_t>(t.n_nodes()))
        refuse(i, "children " + text(first) + " to " + text(first + n - 1) + " of " +
                      std::to_string(t.n_nodes()) + " nodes");
    if (t.default_child[i] < 0 || t.default_child[i] >= n)
        refuse(i, "default child " + text(t.default_child[i]) + " of " + text(n) + " children");
    for (std::int64_t child = first; child < first + n; ++child) {
        if (has_parent[static_cast<std::size_t>(child)])
            refuse(static_cast<std::size_t>(child), "it has two parents");
        has_parent[static_cast<std::size_t>(child)] = true;
    }
}

void verify_numeric(const FlatTree &t, std::size_t i, AttributeKind attribute) {
    if (attribute == AttributeKind::nominal) refuse(i, "a numeric test on a nominal attribute");
    if (attribute == AttributeKind::floating && std::isnan(t.threshold[i]))
        refuse(i, "the threshold is not a number");
    if (t.branch_start[i] != t.branch_start[i + 1]) refuse(i, "a numeric test with branches of categories");
}

void verify_nominal(const FlatTree &t, std::size_t i, TestKind kind, std::int64_t n_categories) {
    auto begin = static_cast<std::size_t>(t.branch_start[i]),
         end = static_cast<std::size_t>(t.branch_start[i + 1]);
    std::int64_t previous = -1, n_first = 0, n_others = 0, n_default = 0, absent = 0;
    if (kind == TestKind::multiway && end - begin != static_cast<std::size_t>(t.n_children[i]))
        refuse(i, "a multiway test with " + std::to_string(end - begin) + " categories and " +
                      text(t.n_children[i]) + " children");
    for (std::size_t b = begin; b < end; ++b) {
        std::int64_t code = t.branch_code[b], child = t.branch_child[b];
        if (code <= previous) refuse(i, "category code " + text(code) + " does not ascend");
        if (n_categories >= 0 && code >= n_categories)
            refuse(i, "category code " + text(code) + " of " + text(n_categories) + " categories");
        if (child < (kind == TestKind::multiway ? 0 : -1) || child >= t.n_children[i])
            refuse(i, "a category goes to child " + text(child) + " of " + text(t.n_children[i]));
        if (kind == TestKind::multiway && child != static_cast<std::int64_t>(b - begin))
            refuse(i, "the branches of a multiway test are not in the order of the categories");
        ++(child < 0 ? absent : child == 0 ? n_first : n_others);
        n_default += child == t.default_child[i];
        previous = code;
    }
    // In brief it lists none for the default child; a second pass says whether it may.
    const bool brief = kind != TestKind::multiway && n_default == 0 && n_first + n_others > 0;
    if (!brief && absent > 0) refuse(i, "a category goes to child -1 of " + text(t.n_children[i]));
    if (!brief && (n_first == 0 || n_others == 0)) refuse(i, "all its categories go to one child");
    if (kind == TestKind::value && n_first != 1) refuse(i, "a value test with " + text(n_first) + " values");
}

void verify_numbers(const FlatTree &t, std::size_t i) {
    if (t.rows[i] < 0) refuse(i, text(t.rows[i]) + " rows");
    if (!std::isfinite(t.weight[i]) || t.weight[i] < 0.0) refuse(i, "the weight is negative or not finite");
    if (!std::isfinite(t.impurity[i])) refuse(i, "the impurity is not finite");
    if (!std::isfinite(t.gain[i])) refuse(i, "the gain is not finite");
}

void verify_counts(const FlatTree &t, std::size_t i) {
    auto begin = static_cast<std::size_t>(t.count_start[i]),
         end = static_cast<std::size_t>(t.count_start[i + 1]);
    std::int64_t previous = -1;
    double total = 0.0;
    for (std::size_t c = begin; c < end; ++c) {
        if (t.count_class[c] <= previous) refuse(i, "class " + text(t.count_class[c]) + " does not ascend");
        if (t.count_class[c] >= t.n_classes)
            refuse(i, "class " + text(t.count_class[c]) + " of " + text(t.n_classes) + " classes");
        if (!std::isfinite(t.count[c]) || t.count[c] < 0.0) refuse(i, "a count is negative or not finite");
        previous = t.count_class[c];
        total += t.count[c];
    }
    if (!(total > 0.0) || !std::isfinite(total)) refuse(i, "the counts add up to nothing or to infinity");
}

void verify_means(const FlatTree &t, std::size_t i) {
    auto q = static_cast<std::size_t>(t.n_targets);
    for (std::size_t k = i * q; k < (i + 1) * q; ++k)
        if (!std::isfinite(t.mean[k])) refuse(i, "a mean is not finite");
}

bool is_brief(const FlatTree &t, std::size_t i) {
    auto kind = static_cast<TestKind>(t.kind[i]);
    auto begin = t.branch_child.begin() + t.branch_start[i],
         end = t.branch_child.begin() + t.branch_start[i + 1];
    return (kind == TestKind::subset || kind == TestKind::value) &&
           std::find(begin, end, t.default_child[i]) == end;
}

/// The second pass, over a tree whose nodes are in order: whether brief tests name open categories and leave
/// one for the default child. It walks depth first and keeps, for each attribute, the categories that the
/// nearest test above sends here; every step is taken back on the way up, so that time is linear in the
/// branches.
class OpenWalk {
  public:
    OpenWalk(const FlatTree &t, std::span<const std::int32_t> n_categories, Cancel &cancel)
        : t_(t), pace_(cancel, 10) {
        for (std::int32_t n : n_categories) attributes_.push_back({{}, n, 0, 0});
    }
    void run() {
        std::vector<Visit> path{{0, 0}};
        while (!path.empty()) {
            pace_.step();
            auto [node, child] = path.back();
            if (child == 0 && is_brief(t_, node)) judge(node);
            if (child > 0) take_back();
            if (child == t_.n_children[node]) {
                path.pop_back();
                continue;
            }
            ++path.back().next_child;
            enter(node, child);
            path.push_back({static_cast<std::size_t>(t_.first_child[node] + child), 0});
        }
    }

  private:
    struct Visit {
        std::size_t node;
        std::int32_t next_child;
    };
    /// A category is open where its mark is the present frame; frame 0: no test above, all are open.
    struct Attribute {
        std::vector<std::int64_t> mark; // made at the first test
        std::int32_t n_categories;
        std::int64_t frame, open;
    };
    struct Step {
        std::int32_t attribute; // -1: a numeric test
        std::int64_t frame, open;
        std::size_t n_changes;
    };
    struct Change {
        std::int32_t code;
        std::int64_t mark;
    };
    const FlatTree &t_;
    Pace pace_; // of branches
    std::vector<Attribute> attributes_;
    std::vector<Step> steps_;
    std::vector<Change> changes_;
    std::int64_t frames_ = 0;

    void judge(std::size_t node) const {
        const Attribute &a = attributes_[static_cast<std::size_t>(t_.attribute[node])];
        auto begin = t_.branch_start[node], end = t_.branch_start[node + 1];
        if (a.frame == 0) refuse(node, "all its categories go to one child");
        for (auto b = static_cast<std::size_t>(begin); b < static_cast<std::size_t>(end); ++b)
            if (a.mark[static_cast<std::size_t>(t_.branch_code[b])] != a.frame)
                refuse(node, "no test above sends category code " + text(t_.branch_code[b]) + " here");
        if (a.open - (end - begin) < 1) refuse(node, "all its categories go to one child");
    }
    void enter(std::size_t node, std::int32_t child) {
        if (t_.kind[node] == static_cast<std::uint8_t>(TestKind::numeric))
            return steps_.push_back({-1, 0, 0, 0});
        Attribute &a = attributes_[static_cast<std::size_t>(t_.attribute[node])];
        if (a.mark.empty()) a.mark.assign(static_cast<std::size_t>(a.n_categories), 0);
        steps_.push_back({t_.attribute[node], a.frame, a.open, changes_.size()});
        auto begin = static_cast<std::size_t>(t_.branch_start[node]),
             end = static_cast<std::size_t>(t_.branch_start[node + 1]);
        const bool closes = child == t_.default_child[node] && is_brief(t_, node);
        if (closes) {
            a.open -= static_cast<std::int64_t>(end - begin);
        } else {
            a.frame = ++frames_;
            a.open = 0;
        }
        if (t_.kind[node] == static_cast<std::uint8_t>(TestKind::multiway))
            begin += static_cast<std::size_t>(child), end = begin + 1; // one category each, in order
        for (std::size_t b = begin; b < end; ++b) {
            pace_.step();
            if (!closes && t_.branch_child[b] != child) continue;
            std::int64_t &mark = a.mark[static_cast<std::size_t>(t_.branch_code[b])];
            changes_.push_back({t_.branch_code[b], mark});
            mark = closes ? -1 : a.frame;
            a.open += !closes;
        }
    }
    void take_back() {
        const Step step = steps_.back();
        steps_.pop_back();
        if (step.attribute < 0) return;
        Attribute &a = attributes_[static_cast<std::size_t>(step.attribute)];
        a.frame = step.frame;
        a.open = step.open;
        for (; changes_.size() > step.n_changes; changes_.pop_back())
            a.mark[static_cast<std::size_t>(changes_.back().code)] = changes_.back().mark;
    }
};

} // namespace

void verify_tree(const FlatTree &t, std::span<const std::uint8_t> kinds,
                 std::span<const std::int32_t> n_categories, Cancel &cancel) {
    if (!n_categories.empty() && n_categories.size() != kinds.size())
        refuse(std::to_string(n_categories.size()) + " numbers of categories for " +
               std::to_string(kinds.size()) + " attributes");
    verify_sizes(t);
    verify_starts("branch_start", t.branch_start, t.branch_code.size());
    verify_starts("count_start", t.count_start, t.count_class.size());
    std::vector<bool> has_parent(t.n_nodes(), false);
    bool any_brief = false;
    for (std::size_t i = 0; i < t.n_nodes(); ++i) {
        if (i % 8192 == 8191) cancel.poll();
        if (t.kind[i] > static_cast<std::uint8_t>(TestKind::multiway))
            refuse(i, "unknown kind of test " + text(t.kind[i]));
        auto kind = static_cast<TestKind>(t.kind[i]);
        // A parent comes before its children: an orphan is known as soon as it is met.
        if (i > 0 && !has_parent[i]) refuse(i, "it has no parent");
        verify_numbers(t, i);
        t.n_targets > 0 ? verify_means(t, i) : verify_counts(t, i);
        if (kind == TestKind::leaf) {
            verify_leaf(t, i);
            continue;
        }
        std::int64_t a = t.attribute[i];
        if (a < 0 || a >= static_cast<std::int64_t>(kinds.size()))
            refuse(i, "attribute " + text(a) + " of " + std::to_string(kinds.size()));
        if (kinds[static_cast<std::size_t>(a)] > static_cast<std::uint8_t>(AttributeKind::nominal))
            refuse("attribute " + text(a) + " is of unknown kind " +
                   text(kinds[static_cast<std::size_t>(a)]));
        auto attribute = static_cast<AttributeKind>(kinds[static_cast<std::size_t>(a)]);
        verify_children(t, i, kind, has_parent);
        if (kind == TestKind::numeric) {
            verify_numeric(t, i, attribute);
        } else {
            if (attribute != AttributeKind::nominal) refuse(i, "a nominal test on a numeric attribute");
            verify_nominal(t, i, kind, n_categories.empty() ? -1 : n_categories[static_cast<std::size_t>(a)]);
            any_brief = any_brief || is_brief(t, i);
        }
    }
    if (any_brief && !n_categories.empty()) OpenWalk(t, n_categories, cancel).run();
}

} // namespace hornbeam
