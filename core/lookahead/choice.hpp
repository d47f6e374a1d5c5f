// The test that a node takes after looking ahead.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "lookahead/build.hpp"
#include "lookahead/lookahead.hpp"
#include "running/parallel.hpp"

namespace hornbeam {

/// A test that was looked at, its place among all tests of the node, and its exact total.
struct SeenTest {
    NodeTest test;
    std::int64_t number = 0;
    std::uint32_t total = 0;
};

/// Evaluates the tests of a node, on several threads where it pays. Results do not depend on them.
class TestChoice {
  public:
    TestChoice(const Lookahead &lookahead, const Effort &effort, Cancel &cancel);

    Sampler &sampler() { return *samplers_.front(); }
    ChosenTest choose(const NodeView &node, std::uint64_t key);
    /// All tests that are looked at, in order.
    std::vector<SeenTest> totals(const NodeView &node, std::uint64_t key);
    const std::vector<std::uint64_t> &sides() const { return sides_; }

  private:
    /// One evaluation of a test: the trees of the keys from `first` on.
    struct Trial {
        double gain = 0.0; // the test's
        std::uint64_t first = 0;
        std::uint32_t test = 0;
    };

    const LookaheadOptions options_;
    Effort effort_;
    Cancel &cancel_;
    std::vector<std::unique_ptr<Sampler>> samplers_; // one a worker
    Workers workers_;
    std::vector<std::vector<std::uint64_t>> masks_;
    std::span<const NodeTest> tests_; // the first sampler's: there may be millions
    std::vector<std::uint64_t> sides_;
    std::vector<Trial> trials_; // by gain, then in the order of tests
    std::atomic<std::uint64_t> best_{0};

    void read_tests(const NodeView &node, TestRange range);
    void plan(const NodeView &node, std::uint64_t key);
    void plan_all(std::uint32_t begin, std::uint32_t end);
    void plan_cuts(const NodeView &node, std::uint64_t key, std::uint32_t begin, std::uint32_t end);
    std::uint64_t draws(const NodeView &node, std::uint32_t cuts) const;
    std::size_t trials_of_cuts(const NodeView &node) const;
    void order();
    std::uint32_t total(const NodeView &node, const Trial &trial, std::uint64_t key, std::uint32_t limit,
                        unsigned worker);
    void evaluate(const NodeView &node, std::size_t t, std::uint64_t key, unsigned worker);
    void run(const NodeView &node, std::uint64_t key);
};

} // namespace hornbeam
