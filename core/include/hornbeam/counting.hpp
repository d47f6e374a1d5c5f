// AVC-groups go down the tree while they pay; where they end, sorted lists are written in their place.
#pragma once

#include "hornbeam/parallel.hpp"
#include "hornbeam/pending.hpp"

namespace hornbeam {

template <class E, class Target> class Counting {
  public:
    using Node = Pending<E, typename Target::Stats>;

    Counting(Frame<E> &frame, const Target &target, NodePool<E, Target> &pool)
        : frame_(frame), target_(target), pool_(pool) {}

    /// Completes a root that comes without a group, though its frame has attributes that may be counted.
    void begin(Node &root, Workers *workers) {
        if (frame_.avc == nullptr || !root.avc.empty()) return;
        if (pays(root))
            root.avc = count(root.rows, workers);
        else
            write_lists(root);
    }

    /// Gives each growing child its group or its lists. All but the largest child are counted; the largest
    /// has what they leave.
    void hand_down(Node &node, std::span<Node> child, Workers *workers) {
        if (node.avc.empty()) return;
        std::size_t largest = 0;
        for (std::size_t c = 1; c < child.size(); ++c)
            if (child[c].rows.size() > child[largest].rows.size()) largest = c;
        const bool rest = grows(child[largest]) && pays(child[largest]);
        for (std::size_t c = 0; c < child.size(); ++c) {
            const bool own = grows(child[c]) && pays(child[c]);
            if (c == largest || !(own || rest)) continue;
            AvcGroup group = count(child[c].rows, workers);
            if (rest) subtract(node.avc, group);
            own ? std::swap(child[c].avc, group) : pool_.recycle_group(std::move(group));
        }
        if (rest) std::swap(child[largest].avc, node.avc);
        for (Node &c : child)
            if (grows(c) && c.avc.empty()) write_lists(c);
    }

    /// Sets the flag of every row to its child, by the value of the tested numeric attribute.
    void flag_rows(std::span<const E> rows, const Choice &test) {
        const AvcSlot &slot = *frame_.avc->find(test.attribute);
        const std::size_t n_slots = frame_.avc->slots.size();
        const std::uint16_t *cell = frame_.cells.data() + (&slot - frame_.avc->slots.data());
        const std::uint32_t width = frame_.avc->width, last_left = slot.begin + test.lo * width,
                            missing = slot.begin + slot.n_values * width;
        const auto missing_flag = static_cast<std::uint8_t>(test.default_child);
        for (E e : rows) {
            const std::uint32_t id = Packed<E>::id(e), of_row = cell[id * n_slots];
            frame_.flag[id] = of_row == missing ? missing_flag : of_row > last_left;
        }
    }

  private:
    Frame<E> &frame_;
    const Target &target_;
    NodePool<E, Target> &pool_;

    static bool grows(const Node &node) { return !node.lanes.empty(); }
    /// Nodes of a wide frame have no room for lists of counted attributes, and are large.
    bool pays(const Node &node) const { return frame_.room.empty() || frame_.avc->pays(node.rows.size()); }

    AvcGroup count(std::span<const E> rows, Workers *workers) {
        AvcGroup group = pool_.fresh_group(frame_.avc->n_cells);
        if constexpr (requires { target_.code; }) {
            constexpr std::size_t chunk = 32768; // rows between two looks for a stop
            const std::size_t chunks = (rows.size() + chunk - 1) / chunk;
            auto add = [&](std::size_t c, AvcGroup &to) {
                add_rows(to, *frame_.avc, frame_.cells,
                         rows.subspan(c * chunk, std::min(chunk, rows.size() - c * chunk)), target_.code);
            };
            if (workers == nullptr) {
                for (std::size_t c = 0; c < chunks; ++c) add(c, group);
                return group;
            }
            std::vector<AvcGroup> others; // of the workers but the first
            while (others.size() + 1 < workers->places()) others.push_back(pool_.fresh_group(group.size()));
            workers->share(chunks,
                           [&](std::size_t c, unsigned w) { add(c, w == 0 ? group : others[w - 1]); });
            for (AvcGroup &other : others) {
                for (std::size_t i = 0; i < group.size(); ++i) group[i] += other[i];
                pool_.recycle_group(std::move(other));
            }
        }
        return group;
    }

    /// A node's rows lie where its part of every attribute's room lies.
    void write_lists(Node &node) {
        const std::size_t at = static_cast<std::size_t>(node.rows.data() - frame_.entries.get());
        for (Segment<E> &s : node.active) {
            const AvcSlot *slot = frame_.avc->find(s.attribute);
            if (s.listed() || slot == nullptr || slot->nominal) continue;
            s.begin = frame_.room[static_cast<std::size_t>(slot - frame_.avc->slots.data())] + at;
            s.size = write_list<E>(*frame_.avc, frame_.cells, *slot, node.rows, s.begin);
        }
    }
};

} // namespace hornbeam
