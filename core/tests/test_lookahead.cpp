// Lookahead under the sanitizers: kernels, representations, aborts and threads give one tree.
#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "check.hpp"
#include "kernels/kernels.hpp"
#include "lookahead/lookahead.hpp"

using namespace hornbeam;

namespace {

constexpr std::size_t rows = 130, n_classes = 3;

NumericColumn numbers(int n_values, std::mt19937 &random) {
    std::uniform_int_distribution<int> value(0, n_values - 1);
    std::vector<std::pair<int, std::uint32_t>> sorted;
    for (std::uint32_t row = 0; row < rows; ++row)
        if (row % 17 != 0) sorted.emplace_back(value(random), row);
    std::sort(sorted.begin(), sorted.end());
    NumericColumn column;
    for (auto [v, row] : sorted) {
        if (column.floats.empty() || column.floats.back() != v) column.floats.push_back(v);
        column.entries.push_back(make_entry(static_cast<std::uint32_t>(column.floats.size() - 1), row));
    }
    return column;
}

NominalColumn categories(std::int32_t n, bool gaps, std::mt19937 &random) {
    std::uniform_int_distribution<std::int32_t> code(gaps ? -1 : 0, n - 1);
    NominalColumn column;
    column.n_categories = n;
    for (std::size_t row = 0; row < rows; ++row) column.codes.push_back(code(random));
    return column;
}

EncodedTable make_table(std::mt19937 &random) {
    EncodedTable table;
    table.n_rows = rows;
    table.columns.emplace_back(numbers(200, random));
    table.columns.emplace_back(numbers(4, random));
    table.columns.emplace_back(categories(14, true, random));
    for (int i = 0; i < 4; ++i) table.columns.emplace_back(categories(2, i == 0, random));
    return table;
}

bool same(const Sketch &a, const Sketch &b) {
    return a.kind == b.kind && a.attribute == b.attribute && a.threshold == b.threshold &&
           a.default_child == b.default_child && a.gain == b.gain && a.order == b.order &&
           a.branch_child == b.branch_child && a.tests == b.tests;
}

} // namespace

void looking_ahead_gives_one_tree_on_every_path() {
    std::mt19937 random(11);
    const EncodedTable table = make_table(random);
    std::vector<ClassCode> classes;
    for (std::size_t row = 0; row < rows; ++row) classes.push_back(random() % n_classes);
    std::vector<std::int32_t> all(rows);
    std::iota(all.begin(), all.end(), 0);
    Cancel cancel;
    Effort effort;
    effort.repetitions = 2;
    effort.draws = 1;
    for (NominalMode mode : {NominalMode::value, NominalMode::multiway, NominalMode::subset}) {
        const LookaheadOptions plain{mode, true, false, false, 1};
        const Sketch expected =
            Lookahead(table, classes, n_classes, plain, "plain", cancel).build(all, 5, effort, cancel);
        CHECK(flat(expected, n_classes).n_nodes() == expected.n_nodes());
        for (std::string_view kernels : kernels_available())
            for (int threads : {1, 3}) {
                const LookaheadOptions options{mode, true, true, true, threads};
                const Lookahead lookahead(table, classes, n_classes, options, std::string(kernels), cancel);
                CHECK(same(lookahead.build(all, 5, effort, cancel), expected));
            }
    }
}

void a_proof_finds_the_smallest_parity() {
    EncodedTable table;
    table.n_rows = 64;
    std::vector<ClassCode> classes;
    std::vector<std::int32_t> all(64);
    std::iota(all.begin(), all.end(), 0);
    for (int bit = 0; bit < 6; ++bit) {
        NominalColumn column;
        column.n_categories = 2;
        for (std::int32_t row : all) column.codes.push_back(row >> bit & 1);
        table.columns.emplace_back(std::move(column));
    }
    for (std::int32_t row : all) classes.push_back((row ^ row >> 2 ^ row >> 5) & 1);
    Cancel cancel;
    const Lookahead lookahead(table, classes, 2, {}, "auto", cancel);
    const Proof proof = lookahead.prove(all, {}, cancel);
    CHECK(proof.lower == 8 && proof.upper == 8 && proof.sketch->leaves.front() == 8);
}
