// Random growths: tables, targets, training sets and parameters, drawn from a seed and the number of a case.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "growth/grow.hpp"

/// What is drawn from; the same on every machine, as no distribution of the library is used.
class Draws {
  public:
    Draws(std::uint64_t seed, std::uint64_t number) : random_(seed * 0x9E3779B97F4A7C15u + number) {}
    std::uint64_t word() { return random_(); }
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
    std::size_t between(std::size_t low, std::size_t high) { return low + below(high - low + 1); }
    bool chance(double share) { return unit() < share; }
    double unit() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
    template <class T> T one_of(std::initializer_list<T> some) { return some.begin()[below(some.size())]; }

  private:
    std::mt19937_64 random_;
};

struct Integers {
    std::vector<std::int64_t> values;
    std::vector<std::uint8_t> missing;
};
struct Categories {
    std::vector<std::int32_t> codes;
    std::int32_t n = 0;
};
using RawColumn = std::variant<std::vector<double>, Integers, Categories>;

/// A growth as it is asked for, and nothing of how it is done.
struct Case {
    std::string criterion;
    std::size_t n_rows = 0, n_sets = 1;
    std::vector<RawColumn> columns;
    std::vector<hornbeam::ClassCode> classes;
    std::vector<double> values, weights;
    std::size_t n_classes = 0, n_targets = 0;
    hornbeam::ClassCosts costs;
    std::vector<std::uint8_t> times; // [row][set]
    std::string kind_of_sets;
    hornbeam::GrowParameters parameters;

    Case(std::uint64_t seed, std::uint64_t number);
    /// The rows of one set as a table of their own, each as often as it counts.
    Case lone(std::size_t set) const;

    hornbeam::EncodedTable encode(hornbeam::Cancel &cancel) const;
    hornbeam::GrowTarget target() const;
    hornbeam::RowTimes row_times() const;
    bool repeats() const;
    std::string describe() const;

  private:
    void draw_size(Draws &draws);
    void draw_target(Draws &draws);
    void draw_columns(Draws &draws);
    void draw_sets(Draws &draws);
    void draw_parameters(Draws &draws);
    double work() const;
    void fit_to_budget();
};
