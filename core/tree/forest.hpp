// Trees grown together: what the growth of all training sets writes down, set by set.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "criteria/sizes.hpp"
#include "running/cancel.hpp"
#include "tree/blocks.hpp"
#include "tree/level_costs.hpp"
#include "tree/tree.hpp"

namespace hornbeam {

/// What a training set knows at a node of its tree.
struct LaneRecord {
    double impurity = 0.0;
    std::uint64_t rows = 0;
    std::int32_t test = -1; // among the tests of the set; -1: a leaf of its tree
    std::uint32_t n_counts = 0;

    /// Whether counts of rows are kept in half the room.
    bool short_counts() const { return rows >> 32 == 0; }
};

/// A test that a training set takes at a node, under some settings where there are several. Its children are
/// consecutive records of the set.
struct LaneTest {
    double gain = 0.0;
    union {
        double threshold = 0.0;
        std::int64_t threshold_integer; // where `integer`
    };
    std::int32_t attribute = -1;
    std::int32_t first_child = -1;
    std::int32_t default_child = -1; // by the children of the node, which may be more than those of the set
    std::uint32_t n_branches = 0;
    std::uint32_t n_competitors = 0;
    TestKind kind = TestKind::leaf;
    bool integer = false;
};

/// A test that a training set did not take at a node.
struct Competitor {
    double threshold = 0.0;
    std::int64_t threshold_integer = 0;
    double quality = 0.0;
    double gain = 0.0;
    std::int32_t attribute = -1;
    std::int32_t default_child = -1;
    std::uint32_t n_branches = 0;
    TestKind kind = TestKind::leaf;
};

/// The tree of one training set as it grows. What belongs to a record or a test lies behind what belongs to
/// those before it, so that numbers of entries say where: counts or means by record; competitors by test;
/// branches by test, its own before those of its competitors. Counts of rows are `count`, all others and
/// those of records without `short_counts` are `weighed_count`.
struct GrownSet {
    Blocks<LaneRecord> records;
    Blocks<LaneTest> tests;
    /// By test, where there are several settings: for which of them it is taken, and which other test of the
    /// same record comes next, -1 for none. Settings that no test of a record is for have a leaf there.
    Blocks<SettingRange> settings;
    Blocks<std::int32_t> next;
    Blocks<double> weight; // by record; empty where every row weighs 1
    Blocks<std::uint16_t> count_class;
    Blocks<std::uint32_t> count;
    Blocks<double> weighed_count;
    Blocks<double> mean; // n_targets to a record
    Blocks<std::int32_t> branch_code, branch_child;
    Blocks<Competitor> competitors;

    /// Puts a test down at a record.
    void add_test(std::size_t record, const LaneTest &test, SettingRange taken, bool several) {
        if (several) {
            settings.push_back(taken);
            next.push_back(records[record].test);
        }
        records[record].test = static_cast<std::int32_t>(tests.size());
        tests.push_back(test);
    }
    /// The test at a record under a setting; -1: none.
    std::int32_t test_at(std::size_t record, std::uint32_t setting) const {
        std::int32_t test = records[record].test;
        if (settings.size() == 0) return test;
        auto serves = [&](SettingRange range) { return range.first <= setting && setting < range.last; };
        while (test >= 0 && !serves(settings[static_cast<std::size_t>(test)]))
            test = next[static_cast<std::size_t>(test)];
        return test;
    }
    void add_branch(std::int32_t code, std::int32_t child) {
        branch_code.push_back(code);
        branch_child.push_back(child);
    }
    /// Puts a tree grown apart in the place of a record; its root becomes that record.
    void graft(std::size_t record, const GrownSet &part);

  private:
    /// Puts tests that a record had before behind those that it has now.
    void put_last(std::size_t record, std::int32_t test);
};

/// A training set at a node, by its record there.
struct LanePlace {
    std::int32_t set = 0;
    std::uint64_t record = 0;
};

struct Forest {
    std::int32_t n_sets = 1;
    std::uint32_t n_settings = 1;
    std::int32_t n_classes = 0;
    std::int32_t n_targets = 0;
    std::size_t n_nodes = 0; // a node that several sets share counts once
    std::vector<GrownSet> sets;
    std::vector<std::vector<double>> class_weight; // of each set, where classes weigh differently
    bool keeps_competitors = false;
    LevelCosts costs;
    std::vector<std::uint32_t> order; // of one set: its rows, leaf after leaf in preorder

    /// Whether it is one tree.
    bool lone() const { return n_sets == 1 && n_settings == 1; }
    GrownSet &of(std::int32_t set) { return sets[static_cast<std::size_t>(set)]; }
    /// Puts a forest grown apart in the place of a node.
    void graft(std::span<const LanePlace> node, const Forest &part);
    /// The tree of one training set under one setting, breadth first; `records` are told whose its nodes are.
    FlatTree extract(std::int32_t set, std::uint32_t setting, Cancel &cancel,
                     std::vector<std::uint32_t> *records = nullptr) const;
    /// What the set knows at each of its records, as so many leaves: the nodes of its trees under all
    /// settings.
    FlatTree nodes(std::int32_t set, Cancel &cancel) const;
    /// Forgets the trees of one training set.
    void release(std::int32_t set) { of(set) = {}; }

  private:
    const GrownSet &kept(std::int32_t set) const;
};

} // namespace hornbeam
