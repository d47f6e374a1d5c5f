// The examples a grower works on, by ids of its own: all rows of the table (wide), or the few of one node
// (narrow).
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <variant>
#include <vector>

#include "choice/avc.hpp"
#include "choice/parameters.hpp"
#include "criteria/statistics.hpp"
#include "kernels/kernels.hpp"
#include "table/column.hpp"

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

/// An example that goes left for some lanes and right for others is there twice below: as a guest it has an
/// id of its own, and counts in other sets. Arrays by id have room for `capacity` of them.
template <class E> struct Frame {
    std::size_t n = 0; // ids in use
    std::size_t capacity = 0;
    std::vector<std::uint32_t> origin; // of a wide frame with room for guests: the row of each id
    FrameTarget target;
    std::vector<FrameCodes> nominal;              // by attribute; empty span at numeric ones
    std::vector<std::vector<std::uint32_t>> rank; // narrow: rank in the column of each rank of the frame
    TrainingSets sets;
    std::unique_ptr<E[]> entries; // room of all lists
    std::vector<std::uint8_t> flag;
    const AvcLayout *avc = nullptr; // the attributes that may be counted by value
    AvcCells own_cells;
    std::span<const std::uint16_t> cells;

    std::uint32_t row_of(std::uint32_t id) const { return origin.empty() ? id : origin[id]; }
    std::size_t room_for_guests() const { return capacity - n; }
    /// One more id for an example, which counts in `sets`; there must be room for it.
    std::uint32_t add_guest(std::uint32_t id, SetMask in) {
        if (n >= capacity) throw std::logic_error("a node has more guests than its frame has room for");
        const std::size_t guest = n++;
        auto repeat = [&](auto &values, std::size_t width) {
            if (!values.empty())
                std::copy_n(values.data() + id * width, width, values.data() + guest * width);
        };
        repeat(target.own_classes, 1);
        repeat(target.own_weights, 1);
        repeat(target.own_values, target.own_values.size() / capacity);
        for (FrameCodes &codes : nominal) repeat(codes.own, 1);
        if (avc != nullptr) repeat(own_cells, avc->slots.size());
        sets.mask[guest] = in;
        if (!origin.empty()) origin[guest] = origin[id];
        return static_cast<std::uint32_t>(guest);
    }

    std::uint32_t column_rank(std::size_t attribute, std::uint32_t r) const {
        return rank.empty() || rank[attribute].empty() ? r : rank[attribute][r];
    }
};

/// Writes the entries of a list that count in a set, each as often as it does; returns the end.
template <class E> E *copy_own(const TrainingSets &sets, std::int32_t set, std::span<const E> from, E *to) {
    if (sets.repeats()) {
        for (E e : from) to = std::fill_n(to, sets.count(Packed<E>::id(e), set), e);
        return to;
    }
    for (E e : from) {
        *to = e;
        to += sets.of(Packed<E>::id(e)) >> set & 1;
    }
    return to;
}

/// The part of a node's list that belongs to one attribute. Nominal attributes have no list, nor have those
/// whose values are counted at the node.
template <class E> struct Segment {
    std::int32_t attribute = 0;
    std::uint32_t size = 0;
    E *begin = nullptr;
    bool listed() const { return begin != nullptr; }
};

template <class E>
const Segment<E> &segment_of(const std::vector<Segment<E>> &active, std::int32_t attribute) {
    return *std::find_if(active.begin(), active.end(),
                         [&](const Segment<E> &s) { return s.attribute == attribute; });
}
/// The first entry of a list above a rank.
template <class E> const E *above(const Segment<E> &s, std::uint32_t rank) {
    return std::upper_bound(s.begin, s.begin + s.size, rank,
                            [](std::uint32_t r, E e) { return r < Packed<E>::rank(e); });
}

} // namespace hornbeam
