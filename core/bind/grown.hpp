// What one call of the grower gives to Python.
#pragma once

#include "bind.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "growth/grow.hpp"
#include "routed_table.hpp"
#include "tree_arrays.hpp"

namespace hornbeam {

/// The trees of all training sets, in one forest for those that grew together.
struct Grown {
    std::vector<Forest> parts;
    std::size_t together = 1; // sets in all forests but the last
    double seconds = 0.0;

    Grown() = default;
    Grown(const Grown &) = delete; // what grew may be large
    Grown(Grown &&) = default;

    std::int32_t n_sets() const {
        return std::accumulate(parts.begin(), parts.end(), 0,
                               [](std::int32_t n, const Forest &f) { return n + f.n_sets; });
    }
    std::size_t n_nodes() const {
        return std::accumulate(parts.begin(), parts.end(), std::size_t{0},
                               [](std::size_t n, const Forest &f) { return n + f.n_nodes; });
    }
    std::vector<std::uint32_t> take_order() { return std::move(parts.front().order); }
    /// What all levels cost; the processor's ticks become shares of the seconds that passed.
    nb::dict levels() const {
        LevelCosts all;
        for (const Forest &f : parts) all.add(f.costs);
        const double tick = seconds / static_cast<double>(std::max<std::uint64_t>(all.ticks(), 1));
        std::vector<double> spent;
        std::vector<std::int64_t> nodes, entries, own, joint, bands, apart;
        for (const LevelCost &level : all.levels()) {
            for (std::uint64_t t : level.ticks) spent.push_back(static_cast<double>(t) * tick);
            nodes.push_back(level.nodes);
            entries.push_back(level.entries);
            own.push_back(level.own_entries);
            joint.push_back(level.joint);
            bands.push_back(level.bands);
            apart.push_back(level.bands_apart);
        }
        nb::dict out;
        out["seconds"] = own_array(std::move(spent)); // [level][kind of work]
        out["nodes"] = own_array(std::move(nodes));
        out["entries"] = own_array(std::move(entries));
        out["own_entries"] = own_array(std::move(own));
        out["joint"] = own_array(std::move(joint));
        out["bands"] = own_array(std::move(bands));
        out["bands_apart"] = own_array(std::move(apart));
        return out;
    }
    /// The record at which each of some rows ends, setting after setting.
    std::vector<std::int32_t> ends(std::int32_t set, const RoutedTable &table,
                                   std::span<const std::int64_t> rows) {
        auto [forest, at] = find(set);
        SignalCancel cancel;
        std::vector<std::int32_t> found;
        std::vector<std::uint32_t> records;
        found.reserve(forest.n_settings * rows.size());
        for (std::uint32_t setting = 0; setting < forest.n_settings; ++setting) {
            const FlatTree tree = forest.extract(at, setting, cancel, &records);
            for (std::int32_t leaf : table.leaves(tree, rows, 1))
                found.push_back(static_cast<std::int32_t>(records[static_cast<std::size_t>(leaf)]));
        }
        return found;
    }
    /// The forest of a training set, and its place there.
    std::pair<Forest &, std::int32_t> find(std::int32_t set) {
        if (set < 0 || set >= n_sets()) throw nb::index_error("no such training set");
        const auto at = static_cast<std::size_t>(set);
        return {parts[at / together], static_cast<std::int32_t>(at % together)};
    }
};

} // namespace hornbeam
