// Grafting of parts grown apart, and reading one set's tree out of the forest.
#include "tree/forest.hpp"

#include <algorithm>
#include <stdexcept>

namespace hornbeam {

void GrownSet::graft(std::size_t record, const GrownSet &part) {
    const auto first_record = static_cast<std::int32_t>(records.size()) - 1; // the root is there already
    const auto first_test = static_cast<std::int32_t>(tests.size());
    const std::size_t n_counts = part.records[0].n_counts;
    const bool brief = part.weight.empty() && part.records[0].short_counts();
    auto moved = [&](std::int32_t test) { return test < 0 ? test : test + first_test; };
    const std::int32_t others = records[record].test; // of other settings
    records[record].test = moved(part.records[0].test);
    for (std::size_t i = 1; i < part.records.size(); ++i) {
        records.push_back(part.records[i]);
        records[records.size() - 1].test = moved(part.records[i].test);
    }
    for (std::size_t i = 0; i < part.tests.size(); ++i) {
        tests.push_back(part.tests[i]);
        tests[tests.size() - 1].first_child += first_record;
    }
    settings.append(part.settings);
    for (std::size_t i = 0; i < part.next.size(); ++i) next.push_back(moved(part.next[i]));
    if (others >= 0) put_last(record, others);
    weight.append(part.weight, 1);
    count_class.append(part.count_class, n_counts);
    count.append(part.count, brief ? n_counts : 0);
    weighed_count.append(part.weighed_count, brief ? 0 : n_counts);
    mean.append(part.mean, part.mean.size() / part.records.size());
    branch_code.append(part.branch_code);
    branch_child.append(part.branch_child);
    competitors.append(part.competitors);
}

void GrownSet::put_last(std::size_t record, std::int32_t test) {
    std::int32_t *last = &records[record].test;
    while (*last >= 0) last = &next[static_cast<std::size_t>(*last)];
    *last = test;
}

void Forest::graft(std::span<const LanePlace> node, const Forest &part) {
    costs.add(part.costs);
    n_nodes += part.n_nodes - 1;
    for (const LanePlace &lane : node)
        of(lane.set).graft(lane.record, part.sets[static_cast<std::size_t>(lane.set)]);
}

namespace {

/// Where the entries of each record and of each test begin.
struct Places {
    std::vector<std::uint64_t> classes, counts, branches, competitors;

    explicit Places(const GrownSet &grown) {
        const std::size_t n = grown.records.size(), n_tests = grown.tests.size();
        classes.reserve(n), counts.reserve(n), branches.reserve(n_tests), competitors.reserve(n_tests);
        std::uint64_t all = 0, brief = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const LaneRecord &r = grown.records[i];
            const bool own = grown.weight.empty() && r.short_counts();
            classes.push_back(all);
            counts.push_back(own ? brief : all - brief);
            all += r.n_counts;
            if (own) brief += r.n_counts;
        }
        std::uint64_t branch = 0, competitor = 0;
        for (std::size_t i = 0; i < n_tests; ++i) {
            branches.push_back(branch);
            competitors.push_back(competitor);
            branch += grown.tests[i].n_branches;
            for (const std::uint64_t end = competitor + grown.tests[i].n_competitors; competitor < end;)
                branch += grown.competitors[competitor++].n_branches;
        }
    }
};

/// Writes the tree of one set, node after node.
class Extraction {
  public:
    Extraction(const Forest &forest, const GrownSet &grown, std::uint32_t setting)
        : grown_(grown), setting_(setting), at_(grown), keeps_competitors_(forest.keeps_competitors),
          n_targets_(static_cast<std::size_t>(forest.n_targets)) {
        tree_.n_classes = forest.n_classes;
        tree_.n_targets = forest.n_targets;
        if (forest.n_settings == 1) reserve();
        tree_.branch_start.push_back(0);
        tree_.count_start.push_back(0);
        if (keeps_competitors_) tree_.competitors.start = tree_.competitors.branch_start = {0};
    }

    FlatTree breadth_first(Cancel &cancel, std::vector<std::uint32_t> *records) {
        std::vector<std::uint32_t> queue{0}; // records
        queue.reserve(grown_.records.size());
        for (std::size_t at = 0; at < queue.size(); ++at) {
            if (at % 8192 == 8191) cancel.poll();
            const std::int32_t test = grown_.test_at(queue[at], setting_);
            append_record(queue[at]);
            if (test < 0) {
                append_leaf();
            } else {
                const auto t = static_cast<std::size_t>(test);
                const auto first = static_cast<std::uint32_t>(grown_.tests[t].first_child);
                const std::size_t n = append_test(t, static_cast<std::int32_t>(queue.size()));
                for (std::uint32_t child = 0; child < n; ++child) queue.push_back(first + child);
            }
            tree_.branch_start.push_back(static_cast<std::int64_t>(tree_.branch_code.size()));
            if (keeps_competitors_) append_competitors(test);
        }
        if (records != nullptr) *records = std::move(queue);
        return std::move(tree_);
    }

    FlatTree all_records(Cancel &cancel) {
        for (std::size_t i = 0; i < grown_.records.size(); ++i) {
            if (i % 8192 == 8191) cancel.poll();
            append_record(i);
            append_leaf();
            tree_.branch_start.push_back(0);
        }
        return std::move(tree_);
    }

  private:
    const GrownSet &grown_;
    const std::uint32_t setting_;
    const Places at_;
    const bool keeps_competitors_;
    const std::size_t n_targets_;
    FlatTree tree_;
    std::vector<std::int32_t> reached_; // children of the node that the set reaches, ascending

    /// What is kept has no room to spare.
    void reserve() {
        const std::size_t n = grown_.records.size();
        tree_.kind.reserve(n), tree_.attribute.reserve(n), tree_.first_child.reserve(n);
        tree_.n_children.reserve(n), tree_.default_child.reserve(n), tree_.threshold.reserve(n);
        tree_.threshold_integer.reserve(n), tree_.rows.reserve(n), tree_.weight.reserve(n);
        tree_.impurity.reserve(n), tree_.gain.reserve(n), tree_.mean.reserve(grown_.mean.size());
        tree_.branch_start.reserve(n + 1), tree_.count_start.reserve(n + 1);
        tree_.count_class.reserve(grown_.count_class.size()), tree_.count.reserve(grown_.count_class.size());
        std::size_t branches = 0;
        for (std::size_t i = 0; i < grown_.tests.size(); ++i) branches += grown_.tests[i].n_branches;
        tree_.branch_code.reserve(branches), tree_.branch_child.reserve(branches);
    }

    void append_record(std::size_t i) {
        const LaneRecord &r = grown_.records[i];
        const bool weighed = !grown_.weight.empty();
        tree_.rows.push_back(static_cast<std::int64_t>(r.rows));
        tree_.weight.push_back(weighed ? grown_.weight[i] : static_cast<double>(r.rows));
        tree_.impurity.push_back(r.impurity);
        for (std::uint64_t k = 0; k < r.n_counts; ++k) {
            const std::uint64_t at = at_.counts[i] + k;
            tree_.count_class.push_back(grown_.count_class[at_.classes[i] + k]);
            tree_.count.push_back(!weighed && r.short_counts() ? static_cast<double>(grown_.count[at])
                                                               : grown_.weighed_count[at]);
        }
        tree_.count_start.push_back(static_cast<std::int64_t>(tree_.count.size()));
        for (std::size_t k = 0; k < n_targets_; ++k) tree_.mean.push_back(grown_.mean[i * n_targets_ + k]);
    }

    void append_leaf() {
        tree_.kind.push_back(static_cast<std::uint8_t>(TestKind::leaf));
        tree_.attribute.push_back(-1);
        tree_.first_child.push_back(-1);
        tree_.n_children.push_back(0);
        tree_.default_child.push_back(-1);
        tree_.threshold.push_back(0.0);
        tree_.threshold_integer.push_back(0);
        tree_.gain.push_back(0.0);
    }

    /// Returns the number of children.
    std::size_t append_test(std::size_t t, std::int32_t first_child) {
        const LaneTest &test = grown_.tests[t];
        const std::uint64_t begin = at_.branches[t], end = begin + test.n_branches;
        find_reached(test, begin, end);
        tree_.kind.push_back(static_cast<std::uint8_t>(test.kind));
        tree_.attribute.push_back(test.attribute);
        tree_.first_child.push_back(first_child);
        tree_.n_children.push_back(static_cast<std::int32_t>(reached_.size()));
        tree_.default_child.push_back(place(test.default_child));
        tree_.threshold.push_back(test.integer ? 0.0 : test.threshold);
        tree_.threshold_integer.push_back(test.integer ? test.threshold_integer : 0);
        tree_.gain.push_back(test.gain);
        for (std::uint64_t i = begin; i < end; ++i) {
            const std::int32_t child = grown_.branch_child[i];
            tree_.branch_code.push_back(grown_.branch_code[i]);
            tree_.branch_child.push_back(child < 0 ? -1 : place(child));
        }
        return reached_.size();
    }

    void find_reached(const LaneTest &test, std::uint64_t begin, std::uint64_t end) {
        reached_.clear();
        if (test.kind == TestKind::multiway) {
            for (std::uint64_t i = begin; i < end; ++i) reached_.push_back(grown_.branch_child[i]);
            std::sort(reached_.begin(), reached_.end());
            reached_.erase(std::unique(reached_.begin(), reached_.end()), reached_.end());
        } else {
            reached_ = {0, 1};
        }
    }
    std::int32_t place(std::int32_t child) const {
        return static_cast<std::int32_t>(std::lower_bound(reached_.begin(), reached_.end(), child) -
                                         reached_.begin());
    }

    void append_competitors(std::int32_t taken) {
        FlatCompetitors &to = tree_.competitors;
        if (taken >= 0) {
            const auto t = static_cast<std::size_t>(taken);
            const LaneTest &test = grown_.tests[t];
            std::uint64_t branch = at_.branches[t] + test.n_branches;
            for (std::uint64_t i = 0; i < test.n_competitors; ++i)
                append_competitor(grown_.competitors[at_.competitors[t] + i], branch);
        }
        to.start.push_back(static_cast<std::int64_t>(to.kind.size()));
    }
    void append_competitor(const Competitor &c, std::uint64_t &branch) {
        FlatCompetitors &to = tree_.competitors;
        to.kind.push_back(static_cast<std::uint8_t>(c.kind));
        to.attribute.push_back(c.attribute);
        to.default_child.push_back(c.default_child);
        to.threshold.push_back(c.threshold);
        to.threshold_integer.push_back(c.threshold_integer);
        to.quality.push_back(c.quality);
        to.gain.push_back(c.gain);
        for (const std::uint64_t end = branch + c.n_branches; branch < end; ++branch) {
            to.branch_code.push_back(grown_.branch_code[branch]);
            to.branch_child.push_back(grown_.branch_child[branch]);
        }
        to.branch_start.push_back(static_cast<std::int64_t>(to.branch_code.size()));
    }
};

} // namespace

const GrownSet &Forest::kept(std::int32_t set) const {
    const GrownSet &grown = sets[static_cast<std::size_t>(set)];
    if (grown.records.empty()) throw std::invalid_argument("the tree of this training set was released");
    return grown;
}

FlatTree Forest::extract(std::int32_t set, std::uint32_t setting, Cancel &cancel,
                         std::vector<std::uint32_t> *records) const {
    return Extraction(*this, kept(set), setting).breadth_first(cancel, records);
}

FlatTree Forest::nodes(std::int32_t set, Cancel &cancel) const {
    return Extraction(*this, kept(set), 0).all_records(cancel);
}

} // namespace hornbeam
