// Growth under the sanitizers: every kernel, both widths of lists, several sets and several threads give one
// forest.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <thread>

#include "check.hpp"
#include "growth/grow.hpp"
#include "same_tree.hpp"

using namespace hornbeam;

namespace {

/// A column as the encoder would leave it; about one value in ten is missing.
NumericColumn numeric_column(std::size_t rows, int n_values, std::mt19937 &random) {
    std::uniform_int_distribution<int> value(0, n_values - 1), tenth(0, 9);
    std::vector<int> values(rows);
    for (int &v : values) v = tenth(random) == 0 ? -1 : value(random);
    std::vector<std::uint32_t> order(rows);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
    NumericColumn column;
    for (std::uint32_t row : order) {
        if (values[row] < 0) continue;
        if (column.floats.empty() || column.floats.back() != values[row])
            column.floats.push_back(values[row]);
        column.entries.push_back(make_entry(static_cast<std::uint32_t>(column.floats.size() - 1), row));
    }
    return column;
}

NominalColumn nominal_column(std::size_t rows, int n_categories, std::mt19937 &random) {
    std::uniform_int_distribution<std::int32_t> code(-1, n_categories - 1);
    NominalColumn column;
    column.n_categories = n_categories;
    for (std::size_t i = 0; i < rows; ++i) column.codes.push_back(code(random));
    return column;
}

EncodedTable make_table(std::size_t rows) {
    std::mt19937 random(7);
    EncodedTable table;
    table.n_rows = rows;
    for (int n_values : {2, 50, 100000}) table.columns.emplace_back(numeric_column(rows, n_values, random));
    for (int n_categories : {3, 20}) table.columns.emplace_back(nominal_column(rows, n_categories, random));
    return table;
}

struct Problem {
    std::string criterion;
    NominalMode nominal = NominalMode::subset;
    std::size_t rows = 0;
    std::size_t n_classes = 0; // 0: two numeric targets
    std::int32_t n_sets = 1;
    double min_objs = -1.0;
    std::size_t competitors = 0;
    bool folds = false; // set 0 has all rows, the others all but those of a fold; else rows repeat
};

TrainingSets make_sets(const Problem &problem, std::mt19937 &random) {
    if (problem.n_sets == 1) return {};
    const auto k = static_cast<std::size_t>(problem.n_sets);
    std::vector<std::uint8_t> times(problem.rows * k, 1);
    for (std::size_t row = 0; row < problem.rows; ++row) {
        if (problem.folds)
            times[row * k + 1 + random() % (k - 1)] = 0;
        else
            for (std::size_t s = 0; s < k; ++s) times[row * k + s] = static_cast<std::uint8_t>(random() % 3);
    }
    const RowTimes given{times.data(), problem.rows, k, static_cast<std::ptrdiff_t>(k), 1};
    return TrainingSets(given, 0, k, Sharing::automatic);
}

std::vector<FlatTree> grow_all(const Problem &problem, int threads, const char *kernels, Cancel &cancel) {
    std::mt19937 random(11);
    EncodedTable table = make_table(problem.rows);
    std::vector<ClassCode> classes;
    std::vector<double> values;
    GrowTarget target;
    if (problem.n_classes != 0) {
        for (std::size_t i = 0; i < problem.rows; ++i)
            classes.push_back(static_cast<ClassCode>(random() % problem.n_classes));
        target.classes = classes;
        target.n_classes = problem.n_classes;
    } else {
        std::normal_distribution<double> normal;
        for (std::size_t i = 0; i < 2 * problem.rows; ++i) values.push_back(normal(random));
        target.values = values;
        target.n_targets = 2;
    }
    const TrainingSets sets = make_sets(problem, random);
    GrowParameters parameters;
    parameters.nominal = problem.nominal;
    parameters.settings = {{{false, 20.0}, problem.min_objs}};
    parameters.competitors = problem.competitors;
    parameters.threads = threads;
    parameters.kernels = kernels_named(kernels);
    CHECK(parameters.kernels != nullptr);
    GrowProgress progress;
    Forest forest = grow(problem.criterion, {table, target, sets, parameters, false, progress, cancel});
    CHECK(progress.settled == progress.all);
    std::vector<FlatTree> trees;
    for (std::int32_t i = 0; i < problem.n_sets; ++i) trees.push_back(forest.extract(i, 0, cancel));
    return trees;
}

} // namespace

void every_path_grows_the_same_forest() {
    const Problem problems[] = {
        {"gini", NominalMode::subset, 40000, 2, 1},
        {"gini", NominalMode::value, 3000, 5, 3},
        {"entropy", NominalMode::subset, 3000, 3, 1},
        {"gain_ratio", NominalMode::multiway, 3000, 2, 1},
        {"variance", NominalMode::subset, 2000, 0, 1},
        {"c45", NominalMode::subset, 3000, 3, 2, 2.0, 5},
        {"quest", NominalMode::subset, 3000, 3, 2, 2.0, 5},
        {"quest", NominalMode::subset, 40000, 2, 11, -1.0, 0, true},
        {"gini", NominalMode::value, 40000, 2, 1, 30.0, 5},
        {"gini", NominalMode::subset, 40000, 2, 11, -1.0, 0, true},
        {"gini", NominalMode::value, 3000, 5, 11, -1.0, 0, true},
    };
    for (const Problem &problem : problems) {
        Cancel cancel;
        const auto expected = grow_all(problem, 1, "plain", cancel);
        CHECK(expected[0].n_nodes() > 10);
        for (std::string_view kernels : kernels_available())
            for (int threads : {1, 4}) {
                const auto trees = grow_all(problem, threads, std::string(kernels).c_str(), cancel);
                for (std::size_t i = 0; i < trees.size(); ++i) CHECK(same(trees[i], expected[i]));
            }
    }
}

void a_table_that_was_used_up_refuses_a_second_growth() {
    Cancel cancel;
    std::vector<ClassCode> classes;
    for (std::size_t row = 0; row < 40000; ++row) classes.push_back(row % 3 == 0);
    GrowTarget target;
    target.classes = classes;
    target.n_classes = 2;
    GrowParameters parameters;
    parameters.kernels = kernels_named("auto");
    EncodedTable table = make_table(classes.size());
    auto refused = [&](bool consume) {
        GrowProgress progress;
        try {
            grow("gini", {table, target, {}, parameters, consume, progress, cancel});
        } catch (const std::invalid_argument &error) {
            return std::string_view(error.what()).find("was used up") != std::string_view::npos;
        }
        return false;
    };
    CHECK(!refused(false));
    CHECK(!refused(true));
    CHECK(refused(false));
    CHECK(refused(true));
}

void growth_stops_on_request() {
    Cancel cancel;
    std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        cancel.request();
    });
    bool stopped = false;
    try {
        for (;;) grow_all({"gini", NominalMode::subset, 40000, 5, 1}, 4, "auto", cancel);
    } catch (const Cancelled &) {
        stopped = true;
    }
    other.join();
    CHECK(stopped);
}
