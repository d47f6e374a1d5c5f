// The grower: visits nodes depth first, chooses a test per training set, lets sets that agree go on together.
#pragma once

#include <functional>
#include <memory>

#include "growth/banding.hpp"
#include "growth/child_totals.hpp"
#include "growth/choosing.hpp"
#include "growth/ledger.hpp"
#include "growth/pending.hpp"
#include "growth/serving.hpp"
#include "growth/twigs.hpp"
#include "running/parallel.hpp"

namespace hornbeam {

template <class E, class Target> class Grower {
  public:
    using Stats = typename Target::Stats;
    using Node = Pending<E, Stats>;

    Grower(Frame<E> &frame, const Target &target, const SplitCriterion<Target> &criterion,
           const GrowTask &task, const RuleTable &rules, Forest &forest)
        : ledger(frame, criterion, task, rules, forest), frame_(frame), task_(task), rules_(rules),
          forest_(forest), twigs_(frame, target, criterion, task, rules, ledger),
          choosing_(frame, target, criterion, task, rules), pool_(target),
          counting_(frame, target, pool_, *task.parameters.kernels, choosing_.scans_together(),
                    twigs_.most_rows()),
          parting_(frame, task, counting_), banding_(frame, task, counting_, parting_),
          totals_(frame, target, pool_, task.cancel),
          serving_(frame, task, rules, choosing_, counting_, parting_) {}

    /// Called with a node that fits a narrow frame, when growing in a wide one; nodes it takes are not grown
    /// here.
    std::function<void(Node &&)> hand_over;
    /// Large nodes share their attributes among these; narrow frames run one to a thread.
    Workers *workers = nullptr;
    Ledger<E, Target> ledger;

    /// Grows everything below `root`, whose lanes are growing already.
    void grow(Node root) {
        counting_.begin(root, workers);
        root.n_ids = frame_.n;
        stack_.push_back(std::move(root));
        grow_above(0);
    }

  private:
    Frame<E> &frame_;
    const GrowTask &task_;
    const RuleTable &rules_;
    Forest &forest_;
    Twigs<E, Target> twigs_;
    Choosing<E, Target> choosing_;
    NodePool<E, Target> pool_;
    Counting<E, Target> counting_;
    Parting<E, Target> parting_;
    Banding<E, Target> banding_;
    ChildTotals<E, Target> totals_;
    Serving<E, Target> serving_;
    std::vector<Node> stack_;
    std::vector<Choice> choice_;
    static constexpr std::size_t few_lanes = 3;

    /// Grows what was put on the stack above `base`. Where sets part, one group after the other is copied and
    /// grown to its end: their lists need not be there at the same time.
    void grow_above(std::size_t base) {
        while (stack_.size() > base) {
            task_.cancel.poll();
            Node node = std::move(stack_.back());
            stack_.pop_back();
            // What was made after it is grown: those guests have left, unless they wait to be handed over.
            if (!shares_attributes()) frame_.n = node.n_ids;
            if (hand_over && fits_narrow(node))
                hand_over(std::move(node));
            else
                refine(std::move(node));
        }
    }
    /// The same for what `put` puts there; ids that it takes are free again.
    template <class Put> void grow_apart(Put put) {
        const std::size_t base = stack_.size(), ids = frame_.n;
        put();
        grow_above(base);
        if (!shares_attributes()) frame_.n = ids;
    }

    // ---- choosing ----

    void spent(const Node &node, Work work) { forest_.costs.spent(node.depth, work); }

    void add_cost(const Node &node) {
        LevelCost &level = forest_.costs.at(node.depth);
        ++level.nodes;
        choosing_.add_cost(node, level);
        for (const Lane<Stats> &lane : node.lanes)
            level.own_entries += lane.total.n * static_cast<std::int64_t>(node.active.size());
    }

    /// Whether all children are leaves by their depth: nobody will ask for their lists.
    bool bears_leaves(const Node &node) const {
        return task_.parameters.max_depth >= 0 && node.depth + 1 >= task_.parameters.max_depth;
    }
    /// Few lanes are looked at faster one by one, at the price of one copy of their lists. So are lanes whose
    /// rows repeat, but where values are counted for all of them at once: lists are copied for each anyway.
    bool better_apart(const Node &node) const {
        if (node.lanes.size() == 1 || task_.parameters.sharing != Sharing::automatic ||
            !task_.parameters.accelerate)
            return false;
        if (frame_.sets.repeats() && !counting_.pays_together(node)) return true;
        return node.lanes.size() <= few_lanes && !bears_leaves(node);
    }
    void separate(Node &node) {
        for (std::size_t i = node.lanes.size(); i-- > 0;)
            grow_apart([&] {
                stack_.push_back(seen_by(node, {&i, 1}, i == 0 && !frame_.sets.repeats()));
                stack_.back().n_ids = frame_.n;
            });
    }

    void refine(Node node) {
        forest_.costs.start();
        if constexpr (bears_twigs<E, Target>)
            if (twigs_.takes(node)) {
                twigs_.grow(node);
                return pool_.recycle(std::move(node));
            }
        if (better_apart(node)) {
            separate(node);
            spent(node, Work::other);
            return pool_.recycle(std::move(node));
        }
        if (node.lanes.size() == 1 && !solo(node)) {
            const std::size_t only = 0;
            Node own = seen_by(node, {&only, 1}, !frame_.sets.repeats());
            std::swap(node, own);
            pool_.recycle(std::move(own));
        } else if (node.stale) {
            drop_unwanted(node);
        }
        std::erase_if(node.active, [](const Segment<E> &s) { return constant(s); });
        spent(node, Work::other);
        choosing_.choose(node, counting_, workers, choice_);
        add_cost(node);
        spent(node, Work::numeric);
        if (rules_.n_settings() > 1) part_settings(node);
        if (node.lanes.size() == 1) {
            const Choice *own = &choice_[0];
            if (ledger.worth(node.lanes[0], *own)) split_by(node, *own, {&own, 1}, nullptr);
        } else {
            split_groups(node);
        }
        spent(node, Work::other);
        pool_.recycle(std::move(node));
    }

    // ---- settings ----

    /// Leaves each lane the settings that its choice serves. Those that choose otherwise are grown apart
    /// first, on copies of the lists.
    void part_settings(Node &node) {
        std::vector<std::size_t> members;
        std::vector<std::uint32_t> served;
        for (std::size_t i = 0; i < node.lanes.size(); ++i) {
            const std::uint32_t end = serving_.served(node, i, choice_[i]);
            if (end == node.lanes[i].settings.last) continue;
            members.push_back(i);
            served.push_back(end);
        }
        if (members.empty()) return;
        std::vector<Choice> choice = std::move(choice_);
        const std::vector<SetMask> masks = masks_of(node.rows);
        grow_apart([&] {
            Node others = seen_by(node, members, false);
            for (std::size_t m = 0; m < members.size(); ++m) {
                others.lanes[m].settings.first = served[m];
                node.lanes[members[m]].settings.last = served[m];
            }
            others.n_ids = frame_.n;
            stack_.push_back(std::move(others));
        });
        for (std::size_t i = 0; i < masks.size(); ++i)
            frame_.sets.mask[Packed<E>::id(node.rows[i])] = masks[i];
        choice_ = std::move(choice);
    }
    /// What guests that are made below may take from these rows' sets; nothing where none can be made.
    std::vector<SetMask> masks_of(std::span<const E> rows) const {
        std::vector<SetMask> masks;
        if (frame_.room_for_guests() == 0) return masks;
        masks.reserve(rows.size());
        for (E e : rows) masks.push_back(frame_.sets.of(Packed<E>::id(e)));
        return masks;
    }

    void split_groups(Node &node) {
        std::vector<Choice> choice = std::move(choice_);
        std::vector<Group> groups;
        for (std::size_t i = 0; i < node.lanes.size(); ++i)
            if (ledger.worth(node.lanes[i], choice[i])) join(groups, i, node.lanes[i], choice[i], node);
        banding_.bring_together(groups, node);
        // The largest group comes last, and needs no copies.
        auto largest = std::max_element(groups.begin(), groups.end(), [](const Group &a, const Group &b) {
            return a.members.size() < b.members.size();
        });
        if (largest != groups.end()) std::iter_swap(largest, groups.end() - 1);
        for (const Group &group : groups) split_group(node, group, choice, &group == &groups.back());
    }
    /// `last`: no other group will look at the node. A band that finds no room is split as the groups it was
    /// made of.
    void split_group(Node &node, const Group &group, const std::vector<Choice> &choice, bool last) {
        if (!banding_.has_room(group, node)) {
            ++forest_.costs.at(node.depth).bands_apart;
            for (const Group &part : group.apart)
                split_group(node, part, choice, last && &part == &group.apart.back());
            return;
        }
        std::vector<const Choice *> own;
        for (std::size_t i : group.members) own.push_back(&choice[i]);
        if (own.size() == node.lanes.size()) return split(node, group, own);
        const bool in_place = last && !(own.size() == 1 && frame_.sets.repeats());
        grow_apart([&] {
            Node part = seen_by(node, group.members, in_place, bears_leaves(node) ? &group.test : nullptr);
            spent(node, Work::other);
            split(part, group, own);
            pool_.recycle(std::move(part));
        });
    }

    bool shares_attributes() const { return workers != nullptr && workers->several(); }

    /// Restores the invariant that every row of a node counts for one of its lanes.
    void drop_unwanted(Node &node) {
        parting_.mark(node.rows, sets_of(node));
        node.rows = parting_.keep(node.rows, node.rows.data());
        for (Segment<E> &s : node.active) {
            poll_if_large(node, task_.cancel);
            if (s.listed())
                s.size = static_cast<std::uint32_t>(parting_.keep({s.begin, s.size}, s.begin).size());
        }
        node.stale = false;
    }

    // ---- agreement ----

    /// Puts a lane into the first group whose partition of the lane's rows is the lane's own, or into a new
    /// one.
    void join(std::vector<Group> &groups, std::size_t i, const Lane<Stats> &lane, const Choice &c,
              const Node &node) {
        bool binding = node.lanes.size() > 1 && has_missing(i, lane, c, node);
        for (Group &g : groups)
            if (agree(g, c, binding)) {
                g.members.push_back(i);
                merge(g, c, binding);
                return;
            }
        groups.push_back({{i}, c, binding});
    }

    bool has_missing(std::size_t i, const Lane<Stats> &lane, const Choice &c, const Node &node) const {
        if (!node.avc.empty())
            if (const AvcSlot *slot = frame_.avc->find(c.attribute))
                return counting_.has_missing(node, i, *slot);
        std::int64_t known = 0;
        auto add = [&](std::span<const E> entries, auto has_value) {
            for_entries(entries, task_.cancel, [&](E e) {
                if (has_value(Packed<E>::id(e))) known += frame_.sets.count(Packed<E>::id(e), lane.set);
            });
        };
        if (c.kind == TestKind::numeric) {
            const Segment<E> &s = segment_of(node.active, c.attribute);
            if (s.size == node.rows.size()) return false;
            add({s.begin, s.size}, [](std::uint32_t) { return true; });
        } else {
            const FrameCodes &codes = frame_.nominal[static_cast<std::size_t>(c.attribute)];
            add(node.rows, [&](std::uint32_t id) { return codes.code[id] >= 0; });
        }
        return known != lane.total.n;
    }

    /// The node as some of its lanes see it: their rows only, copied or where they are. A lane that is alone
    /// has a row as often as it counts: from there on every row counts once. `last`: a test that will not be
    /// followed by another; only what it asks for is taken along.
    Node seen_by(Node &node, std::span<const std::size_t> members, bool in_place,
                 const Choice *last = nullptr) {
        Node part = pool_.fresh();
        part.depth = node.depth;
        for (std::size_t i : members) part.lanes.push_back(pool_.copy_of(node.lanes[i]));
        const bool alone = members.size() == 1;
        const bool repeats = alone && frame_.sets.repeats() && !solo(node);
        const std::size_t rows = repeats ? static_cast<std::size_t>(part.lanes[0].total.n)
                                         : parting_.mark(node.rows, sets_of(part));
        const bool has_room = node.room.first != nullptr;
        // What is scanned row by row for all lanes may pay to be counted for one.
        const bool counted =
            last == nullptr && alone && has_room && node.avc.empty() && counting_.pays_alone(rows);
        // Where lists are written anew they need room of their own: those of a sibling, which has rows
        // without a value, may begin before its rows do.
        in_place = in_place && !counted;
        part.owner = in_place ? node.owner : room_for_copies(node, rows);
        E *to = part.owner.get();
        auto own = [&](std::span<E> list) {
            if (in_place) return parting_.keep(list, list.data());
            const std::span<E> copy =
                repeats ? std::span(to, copy_own<E>(frame_.sets, part.lanes[0].set, list, to))
                        : parting_.keep(list, to);
            to += copy.size();
            return copy;
        };
        part.rows = own(node.rows);
        for (const Segment<E> &s : node.active) {
            if (last != nullptr && s.attribute != last->attribute) continue;
            poll_if_large(node, task_.cancel);
            std::span<E> list;
            if (s.listed() && !(counted && frame_.avc->find(s.attribute) != nullptr))
                list = own({s.begin, s.size});
            part.active.push_back({s.attribute, static_cast<std::uint32_t>(list.size()), list.data()});
        }
        if (has_room) part.room = in_place ? node.room : ListRoom<E>{part.rows.data(), to, rows};
        if (counted)
            part.avc = counting_.count_alone(part.rows);
        else if (last == nullptr)
            part.avc = counting_.kept(node, members, in_place);
        return part;
    }
    std::shared_ptr<E[]> room_for_copies(const Node &node, std::size_t rows) const {
        std::size_t lists = 1;
        for (const Segment<E> &s : node.active) lists += s.listed();
        const std::size_t counted = node.room.first != nullptr ? frame_.avc->n_numeric : 0;
        auto room = std::make_shared_for_overwrite<E[]>(rows * (lists + counted) + vector_room);
        bring_in(room.get(), rows * lists * sizeof(E), task_.cancel);
        return room;
    }

    // ---- splitting ----

    void split(Node &node, const Group &group, std::span<const Choice *const> own) {
        split_by(node, group.test, own, &group);
    }

    /// Splits the rows of all lanes of the node by one test; `own` is what each lane itself chose.
    void split_by(Node &node, const Choice &test, std::span<const Choice *const> own, const Group *group) {
        for (std::size_t i = 0; i < own.size(); ++i) ledger.record_test(node.lanes[i], *own[i]);
        if (group != nullptr && group->banded())
            split_by_band(node, *group);
        else if (test.n_children == 2)
            split_in_two(node, test);
        else
            split_in_many(node, test);
    }

    void split_in_two(Node &node, const Choice &test) {
        const std::uint32_t cut = parting_.flag_rows(node, test);
        const std::uint32_t left =
            parting_.in_place(node.rows.data(), static_cast<std::uint32_t>(node.rows.size()));
        std::array<Node, 2> child{pool_.fresh(), pool_.fresh()};
        child[0].rows = node.rows.first(left);
        child[1].rows = node.rows.subspan(left);
        add_children(node, child);
        if (!child[0].lanes.empty() || !child[1].lanes.empty()) {
            parting_.lists(node, test, cut, child, workers);
            hand_down(node, child);
        }
        visit_later(child);
    }

    void split_by_band(Node &node, const Group &group) {
        ++forest_.costs.at(node.depth).bands;
        std::array<Node, 2> child{pool_.fresh(), pool_.fresh()};
        banding_.split_rows(node, group, child);
        add_children(node, child);
        banding_.split_lists(node, child);
        hand_down(node, child);
        visit_later(child);
    }

    void split_in_many(Node &node, const Choice &test) {
        parting_.open_deal(node, test);
        const auto n_children = static_cast<std::size_t>(test.n_children);
        std::vector<Node> child(n_children);
        std::span<const std::uint32_t> start =
            parting_.deal(node.rows.data(), static_cast<std::uint32_t>(node.rows.size()));
        for (std::size_t c = 0; c < n_children; ++c)
            child[c].rows = node.rows.subspan(start[c], start[c + 1] - start[c]);
        add_children(node, child);
        for (const Segment<E> &s : node.active) {
            // A category's rows share it: the tested attribute has nothing more to say below.
            if (s.attribute == test.attribute) continue;
            if (s.listed()) start = parting_.deal(s.begin, s.size);
            for (std::size_t c = 0; c < n_children; ++c)
                child[c].active.push_back(
                    s.listed() ? Segment<E>{s.attribute, start[c + 1] - start[c], s.begin + start[c]} : s);
        }
        hand_down(node, child);
        visit_later(child);
    }

    /// The children's lists are parted: what is counted by value goes down as well.
    void hand_down(Node &node, std::span<Node> child) {
        spent(node, Work::tests);
        counting_.hand_down(node, child, workers);
        spent(node, Work::statistics);
    }
    /// The first child is visited first.
    void visit_later(std::span<Node> child) {
        for (std::size_t c = child.size(); c-- > 0;)
            child[c].lanes.empty() ? pool_.recycle(std::move(child[c]))
                                   : stack_.push_back(std::move(child[c]));
    }

    /// Creates the children's nodes with a record for every lane that reaches them, and keeps the lanes that
    /// go on growing.
    void add_children(Node &node, std::span<Node> child) {
        spent(node, Work::tests);
        forest_.n_nodes += child.size();
        const std::span<Stats> totals = totals_.count(node, child);
        const std::size_t k = node.lanes.size();
        for (std::size_t c = 0; c < child.size(); ++c) {
            child[c].depth = node.depth + 1;
            child[c].n_ids = frame_.n;
            child[c].owner = node.owner;
            child[c].room = node.room;
            for (std::size_t i = 0; i < k; ++i) {
                Stats &t = totals[c * k + i];
                const std::int32_t set = node.lanes[i].set;
                const std::uint64_t record = forest_.of(set).records.size();
                SettingRange go_on{0, 0};
                if (t.n != 0) go_on = ledger.record_lane(set, t, child[c].depth, node.lanes[i].settings);
                if (!go_on.empty())
                    child[c].lanes.push_back(
                        {set, record, std::move(t), OpenCategories::inherited(node.lanes[i].open, c), go_on});
                else
                    pool_.recycle_stats(std::move(t));
            }
            child[c].stale = child[c].lanes.size() != k;
        }
        spent(node, Work::statistics);
    }
};

} // namespace hornbeam
