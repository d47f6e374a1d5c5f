// The expressions of QUEST, in the order that docs/quest.md has them.
#include "choice/quest_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hornbeam {

double log_p_of_means(std::span<const ClassSpread> classes, std::int64_t n) {
    double between = 0.0, within = 0.0;
    for (const ClassSpread &c : classes) {
        const double b = c.deviation / as_double(n);
        between = between + b * b / as_double(c.n);
        within = within + c.spread / as_double(c.n);
    }
    const auto k = static_cast<std::int64_t>(classes.size());
    return log_p_of_f(between, within, k - 1, n - k);
}

void part_classes(std::span<const ClassSpread> classes, std::int64_t n, std::vector<std::uint8_t> &first) {
    constexpr int most_rounds = 64;
    const std::size_t size = classes.size();
    std::vector<double> mean;
    for (const ClassSpread &c : classes) mean.push_back(c.deviation / (as_double(n) * as_double(c.n)));
    const auto [least, most] = std::minmax_element(mean.begin(), mean.end());
    double low = *least, high = *most;
    if (low == high) {
        auto largest = std::max_element(classes.begin(), classes.end(),
                                        [](const ClassSpread &a, const ClassSpread &b) { return a.n < b.n; });
        first.assign(size, 0);
        first[static_cast<std::size_t>(largest - classes.begin())] = 1;
        return;
    }
    first.clear();
    std::vector<std::uint8_t> now(size);
    for (int round = 0; round < most_rounds; ++round) {
        double sum[2] = {0.0, 0.0};
        std::int64_t many[2] = {0, 0};
        for (std::size_t k = 0; k < size; ++k) {
            now[k] = std::abs(mean[k] - low) <= std::abs(mean[k] - high);
            sum[now[k]] = sum[now[k]] + mean[k];
            ++many[now[k]];
        }
        if (now == first || many[0] == 0 || many[1] == 0) break;
        first = now;
        low = sum[1] / as_double(many[1]);
        high = sum[0] / as_double(many[0]);
    }
}

namespace {

/// Of the quadratic equation a z^2 - 2 p z + c = 0, seen from the first mean.
double nearest_root(const TwoNormals &t) {
    const double va = t.first_variance, vb = t.second_variance;
    const double level = (exact_log(as_double(t.n_first)) - exact_log(as_double(t.n_second))) +
                         (exact_log(vb) - exact_log(va)) / 2.0;
    const double p = t.gap * va, a = va - vb;
    const double c = t.gap * p + 2.0 * (va * vb) * level;
    const double d = p * p - a * c;
    if (d < 0.0) return t.gap / 2.0;
    const double q = p >= 0.0 ? p + std::sqrt(d) : p - std::sqrt(d);
    if (q == 0.0) return t.gap / 2.0;
    const double near = c / q;
    if (a != 0.0) {
        const double other = q / a;
        if (std::abs(other) < std::abs(near) || (std::abs(other) == std::abs(near) && other > near))
            return other;
    }
    return near;
}

} // namespace

ValueCut discriminant_cut(const TwoNormals &normals) {
    // A superclass of equal values is parted from all others.
    if (normals.first_variance > 0.0 && normals.second_variance == 0.0) return {0.0, true, true};
    if (normals.first_variance == 0.0) return {0.0, false, false};
    return {nearest_root(normals), false, false};
}

double chi_square(const Contingency &table) {
    double s = 0.0;
    for (std::size_t j = 0; j < table.n_categories; ++j)
        for (std::size_t k = 0; k < table.n_classes; ++k) {
            const double e = table.excess(j, k);
            s = s + (e * e) / (as_double(table.category[j]) * as_double(table.klass[k]));
        }
    return s / as_double(table.n);
}

namespace {

/// A square matrix.
struct Square {
    std::size_t size = 0;
    std::vector<double> cell;
    explicit Square(std::size_t n) : size(n), cell(n * n, 0.0) {}
    double &at(std::size_t i, std::size_t j) { return cell[i * size + j]; }

    void turn_columns(std::size_t p, std::size_t q, double c, double s) {
        for (std::size_t i = 0; i < size; ++i) {
            const double x = at(i, p), y = at(i, q);
            at(i, p) = c * x - s * y;
            at(i, q) = s * x + c * y;
        }
    }
    void turn_rows(std::size_t p, std::size_t q, double c, double s) {
        for (std::size_t i = 0; i < size; ++i) {
            const double x = at(p, i), y = at(q, i);
            at(p, i) = c * x - s * y;
            at(q, i) = s * x + c * y;
        }
    }
};

void rotate(Square &m, Square &v, std::size_t p, std::size_t q) {
    if (m.at(p, q) == 0.0) return;
    const double theta = (m.at(q, q) - m.at(p, p)) / (2.0 * m.at(p, q));
    double t = 1.0 / (std::abs(theta) + std::sqrt(theta * theta + 1.0));
    if (theta < 0.0) t = -t;
    const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
    m.turn_columns(p, q, c, s);
    m.turn_rows(p, q, c, s);
    v.turn_columns(p, q, c, s);
}

/// The eigenvector of the largest eigenvalue: Jacobi's method, row by row. Uses the matrix up.
std::vector<double> leading(Square &m, Cancel &cancel) {
    constexpr int most_sweeps = 40;
    Square v(m.size);
    for (std::size_t i = 0; i < m.size; ++i) v.at(i, i) = 1.0;
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
        double off = 0.0, diagonal = 0.0;
        for (std::size_t p = 0; p < m.size; ++p) {
            diagonal = diagonal + m.at(p, p) * m.at(p, p);
            for (std::size_t q = p + 1; q < m.size; ++q) off = off + m.at(p, q) * m.at(p, q);
        }
        if (off <= 1e-30 * diagonal) break;
        for (std::size_t p = 0; p < m.size; ++p) {
            if (m.size > 64) cancel.poll();
            for (std::size_t q = p + 1; q < m.size; ++q) rotate(m, v, p, q);
        }
    }
    std::size_t best = 0;
    for (std::size_t i = 0; i < m.size; ++i)
        if (m.at(i, i) > m.at(best, best)) best = i;
    std::vector<double> vector;
    for (std::size_t i = 0; i < m.size; ++i) vector.push_back(v.at(i, best));
    return vector;
}

std::vector<std::int64_t> on_grid(const std::vector<double> &score) {
    constexpr double grid = 0x1p40;
    double most = 0.0;
    for (double s : score) most = std::max(most, std::abs(s));
    std::vector<std::int64_t> whole(score.size(), 0);
    if (!(most > 0.0 && most <= std::numeric_limits<double>::max())) return whole;
    for (std::size_t j = 0; j < score.size(); ++j)
        whole[j] = static_cast<std::int64_t>(std::nearbyint(score[j] / most * grid));
    auto first = std::find_if(whole.begin(), whole.end(), [](std::int64_t w) { return w != 0; });
    if (first != whole.end() && *first > 0)
        for (std::int64_t &w : whole) w = -w;
    return whole;
}

} // namespace

std::vector<std::int64_t> discriminant_coordinates(const Contingency &table, Cancel &cancel) {
    // The axes of categories and of classes tell the same: the shorter one is solved for.
    const bool by_class = table.n_classes <= table.n_categories;
    const std::vector<std::int64_t> &own = by_class ? table.klass : table.category;
    const std::vector<std::int64_t> &across = by_class ? table.category : table.klass;
    std::vector<double> e(own.size() * across.size()); // [own][across]
    for (std::size_t i = 0; i < own.size(); ++i)
        for (std::size_t o = 0; o < across.size(); ++o)
            e[i * across.size() + o] = by_class ? table.excess(o, i) : table.excess(i, o);
    Square m(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
        cancel.poll();
        for (std::size_t j = i; j < own.size(); ++j) {
            double s = 0.0;
            for (std::size_t o = 0; o < across.size(); ++o)
                s = s + (e[i * across.size() + o] * e[j * across.size() + o]) / as_double(across[o]);
            m.at(i, j) = m.at(j, i) = s / (std::sqrt(as_double(own[i])) * std::sqrt(as_double(own[j])));
        }
    }
    std::vector<double> v = leading(m, cancel);
    for (std::size_t i = 0; i < own.size(); ++i) v[i] = v[i] / std::sqrt(as_double(own[i]));
    if (!by_class) return on_grid(v);
    std::vector<double> score;
    for (std::size_t j = 0; j < table.n_categories; ++j) {
        double s = 0.0;
        for (std::size_t k = 0; k < table.n_classes; ++k)
            s = s + (table.excess(j, k) / as_double(table.category[j])) * v[k];
        score.push_back(s);
    }
    return on_grid(score);
}

} // namespace hornbeam
