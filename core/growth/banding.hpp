// Section 3.4 of paper 000: near thresholds of several sets stay in one node, and the examples between them
// go both ways.
#pragma once

#include <utility>

#include "growth/agreement.hpp"
#include "growth/parting.hpp"
#include "running/paging.hpp"

namespace hornbeam {

template <class E, class Target> class Banding {
  public:
    using Node = Pending<E, typename Target::Stats>;

    Banding(Frame<E> &frame, const GrowTask &task, Counting<E, Target> &counting, Parting<E, Target> &parting)
        : frame_(frame), task_(task), counting_(counting), parting_(parting) {}

    /// Lets groups that cut the same attribute at near values go on in one node (figure 8).
    void bring_together(std::vector<Group> &groups, const Node &node) const {
        if (groups.size() < 2 || frame_.room_for_guests() == 0) return;
        std::stable_sort(groups.begin(), groups.end(), [](const Group &a, const Group &b) {
            return std::pair(a.test.attribute, a.test.lo) < std::pair(b.test.attribute, b.test.lo);
        });
        std::vector<Group> made;
        const std::size_t most = std::min(node.rows.size() / widest_band, frame_.room_for_guests());
        for (Group &g : groups)
            if (!made.empty() && cut_alike(made.back(), g) && nearly_between(made.back(), g, node) <= most)
                widen(made.back(), std::move(g), node);
            else
                made.push_back(std::move(g));
        groups = std::move(made);
    }
    /// Whether a group's guests find room when it is split: those of groups that were split before it are
    /// still there where nodes wait for a worker, and counted values tell only about how many there will be.
    bool has_room(const Group &group, const Node &node) const {
        const std::size_t room = frame_.room_for_guests();
        if (!group.banded() || node.rows.size() <= room) return true;
        return rows_between(node, group.test.attribute, group.test.lo, group.band.back().lo) <= room;
    }

    /// Examples between the cuts go both ways: in the larger child they stay who they are, in the other they
    /// are guests. That one moves, and has lists of its own.
    void split_rows(Node &node, const Group &group, std::span<Node> child) {
        flag_rows(node, group);
        const std::uint8_t *flag = frame_.flag.data();
        n_moved_ = 0;
        for (E e : node.rows) n_moved_ += flag[Packed<E>::id(e)] != 0;
        make_room(node);
        std::tie(child[1 - moves_].rows, child[moves_].rows) = deal(node.rows);
    }
    /// The lists of children whose rows are split and that have what they inherit.
    void split_lists(Node &node, std::span<Node> child) {
        for (const Segment<E> &s : node.active) {
            poll_if_large(node, task_.cancel);
            const auto [stay, move] =
                s.listed() ? deal({s.begin, s.size}) : std::pair<std::span<E>, std::span<E>>();
            child[1 - moves_].active.push_back(
                {s.attribute, static_cast<std::uint32_t>(stay.size()), stay.data()});
            child[moves_].active.push_back(
                {s.attribute, static_cast<std::uint32_t>(move.size()), move.data()});
        }
        if (node.room.first != nullptr) child[moves_].room = {child[moves_].rows.data(), to_, n_moved_};
        child[moves_].owner = {std::move(rooms_), child[moves_].rows.data()};
    }

  private:
    using Rooms = std::vector<std::unique_ptr<E[]>>;
    static constexpr std::size_t widest_band = 4; // a share of the node: one in so many rows
    Frame<E> &frame_;
    const GrowTask &task_;
    Counting<E, Target> &counting_;
    Parting<E, Target> &parting_;
    std::vector<std::uint32_t> guest_; // by id, of those that go both ways
    std::size_t moves_ = 1;            // the child whose rows are copied, and who has the guests
    std::shared_ptr<Rooms> rooms_;     // of its lists, while they are made
    bool apart_ = false;               // a room for each list
    E *to_ = nullptr;
    std::size_t n_moved_ = 0;

    /// Lists that may have to be written, besides those that are there.
    std::size_t counted_lists(const Node &node) const {
        return node.room.first != nullptr ? frame_.avc->n_numeric : 0;
    }

    /// How many examples lie between two cuts: no more than these can be on both sides.
    std::size_t rows_between(const Node &node, std::int32_t attribute, std::uint32_t from,
                             std::uint32_t to) const {
        const Segment<E> &s = segment_of(node.active, attribute);
        if (!s.listed()) return counting_.rows_between(node, attribute, from, to);
        return static_cast<std::size_t>(above(s, to) - above(s, from));
    }
    /// About the same, without a look at every row.
    std::size_t nearly_between(const Group &low, const Group &high, const Node &node) const {
        const std::int32_t attribute = low.test.attribute;
        if (segment_of(node.active, attribute).listed())
            return rows_between(node, attribute, low.test.lo, high.test.lo);
        return counting_.nearly_between(node, attribute, low.test.lo, high.test.lo);
    }

    static void widen(Group &low, Group &&high, const Node &node) {
        auto sets = [&](const Group &g) {
            SetMask all = 0;
            for (std::size_t i : g.members) all |= SetMask{1} << node.lanes[i].set;
            return all;
        };
        if (!low.banded()) {
            Group alone = low;
            low.apart.push_back(std::move(alone));
            low.band.push_back({low.test.lo, sets(low) | sets(high)});
        } else {
            for (Group::Cut &cut : low.band) cut.left_before |= sets(high);
        }
        low.band.push_back({high.test.lo, sets(high)});
        low.members.insert(low.members.end(), high.members.begin(), high.members.end());
        std::sort(low.members.begin(), low.members.end());
        if (high.default_decided && !low.default_decided) low.test.default_child = high.test.default_child;
        low.default_decided = low.default_decided || high.default_decided;
        low.apart.push_back(std::move(high));
    }

    /// Sets the flag of every row, 0 where it stays, and makes guests of those that go both ways.
    void flag_rows(const Node &node, const Group &group) {
        parting_.flag_rows(node, group.test); // of the lowest cut: what goes left goes left for all
        std::size_t right = 0;
        for (E e : node.rows) right += frame_.flag[Packed<E>::id(e)];
        moves_ = 2 * right <= node.rows.size() ? 1 : 0;
        place_between(node, group);
        if (moves_ == 1) return;
        for (E e : node.rows)
            if (std::uint8_t &flag = frame_.flag[Packed<E>::id(e)]; flag != both_ways) flag ^= 1;
    }
    void place_between(const Node &node, const Group &group) {
        const SetMask all = sets_of(node);
        if (guest_.size() < frame_.capacity) guest_.resize(frame_.capacity);
        auto place = [&](std::uint32_t id, std::uint32_t rank) {
            if (frame_.flag[id] == 0 || rank > group.band.back().lo) return;
            auto cut = std::find_if(group.band.begin(), group.band.end(),
                                    [&](const Group::Cut &c) { return rank <= c.lo; });
            const SetMask here = frame_.sets.of(id) & all, left = here & cut->left_before,
                          right = here & ~left;
            if (right == 0) {
                frame_.flag[id] = 0;
            } else if (left != 0) {
                const SetMask moved = moves_ == 1 ? right : left;
                frame_.flag[id] = both_ways;
                guest_[id] = frame_.add_guest(id, moved);
                frame_.sets.mask[id] &= ~moved;
            }
        };
        const Segment<E> &s = segment_of(node.active, group.test.attribute);
        if (s.listed())
            for (std::uint32_t i = 0; i < s.size; ++i)
                place(Packed<E>::id(s.begin[i]), Packed<E>::rank(s.begin[i]));
        else
            counting_.each_value(node.rows, group.test.attribute, place);
    }

    /// Room for what moves. Large lists have one each: allocators keep at hand what is not too large, and
    /// the pages of the whole would be new ones every time.
    void make_room(const Node &node) {
        constexpr std::size_t large = std::size_t{1} << 18; // bytes
        std::size_t lists = 1 + counted_lists(node);
        rooms_ = std::make_shared<Rooms>();
        apart_ = node.room.first == nullptr && n_moved_ * sizeof(E) >= large;
        if (apart_) return;
        for (const Segment<E> &s : node.active) lists += s.listed();
        add_room(n_moved_ * lists);
    }
    void add_room(std::size_t entries) {
        rooms_->push_back(std::make_unique_for_overwrite<E[]>(entries + vector_room));
        to_ = rooms_->back().get();
    }

    /// What stays, and what moves.
    std::pair<std::span<E>, std::span<E>> deal(std::span<E> list) {
        const Kernels &kernels = *task_.parameters.kernels;
        const auto n = static_cast<std::uint32_t>(list.size());
        if (apart_) {
            add_room(n_moved_);
            bring_in(to_, n_moved_ * sizeof(E), task_.cancel);
        }
        Dealt dealt;
        if constexpr (sizeof(E) == 4)
            dealt = kernels.deal_narrow(list.data(), n, frame_.flag.data(), guest_.data(), to_);
        else
            dealt = kernels.deal_wide(list.data(), n, frame_.flag.data(), guest_.data(), to_);
        const std::span<E> moved(to_, dealt.right);
        to_ += dealt.right;
        return {list.first(dealt.left), moved};
    }
};

} // namespace hornbeam
