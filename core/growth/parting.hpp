// The lists of a node go to its children: flags say where each example goes, partitions keep the order.
#pragma once

#include <cstring>

#include "growth/counting.hpp"

namespace hornbeam {

inline constexpr std::size_t vector_room = 16; // the kernels store whole vectors

template <class E, class Target> class Parting {
  public:
    using Node = Pending<E, typename Target::Stats>;

    Parting(Frame<E> &frame, const GrowTask &task, Counting<E, Target> &counting)
        : frame_(frame), task_(task), counting_(counting) {}

    /// Sets the flag of every row of the node to its child; returns the entries of the tested numeric list
    /// that go left.
    std::uint32_t flag_rows(const Node &node, const Choice &test) {
        std::uint8_t *flag = frame_.flag.data();
        if (test.kind != TestKind::numeric) {
            const FrameCodes &codes = map_codes(test);
            for_entries(node.rows, task_.cancel, [&](E e) {
                const std::uint32_t id = Packed<E>::id(e);
                flag[id] = static_cast<std::uint8_t>(child_of(codes, id));
            });
            return 0;
        }
        const Segment<E> &s = segment_of(node.active, test.attribute);
        if (!s.listed()) {
            in_stretches(node.rows.size(), task_.cancel, [&](std::size_t lo, std::size_t hi) {
                counting_.flag_rows(node.rows.subspan(lo, hi - lo), test);
            });
            return 0;
        }
        auto raise = [&](std::span<const E> entries, std::int32_t to) {
            for_entries(entries, task_.cancel,
                        [&](E e) { flag[Packed<E>::id(e)] = static_cast<std::uint8_t>(to); });
        };
        if (s.size != node.rows.size()) raise(node.rows, test.default_child);
        const E *cut = above(s, test.lo);
        raise({s.begin, cut}, 0);
        raise({cut, s.begin + s.size}, 1);
        return static_cast<std::uint32_t>(cut - s.begin);
    }

    /// Calls `visit(id, child)` for every row of the node.
    template <class Visit> void each_child(const Node &node, const Choice &test, Visit visit) {
        if (test.n_children == 2) {
            flag_rows(node, test);
            for (E e : node.rows) visit(Packed<E>::id(e), std::int32_t{frame_.flag[Packed<E>::id(e)]});
        } else {
            open_deal(node, test);
            for (E e : node.rows) visit(Packed<E>::id(e), child_of_id_[Packed<E>::id(e)]);
        }
    }

    /// Stable partition of a list by its flags; returns the size of the first part.
    std::uint32_t in_place(E *list, std::uint32_t n) { return in_place(list, n, scratch_, true); }

    /// Partitions the lists of a node, but for the tested one, which is in order already: `cut` of its
    /// entries go left. A part that nobody wants need not be there.
    void lists(const Node &node, const Choice &test, std::uint32_t cut, std::span<Node> child,
               Workers *workers) {
        const bool right_wanted = !child[1].lanes.empty();
        for (Node &c : child) c.active.resize(node.active.size());
        each_list(node, workers, [&](std::size_t a, std::vector<E> &room) {
            const Segment<E> &s = node.active[a];
            std::uint32_t n_left = 0;
            if (s.listed()) {
                const bool tested = test.kind == TestKind::numeric && s.attribute == test.attribute;
                n_left = tested ? cut : in_place(s.begin, s.size, room, right_wanted);
            }
            child[0].active[a] = {s.attribute, n_left, s.begin};
            child[1].active[a] = {s.attribute, s.size - n_left, s.listed() ? s.begin + n_left : nullptr};
        });
    }

    /// Flags the rows that count in none of the sets, for `keep`; returns how many count.
    std::size_t mark(std::span<const E> rows, SetMask sets) {
        std::size_t absent = 0;
        for_entries(rows, task_.cancel, [&](E e) {
            const std::uint32_t id = Packed<E>::id(e);
            const bool out = (frame_.sets.of(id) & sets) == 0;
            frame_.flag[id] = out;
            absent += out;
        });
        all_ = absent == 0;
        return rows.size() - absent;
    }
    /// Copies what counts in a list to `to`, which may be the list itself.
    std::span<E> keep(std::span<E> list, E *to) const {
        const auto n = static_cast<std::uint32_t>(list.size());
        if (all_) {
            if (to != list.data()) std::memcpy(to, list.data(), n * sizeof(E));
            return {to, n};
        }
        const Kernels &kernels = *task_.parameters.kernels;
        if constexpr (sizeof(E) == 4)
            return {to, kernels.keep_narrow(list.data(), n, frame_.flag.data(), to)};
        else
            return {to, kernels.keep_wide(list.data(), n, frame_.flag.data(), to)};
    }

    /// Many branches: prepares `deal` for the rows of a node.
    void open_deal(const Node &node, const Choice &test) {
        const FrameCodes &codes = map_codes(test);
        child_of_id_.resize(frame_.n);
        for_entries(node.rows, task_.cancel, [&](E e) {
            const std::uint32_t id = Packed<E>::id(e);
            child_of_id_[id] = child_of(codes, id);
        });
        start_.resize(static_cast<std::size_t>(test.n_children) + 1);
    }
    /// Deals a list out by child, keeping its order; returns where the part of each child begins.
    std::span<const std::uint32_t> deal(E *list, std::uint32_t n) {
        std::fill(start_.begin(), start_.end(), 0);
        auto child = [&](E e) { return static_cast<std::size_t>(child_of_id_[Packed<E>::id(e)]); };
        for_entries<E>({list, n}, task_.cancel, [&](E e) { ++start_[child(e) + 1]; });
        for (std::size_t c = 0; c + 1 < start_.size(); ++c) start_[c + 1] += start_[c];
        if (scratch_.size() < n) scratch_.resize(n);
        std::vector<std::uint32_t> at(start_.begin(), start_.end() - 1);
        for_entries<E>({list, n}, task_.cancel, [&](E e) { scratch_[at[child(e)]++] = e; });
        std::memcpy(list, scratch_.data(), n * sizeof(E));
        return start_;
    }

  private:
    Frame<E> &frame_;
    const GrowTask &task_;
    Counting<E, Target> &counting_;
    std::vector<E> scratch_;
    std::vector<std::vector<E>> rooms_; // one a worker
    std::vector<std::int32_t> child_of_code_, child_of_id_;
    std::vector<std::uint32_t> start_;
    bool all_ = true; // no row is marked as absent
    // Parted between two looks for a stop. Long: what stays is moved once more wherever there are several.
    static constexpr std::size_t wide_stretch = std::size_t{1} << 20;

    /// Missing and categories of other sets' rows follow the default branch.
    const FrameCodes &map_codes(const Choice &test) {
        const FrameCodes &codes = frame_.nominal[static_cast<std::size_t>(test.attribute)];
        child_of_code_.assign(static_cast<std::size_t>(codes.n_categories) + 1, test.default_child);
        for (auto [code, child] : test.branches) child_of_code_[static_cast<std::size_t>(code) + 1] = child;
        return codes;
    }
    std::int32_t child_of(const FrameCodes &codes, std::uint32_t id) const {
        return child_of_code_[static_cast<std::size_t>(codes.code[id] + 1)];
    }

    /// Flag 0 stays in front, the rest goes to `right`.
    std::uint32_t part(E *list, std::uint32_t n, std::vector<E> &right) {
        if (right.size() < n + vector_room) right.resize(n + vector_room);
        const Kernels &kernels = *task_.parameters.kernels;
        if constexpr (sizeof(E) == 4) {
            return kernels.part_narrow(list, n, frame_.flag.data(), right.data());
        } else {
            std::size_t left = 0;
            in_stretches<wide_stretch>(n, task_.cancel, [&](std::size_t lo, std::size_t hi) {
                std::uint32_t stay = kernels.part_wide(list + lo, static_cast<std::uint32_t>(hi - lo),
                                                       frame_.flag.data(), right.data() + (lo - left));
                if (left != lo) std::memmove(list + left, list + lo, stay * sizeof(E));
                left += stay;
            });
            return static_cast<std::uint32_t>(left);
        }
    }
    std::uint32_t in_place(E *list, std::uint32_t n, std::vector<E> &room, bool right_wanted) {
        std::uint32_t left = part(list, n, room);
        if (right_wanted) std::memcpy(list + left, room.data(), (n - left) * sizeof(E));
        return left;
    }

    template <class PartList> void each_list(const Node &node, Workers *workers, PartList part_list) {
        if (workers == nullptr || !workers->several()) {
            for (std::size_t a = 0; a < node.active.size(); ++a) {
                poll_if_large(node, task_.cancel);
                part_list(a, scratch_);
            }
            return;
        }
        rooms_.resize(workers->places());
        workers->share(node.active.size(), [&](std::size_t a, unsigned w) { part_list(a, rooms_[w]); });
    }
};

} // namespace hornbeam
