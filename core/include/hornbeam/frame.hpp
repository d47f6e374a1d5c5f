// The examples a grower works on, by ids of its own: all rows of the table (wide), or the few of one node
// (narrow).
#pragma once

#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "hornbeam/avc.hpp"
#include "hornbeam/column.hpp"
#include "hornbeam/grow.hpp"
#include "hornbeam/kernels.hpp"
#include "hornbeam/statistics.hpp"

namespace hornbeam {

/// The target values by id; owns them only in a narrow frame.
struct FrameTarget {
    std::vector<ClassCode> own_classes;
    std::vector<double> own_values, own_weights;
    std::span<const ClassCode> classes;
    std::span<const double> values, weights;
};

/// Codes of a nominal attribute by id (-1 missing).
struct FrameCodes {
    std::vector<std::int32_t> own;
    std::span<const std::int32_t> code;
    std::int32_t n_categories = 0;
};

template <class E> struct Frame {
    std::size_t n = 0;
    FrameTarget target;
    std::vector<FrameCodes> nominal;              // by attribute; empty span at numeric ones
    std::vector<std::vector<std::uint32_t>> rank; // narrow: rank in the column of each rank of the frame
    TrainingSets sets;
    std::unique_ptr<E[]> entries; // room of all lists
    std::vector<std::uint8_t> flag;
    const AvcLayout *avc = nullptr; // the attributes that may be counted by value
    AvcCells own_cells;
    std::span<const std::uint16_t> cells;
    std::vector<E *> room; // by slot, of `avc`: n entries, for the lists of nodes that are not counted

    std::uint32_t column_rank(std::size_t attribute, std::uint32_t r) const {
        return rank.empty() || rank[attribute].empty() ? r : rank[attribute][r];
    }
};

/// The part of a node's list that belongs to one attribute. Nominal attributes have no list, nor have those
/// whose values are counted at the node.
template <class E> struct Segment {
    std::int32_t attribute = 0;
    std::uint32_t size = 0;
    E *begin = nullptr;
    bool listed() const { return begin != nullptr; }
};

} // namespace hornbeam
