#include "random_case.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "table/training_sets.hpp"

using namespace hornbeam;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double most_work = 8e6; // entries that plain scans look at, of all sets: about a second

/// Values of the kinds that thresholds and ranks stumble over.
std::vector<double> floats(Draws &draws, std::size_t n) {
    const std::size_t kind = draws.below(6),
                      few = draws.between(1, draws.one_of<std::size_t>({2, 9, 40, 600}));
    const double gaps = draws.one_of({0.0, 0.0, 0.05, 0.5});
    std::vector<double> values(n);
    for (double &v : values) {
        if (kind < 3) v = static_cast<double>(draws.below(few)) / draws.one_of({1.0, 1.0, 4.0});
        if (kind == 3) v = draws.unit();
        if (kind == 4) v = draws.one_of({0.0, -0.0, inf, -inf, 5e-324, -5e-324, 1e308, -1e308, 1.0});
        if (kind == 5) v = std::ldexp(draws.unit() - 0.5, static_cast<int>(draws.between(0, 80)) - 40);
        if (draws.chance(gaps)) v = std::numeric_limits<double>::quiet_NaN();
    }
    return values;
}

Integers integers(Draws &draws, std::size_t n) {
    const std::size_t span = draws.one_of<std::size_t>({1, 2, 7, 300, 1000000});
    const std::int64_t base =
        draws.one_of<std::int64_t>({0, -150, std::int64_t{1} << 53, -(std::int64_t{1} << 62)});
    Integers column{std::vector<std::int64_t>(n), {}};
    for (std::int64_t &v : column.values) v = base + static_cast<std::int64_t>(draws.below(span));
    if (!draws.chance(0.4)) return column;
    for (std::size_t i = 0; i < n; ++i) column.missing.push_back(draws.chance(0.2));
    return column;
}

Categories categories(Draws &draws, std::size_t n) {
    Categories column{std::vector<std::int32_t>(n), draws.one_of({1, 2, 3, 8, 14, 40})};
    const bool gaps = draws.chance(0.4);
    for (std::int32_t &code : column.codes)
        code = gaps && draws.chance(0.1)
                   ? -1
                   : static_cast<std::int32_t>(draws.below(static_cast<std::size_t>(column.n)));
    return column;
}

/// The first number of a column at a row, for targets that depend on columns.
double number_at(const RawColumn &column, std::size_t row) {
    if (const auto *floats = std::get_if<std::vector<double>>(&column)) {
        const double v = (*floats)[row];
        return std::isfinite(v) ? v : 0.0;
    }
    if (const auto *whole = std::get_if<Integers>(&column))
        return static_cast<double>(whole->values[row] % 1000);
    return std::get<Categories>(column).codes[row];
}

template <class T> std::vector<T> taken(const std::vector<T> &from, const std::vector<std::size_t> &rows,
                                        std::size_t width = 1) {
    std::vector<T> to;
    if (from.empty()) return to;
    for (std::size_t row : rows)
        to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(row * width),
                  from.begin() + static_cast<std::ptrdiff_t>((row + 1) * width));
    return to;
}

} // namespace

Case::Case(std::uint64_t seed, std::uint64_t number) {
    Draws draws(seed, number);
    draw_size(draws);
    draw_columns(draws);
    draw_target(draws);
    draw_sets(draws);
    draw_parameters(draws);
    fit_to_budget();
}

/// Small tables, and sizes next to those at which another representation begins.
void Case::draw_size(Draws &draws) {
    const double which = draws.unit();
    if (which < 0.55)
        n_rows = draws.between(1, 60);
    else if (which < 0.75)
        n_rows = draws.between(240, 270);
    else if (which < 0.90)
        n_rows = draws.between(300, 3000);
    else if (which < 0.96)
        n_rows = draws.between(32748, 32788);
    else if (which < 0.985)
        n_rows = draws.between(65516, 65556);
    else
        n_rows = draws.between(66000, 120000);
}

void Case::draw_columns(Draws &draws) {
    const double numeric = draws.one_of({1.0, 1.0, 0.6, 0.2});
    for (std::size_t i = draws.between(1, n_rows > 3000 ? 3 : 6); i > 0; --i) {
        if (!draws.chance(numeric))
            columns.emplace_back(categories(draws, n_rows));
        else if (draws.chance(0.25))
            columns.emplace_back(integers(draws, n_rows));
        else
            columns.emplace_back(floats(draws, n_rows));
    }
}

void Case::draw_target(Draws &draws) {
    criterion = draws.one_of<std::string>({"gini", "gini", "gini", "entropy", "gain_ratio", "c45",
                                           "correlation", "quest", "variance", "variance"});
    const double noise = draws.one_of({0.0, 0.3, 1.0});
    if (draws.chance(0.25) && criterion != "quest") {
        const int span = draws.one_of({0, 3, 40, 900});
        for (std::size_t i = 0; i < n_rows; ++i)
            weights.push_back(
                std::ldexp(1.0 + static_cast<double>(draws.below(8)),
                           static_cast<int>(draws.between(0, static_cast<std::size_t>(span))) - span / 2));
    }
    if (criterion == "variance") {
        n_targets = draws.between(1, 3);
        const bool wild = draws.chance(0.1);
        for (std::size_t i = 0; i < n_rows * n_targets; ++i) {
            const double random =
                wild ? std::ldexp(draws.unit() - 0.5, static_cast<int>(draws.below(600)) - 300)
                     : static_cast<double>(draws.below(50)) / 8;
            values.push_back(draws.chance(noise) ? random : std::floor(number_at(columns[0], i / n_targets)));
        }
        return;
    }
    n_classes = draws.one_of<std::size_t>({2, 2, 2, 3, 5, 10, 26, 300});
    if (n_rows < 60 && draws.chance(0.1)) n_classes = std::max<std::size_t>(n_rows, 2);
    for (std::size_t i = 0; i < n_rows; ++i) {
        const auto known = static_cast<std::size_t>(std::abs(number_at(columns[0], i)) * 7) % n_classes;
        classes.push_back(static_cast<ClassCode>(draws.chance(noise) ? draws.below(n_classes) : known));
    }
    if (criterion == "quest" || n_classes > 10 || !draws.chance(0.2)) return;
    costs.balanced = draws.chance(0.4);
    if (!costs.balanced && draws.chance(0.5))
        for (std::size_t k = 0; k < n_classes; ++k)
            costs.weight.push_back(draws.one_of({0.5, 1.0, 3.0, 0.1}));
    if (costs.equal())
        for (std::size_t i = 0; i < n_classes * n_classes; ++i)
            costs.cost.push_back(i % (n_classes + 1) == 0 ? 0.0 : draws.one_of({1.0, 2.0, 0.3}));
}

/// Folds, folds again and again, halves, few rows of many, folds in order of time, bags; the first set often
/// has all rows.
void Case::draw_sets(Draws &draws) {
    n_sets = draws.one_of<std::size_t>({1, 2, 4, 6, 11, 16, 17, 33, 64, 65, 130});
    kind_of_sets = draws.one_of<std::string>(
        {"folds", "folds", "repeats", "shares", "shares", "times", "bags", "copies"});
    const bool all_first = draws.chance(0.5);
    const double share = draws.one_of({0.05, 0.5, 0.6, 0.9});
    const std::size_t folds = draws.between(2, 12);
    times.assign(n_rows * n_sets, 0);
    for (std::size_t s = 0; s < n_sets; ++s) {
        auto count = [&](std::size_t row) -> std::uint8_t & { return times[row * n_sets + s]; };
        const std::size_t turn = draws.below(folds);
        for (std::size_t row = 0; row < n_rows; ++row) {
            if (all_first && s == 0)
                count(row) = 1;
            else if (kind_of_sets == "folds")
                count(row) = row % std::max<std::size_t>(n_sets - 1, 2) + 1 != s;
            else if (kind_of_sets == "repeats")
                count(row) = (row * (s / folds + 1) + turn) % folds != s % folds;
            else if (kind_of_sets == "shares")
                count(row) = draws.chance(share);
            else if (kind_of_sets == "times") // ever more of the first rows
                count(row) = row * (n_sets + 1) < n_rows * (s + 1);
            else if (kind_of_sets == "copies" && draws.chance(0.3))
                count(row) = static_cast<std::uint8_t>(draws.below(201));
        }
        if (kind_of_sets == "bags" && !(all_first && s == 0))
            for (std::size_t i = 0; i < n_rows; ++i)
                if (std::uint8_t &times_here = count(draws.below(n_rows)); times_here < 255) ++times_here;
        std::uint8_t &some = count(draws.below(n_rows)); // no set is without rows
        some = std::max<std::uint8_t>(some, 1);
    }
}

void Case::draw_parameters(Draws &draws) {
    GrowParameters &p = parameters;
    p.nominal = criterion == "quest"
                    ? NominalMode::subset
                    : draws.one_of({NominalMode::subset, NominalMode::value, NominalMode::multiway});
    if (draws.chance(0.5)) p.max_depth = static_cast<std::int64_t>(draws.between(1, 8));
    p.min_samples_split = draws.chance(0.3) ? SizeRule{true, draws.unit() * 0.2}
                                            : SizeRule{false, draws.one_of({2.0, 2.0, 9.0})};
    if (draws.chance(0.2)) p.min_impurity_decrease = draws.one_of({1e-3, 0.02});
    if (draws.chance(0.2)) p.competitors = draws.between(1, 4);
    const bool fraction = draws.chance(0.2), objects = criterion == "c45" || draws.chance(0.2);
    double leaf = fraction ? 0.001 : 1.0, objs = objects ? draws.one_of({0.0, 1.0, 2.0}) : -1.0;
    p.settings.clear();
    for (std::size_t i = draws.one_of<std::size_t>({1, 1, 1, 2, 4}); i > 0; --i) {
        p.settings.push_back({{fraction, leaf}, objs});
        if (draws.chance(0.7))
            leaf = fraction ? std::min(0.5, leaf + 0.02) : leaf + static_cast<double>(draws.below(12));
        if (objects) objs += static_cast<double>(draws.below(4));
    }
}

/// About how many entries plain scans look at; sums of wide exponents are long.
double Case::work() const {
    const double depth = parameters.max_depth < 0 ? std::log2(static_cast<double>(n_rows) + 1) + 3
                                                  : static_cast<double>(parameters.max_depth);
    double entry = n_classes > 2 ? 2.0 + static_cast<double>(n_classes) / 10 : 2.0;
    if (criterion == "variance") entry = 10.0 * static_cast<double>(n_targets);
    if (!weights.empty() || !costs.equal()) entry *= 60.0;
    return static_cast<double>(times.size()) * static_cast<double>(columns.size()) * depth * entry *
           static_cast<double>(parameters.settings.size());
}

void Case::fit_to_budget() {
    while (work() > most_work && n_sets > 1) {
        const std::size_t fewer = (n_sets + 1) / 2;
        std::vector<std::uint8_t> kept;
        for (std::size_t row = 0; row < n_rows; ++row)
            for (std::size_t s = 0; s < fewer; ++s) kept.push_back(times[row * n_sets + s]);
        n_sets = fewer;
        times = std::move(kept);
    }
    while (work() > most_work && columns.size() > 1) columns.pop_back();
    while (work() > most_work && parameters.max_depth != 1)
        parameters.max_depth = parameters.max_depth < 0 ? 8 : parameters.max_depth - 1;
}

Case Case::lone(std::size_t set) const {
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < n_rows; ++row) rows.insert(rows.end(), times[row * n_sets + set], row);
    Case one = *this;
    one.n_rows = rows.size(), one.n_sets = 1;
    one.times.assign(rows.size(), 1);
    one.classes = taken(classes, rows), one.weights = taken(weights, rows);
    one.values = taken(values, rows, n_targets);
    for (RawColumn &column : one.columns)
        if (auto *floats = std::get_if<std::vector<double>>(&column))
            *floats = taken(*floats, rows);
        else if (auto *whole = std::get_if<Integers>(&column))
            *whole = {taken(whole->values, rows), taken(whole->missing, rows)};
        else
            std::get<Categories>(column).codes = taken(std::get<Categories>(column).codes, rows);
    return one;
}

EncodedTable Case::encode(Cancel &cancel) const {
    std::vector<Source> sources;
    for (const RawColumn &column : columns)
        if (const auto *floats = std::get_if<std::vector<double>>(&column))
            sources.emplace_back(Strided<double>{floats->data(), 1});
        else if (const auto *whole = std::get_if<Integers>(&column))
            sources.emplace_back(IntegerSource{{whole->values.data(), 1},
                                               whole->missing.empty() ? nullptr : whole->missing.data()});
        else
            sources.emplace_back(
                NominalSource{std::get<Categories>(column).codes.data(), std::get<Categories>(column).n});
    return hornbeam::encode(sources, n_rows, 1, cancel);
}

GrowTarget Case::target() const { return {classes, n_classes, values, n_targets, weights, costs}; }

RowTimes Case::row_times() const {
    return {times.data(), n_rows, n_sets, static_cast<std::ptrdiff_t>(n_sets), 1};
}

bool Case::repeats() const {
    return std::any_of(times.begin(), times.end(), [](std::uint8_t n) { return n > 1; });
}

std::string Case::describe() const {
    std::string text =
        criterion + ", " + std::to_string(n_rows) + " rows, " + std::to_string(columns.size()) +
        " columns, " + std::to_string(n_classes) + " classes, " + std::to_string(n_targets) + " targets, " +
        std::to_string(n_sets) + " sets (" + kind_of_sets + "), nominal mode " +
        std::to_string(static_cast<int>(parameters.nominal)) + ", depth " +
        std::to_string(parameters.max_depth) + ", " + std::to_string(parameters.settings.size()) +
        " settings, " + std::to_string(parameters.competitors) + " competitors";
    if (!weights.empty()) text += ", weighted";
    if (!costs.equal())
        text += costs.balanced ? ", balanced" : costs.cost.empty() ? ", class weights" : ", costs";
    return text;
}
