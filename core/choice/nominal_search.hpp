// The search of nominal tests: subsets in their order, values, and all categories apart.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "choice/nominal.hpp"
#include "choice/scan.hpp"

namespace hornbeam {

inline constexpr int exchange_rounds = 32;
inline constexpr int power_rounds = 32;

template <class Stats> class NominalSearch {
  public:
    explicit NominalSearch(const NominalNode<Stats> &of)
        : criterion_(of.criterion), node_(of.node), table_(of.table), rules_(of.rules),
          by_numbers_(of.by_numbers), pace_(of.cancel, 50 + 10 * width_of(of.node)) {}

    /// The categories in the order whose prefixes are the candidates where there are many.
    std::vector<std::size_t> order() {
        known_ = node_;
        known_ -= table_.missing;
        std::vector<std::size_t> order(table_.code.size());
        std::iota(order.begin(), order.end(), 0);
        if (!sort_by_share(order)) sort_by_component(order);
        return order;
    }

    /// Replaces `best` where a test of this attribute has a higher quality.
    void consider(std::int32_t attribute, NominalMode mode, Choice &best) {
        if (table_.code.size() < 2) return;
        if (mode != NominalMode::subset || !goes_by_numbers()) {
            known_ = node_;
            known_ -= table_.missing;
            side_.assign(table_.code.size(), 1);
        }
        if (mode == NominalMode::multiway) return consider_multiway(attribute, best);
        bool found = false;
        Found top{best.quality, 0.0, 0};
        if (mode == NominalMode::value)
            found = best_value(top);
        else if (table_.code.size() <= most_enumerated)
            found = best_of_all(top);
        else
            found = best_ordered(top);
        if (found)
            record(attribute, mode == NominalMode::value ? TestKind::value : TestKind::subset, top, best);
    }

  private:
    struct Found {
        double quality, gain;
        std::int32_t default_child;
    };

    const Scorer<Stats> &criterion_;
    const Stats &node_;
    const CategoryTable<Stats> &table_;
    const StopRules &rules_;
    const bool by_numbers_;
    Pace pace_; // of steps over the categories
    Stats known_, left_, right_;
    std::vector<std::uint8_t> side_, best_side_; // child of each category present

    const Stats &category(std::size_t i) const { return table_.stats[i]; }
    bool is_object(const Stats &known) const { return rules_.is_object(criterion_.weight(known)); }
    /// What the branches of a test sum up to.
    const Stats &scored() const { return criterion_.of_known_rows ? known_ : node_; }

    /// Scores the test whose known rows on the left are `left`; true where it beats `top`.
    bool beats(const Stats &left, Found &top) {
        pace_.step();
        right_ = known_;
        right_ -= left;
        if (rules_.asks_objs() && !(is_object(left) && is_object(right_))) return false;
        if (criterion_.of_known_rows || table_.missing.n == 0) {
            const bool to_left = as_heavy(left, right_);
            const std::int64_t more =
                criterion_.of_known_rows ? table_.missing.n : 0; // rows that are not scored
            if (left.n + (to_left ? more : 0) < rules_.min_leaf ||
                right_.n + (to_left ? 0 : more) < rules_.min_leaf)
                return false;
            return beats_with(left, right_, to_left ? 0 : 1, top);
        }
        left_ = left;
        left_ += table_.missing;
        bool better = beats_with(left_, right_, 0, top);
        right_ += table_.missing;
        return beats_with(left, right_, 1, top) || better;
    }
    bool beats_with(const Stats &left, const Stats &right, std::int32_t default_child, Found &top) {
        if (!criterion_.of_known_rows && (left.n < rules_.min_leaf || right.n < rules_.min_leaf))
            return false;
        std::array<const Stats *, 2> sides{&left, &right};
        Score s = criterion_.score(scored(), sides);
        if (!(s.quality > top.quality)) return false;
        top = {s.quality, s.gain, default_child};
        return true;
    }

    bool best_value(Found &top) {
        bool found = false;
        for (std::size_t v = 0; v < table_.code.size(); ++v) {
            if (!beats(category(v), top)) continue;
            found = true;
            best_side_.assign(table_.code.size(), 1);
            best_side_[v] = 0;
        }
        return found;
    }

    /// Every subset that contains the first category, in the order of the bit masks; partial[b] holds the sum
    /// of the chosen categories from bit b upward, so that a step of the counter costs two additions on
    /// average.
    bool best_of_all(Found &top) {
        if constexpr (counts_rows<Stats>)
            if (goes_by_numbers()) return best_of_all_two(top);
        const std::size_t c = table_.code.size();
        std::vector<Stats> partial(c, zero_like());
        partial[0] = category(0);
        bool found = false;
        for (std::uint32_t mask = 1;; mask += 2) {
            if (mask == (1u << c) - 1) break; // everything on one side is no test
            if (mask != 1) {
                auto lowest = static_cast<std::size_t>(std::countr_zero(mask - 1));
                // The counter carried into `lowest`: bits below it are clear.
                partial[lowest] = lowest + 1 < c ? partial[lowest + 1] : zero_like();
                partial[lowest] += category(lowest);
                for (std::size_t b = lowest; b-- > 1;) partial[b] = partial[b + 1];
                partial[0] = partial[1];
                partial[0] += category(0);
            }
            if (!beats(partial[0], top)) continue;
            found = true;
            best_side_.resize(c);
            for (std::size_t i = 0; i < c; ++i) best_side_[i] = (mask >> i) & 1 ? 0 : 1;
        }
        return found;
    }
    /// Whether numbers of rows and of one class are all that a subset is told by.
    bool goes_by_numbers() const {
        if constexpr (counts_rows<Stats>)
            return by_numbers_ && node_.c.size() == 2 && table_.code.size() <= most_enumerated &&
                   table_.missing.n == 0 && !rules_.asks_objs();
        else
            return false;
    }
    /// The same for two classes, by whole numbers: the literal gain only where it may be the best.
    bool best_of_all_two(Found &top) {
        const std::size_t c = table_.code.size();
        TwoClassSweep sweep(node_.n, node_.c[1], Gini::sum_of_squares(node_), top.quality);
        std::array<std::int64_t, most_enumerated + 1> rows{}, ones{}; // of the chosen from bit b upward
        std::uint32_t chosen = 0;
        const std::uint32_t all = (1u << c) - 1;
        for (std::uint32_t mask = 1; mask != all; mask += 2) {
            for (int b = mask == 1 ? 0 : std::countr_zero(mask - 1); b >= 0; --b) {
                const auto at = static_cast<std::size_t>(b);
                const bool in = (mask >> b & 1) != 0;
                rows[at] = rows[at + 1] + (in ? category(at).n : 0);
                ones[at] = ones[at + 1] + (in ? category(at).c[1] : 0);
            }
            if (rows[0] < rules_.min_leaf || node_.n - rows[0] < rules_.min_leaf) continue;
            const double before = sweep.best.quality;
            sweep.look(mask, rows[0], ones[0]);
            if (sweep.best.quality != before) chosen = mask;
        }
        if (chosen == 0) return false;
        const std::int64_t left = sweep.best.left;
        top = {sweep.best.quality, sweep.best.gain, left >= node_.n - left ? 0 : 1};
        best_side_.resize(c);
        for (std::size_t i = 0; i < c; ++i) best_side_[i] = (chosen >> i) & 1 ? 0 : 1;
        return true;
    }
    Stats zero_like() const {
        Stats z = known_;
        z.clear();
        return z;
    }

    /// Prefix cuts of an order of the categories; with more than two classes or several targets a local
    /// search follows.
    bool best_ordered(Found &top) {
        std::vector<std::size_t> order(table_.code.size());
        std::iota(order.begin(), order.end(), 0);
        bool exact_order = sort_by_share(order);
        if (!exact_order) sort_by_component(order);
        Found local{criterion_.splits_at_zero ? -1.0 : 0.0, 0.0, 0};
        if (!best_prefix(order, local)) return false;
        if (!exact_order) exchange(local);
        if (!(local.quality > top.quality)) return false;
        top = local;
        best_side_ = side_;
        return true;
    }
    bool best_prefix(const std::vector<std::size_t> &order, Found &local) {
        std::size_t length = 0;
        auto first = static_cast<std::size_t>(std::find(order.begin(), order.end(), 0u) - order.begin());
        Stats prefix = zero_like(), rest;
        for (std::size_t i = 0; i + 1 < order.size(); ++i) {
            prefix += category(order[i]);
            bool better;
            if (first <= i) {
                better = beats(prefix, local);
            } else { // the side with the first category is called left
                rest = known_;
                rest -= prefix;
                better = beats(rest, local);
            }
            if (better) length = i + 1;
        }
        if (length == 0) return false;
        bool prefix_is_left = first < length;
        for (std::size_t i = 0; i < order.size(); ++i)
            side_[order[i]] = (i < length) == prefix_is_left ? 0 : 1;
        return true;
    }
    void exchange(Found &current) {
        Stats left = zero_like(), moved;
        for (int round = 0; round < exchange_rounds; ++round) {
            left.clear();
            std::size_t n_left = 0;
            for (std::size_t i = 0; i < side_.size(); ++i) {
                pace_.step();
                if (side_[i] == 0) left += category(i), ++n_left;
            }
            std::size_t chosen = side_.size();
            for (std::size_t i = 0; i < side_.size(); ++i) {
                bool was_left = side_[i] == 0;
                if ((was_left && n_left == 1) || (!was_left && n_left + 1 == side_.size())) continue;
                moved = left;
                was_left ? moved -= category(i) : moved += category(i);
                if (i == 0) { // the first category changes sides: the other side is called left then
                    Stats other = known_;
                    other -= moved;
                    moved = other;
                }
                if (beats(moved, current)) chosen = i;
            }
            if (chosen == side_.size()) return;
            side_[chosen] ^= 1;
            if (chosen == 0)
                for (auto &s : side_) s ^= 1;
        }
    }

    /// Exact order for two classes present or one numeric target; false where there is none.
    bool sort_by_share(std::vector<std::size_t> &order) {
        bool equal = false;
        if constexpr (requires { node_.c; }) {
            if (node_.classes_present() > 2) return false;
            std::size_t klass = node_.c.size() - 1;
            while (!present(node_.c[klass])) --klass; // the higher of the two
            std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
                pace_.step();
                bool less = lower_share(category(a), category(b), klass, equal);
                return equal ? a < b : less;
            });
        } else {
            if (node_.y.size() > 1) return false;
            std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
                pace_.step();
                bool less = lower_mean(category(a), category(b), equal);
                return equal ? a < b : less;
            });
        }
        return true;
    }

    /// Class proportions or target means of a category, as doubles; classes absent from the node are left
    /// out.
    std::vector<double> profile(const Stats &s) const {
        std::vector<double> out;
        if constexpr (requires { node_.c; }) {
            for (std::size_t k = 0; k < node_.c.size(); ++k)
                if (present(node_.c[k])) out.push_back(criterion_.share(s, k));
        } else {
            for (std::size_t t = 0; t < s.y.size(); ++t) out.push_back(criterion_.share(s, t));
        }
        return out;
    }

    /// Order by the first principal component of the profiles, found by a fixed number of power steps.
    void sort_by_component(std::vector<std::size_t> &order) {
        const std::size_t c = table_.code.size();
        std::vector<double> centre = profile(known_);
        const std::size_t m = centre.size();
        std::vector<std::vector<double>> dev(c);
        std::vector<double> mass(c);
        std::size_t start = 0;
        double most = -1.0;
        for (std::size_t j = 0; j < c; ++j) {
            pace_.step();
            dev[j] = profile(category(j));
            mass[j] = criterion_.mass(category(j));
            double energy = 0.0;
            for (std::size_t k = 0; k < m; ++k) {
                dev[j][k] -= centre[k];
                energy += (mass[j] * dev[j][k]) * dev[j][k];
            }
            if (energy > most) most = energy, start = j;
        }
        std::vector<double> v = dev[start], w(m), score(c, 0.0);
        auto along = [&](std::size_t j) {
            double sum = 0.0;
            for (std::size_t k = 0; k < m; ++k) sum += dev[j][k] * v[k];
            return sum;
        };
        bool found = most > 0.0 && std::isfinite(most);
        for (int round = 0; found && round < power_rounds; ++round) {
            std::fill(w.begin(), w.end(), 0.0);
            for (std::size_t j = 0; j < c; ++j) {
                pace_.step();
                double a = mass[j] * along(j);
                for (std::size_t k = 0; k < m; ++k) w[k] += a * dev[j][k];
            }
            double norm = 0.0;
            for (double x : w) norm += x * x;
            norm = std::sqrt(norm);
            if (norm == 0.0) break;
            found = std::isfinite(norm);
            for (std::size_t k = 0; k < m; ++k) v[k] = w[k] / norm;
        }
        for (std::size_t j = 0; j < c; ++j) {
            pace_.step();
            double s = found ? along(j) : 0.0;
            score[j] = std::isfinite(s) ? s : 0.0;
        }
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            pace_.step();
            return score[a] != score[b] ? score[a] < score[b] : a < b;
        });
    }

    void consider_multiway(std::int32_t attribute, Choice &best) {
        const std::size_t c = table_.code.size();
        std::size_t largest = 0;
        for (std::size_t i = 1; i < c; ++i)
            if (!as_heavy(category(largest), category(i))) largest = i;
        Stats filled = category(largest);
        if (!criterion_.of_known_rows) filled += table_.missing;
        std::vector<const Stats *> branches(c);
        int objects = 0;
        for (std::size_t i = 0; i < c; ++i) {
            pace_.step();
            branches[i] = i == largest ? &filled : &category(i);
            if (category(i).n + (i == largest ? table_.missing.n : 0) < rules_.min_leaf) return;
            objects += is_object(category(i));
        }
        if (objects < 2) return;
        Score s = criterion_.score(scored(), branches);
        if (!(s.quality > best.quality)) return;
        best_side_.clear();
        record(attribute, TestKind::multiway, {s.quality, s.gain, static_cast<std::int32_t>(largest)}, best);
    }

    void record(std::int32_t attribute, TestKind kind, const Found &found, Choice &best) {
        const std::size_t c = table_.code.size();
        best.quality = found.quality;
        best.gain = found.gain;
        best.attribute = attribute;
        best.kind = kind;
        best.default_child = found.default_child;
        best.n_children = kind == TestKind::multiway ? static_cast<std::int32_t>(c) : 2;
        best.branches.clear();
        for (std::size_t i = 0; i < c; ++i)
            best.branches.emplace_back(table_.code[i], kind == TestKind::multiway
                                                           ? static_cast<std::int32_t>(i)
                                                           : static_cast<std::int32_t>(best_side_[i]));
    }
};

} // namespace hornbeam
