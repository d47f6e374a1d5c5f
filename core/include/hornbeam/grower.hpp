// The grower: visits nodes depth first, chooses a test per training set, lets sets that agree go on together.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <tuple>

#include "hornbeam/agreement.hpp"
#include "hornbeam/choosing.hpp"
#include "hornbeam/counting.hpp"
#include "hornbeam/describe.hpp"
#include "hornbeam/parallel.hpp"
#include "hornbeam/pending.hpp"
#include "hornbeam/threshold.hpp"

namespace hornbeam {

template <class E, Criterion C> class Grower {
  public:
    using Target = typename C::Target;
    using Stats = typename Target::Stats;
    using Node = Pending<E, Stats>;

    Grower(Frame<E> &frame, const Target &target, const C &criterion, const GrowTask &task,
           const std::vector<StopRules> &rules, Forest &forest)
        : frame_(frame), target_(target), criterion_(criterion), task_(task), rules_(rules), forest_(forest),
          choosing_(frame, target, criterion, task, rules), pool_(target),
          counting_(frame, target, pool_, choosing_.scans_lists_together()) {}

    /// Called with a node that fits a narrow frame, when growing in a wide one; nodes it takes are not grown
    /// here.
    std::function<void(Node &&)> hand_over;
    /// Large nodes share their attributes among these; narrow frames run one to a thread.
    Workers *workers = nullptr;
    OpenCategories open_categories;

    /// Grows everything below `root`, whose lanes are growing already.
    void grow(Node root) {
        counting_.begin(root, workers);
        root.n_ids = frame_.n;
        stack_.push_back(std::move(root));
        while (!stack_.empty()) {
            task_.cancel.poll();
            Node node = std::move(stack_.back());
            stack_.pop_back();
            // What was made after it is grown: those guests have left, unless they wait to be handed over.
            if (!shares_attributes()) frame_.n = node.n_ids;
            if (hand_over && node.rows.size() <= narrow_rows)
                hand_over(std::move(node));
            else
                refine(std::move(node));
        }
    }

    /// Writes a record of a set at a node; true where the set goes on growing there.
    bool record_lane(std::int32_t set, Stats &total, std::int64_t depth) {
        open_node(criterion_, set, total);
        const bool pure = total.pure();
        forest_.lanes.push_back(describe(forest_, criterion_, set, total, pure));
        const StopRules &rule = rules_[static_cast<std::size_t>(set)];
        bool deep = task_.parameters.max_depth >= 0 && depth >= task_.parameters.max_depth;
        bool ends = pure || deep || rule.ends(total.n, weight_of(criterion_, total));
        if (ends) settle(total.n);
        return !ends;
    }

  private:
    Frame<E> &frame_;
    const Target &target_;
    C criterion_; // its own, as a chooser has
    const GrowTask &task_;
    const std::vector<StopRules> &rules_;
    Forest &forest_;
    Choosing<E, C> choosing_;
    NodePool<E, Target> pool_;
    Counting<E, Target> counting_;
    std::vector<Node> stack_;
    std::vector<Stats> totals_;
    std::vector<Choice> choice_;
    std::vector<E> scratch_;
    std::vector<std::vector<E>> rooms_; // one a worker
    std::vector<std::int32_t> child_of_code_;
    std::vector<std::int32_t> child_of_id_;
    std::vector<std::uint32_t> guest_; // by id, of those that go both ways
    static constexpr std::uint8_t both_ways = 2;
    static constexpr std::size_t few_lanes = 3;
    static constexpr std::size_t widest_band = 4; // a share of the node: one in so many rows

    /// Between two attributes of a node, where that may be long.
    void poll_if_large(const Node &node) {
        if (node.rows.size() > 2048) task_.cancel.poll();
    }

    /// Calls body(entry) for each, looking for a stop now and then.
    template <class Body> void for_entries(std::span<const E> entries, Body body) const {
        in_stretches(entries.size(), task_.cancel, [&](std::size_t lo, std::size_t hi) {
            for (std::size_t i = lo; i < hi; ++i) body(entries[i]);
        });
    }

    std::int64_t count(std::uint32_t id, std::int32_t set) const { return frame_.sets.count(id, set); }
    bool counts_in(SetMask sets, E e) const { return (frame_.sets.of(Packed<E>::id(e)) & sets) != 0; }
    static SetMask sets_of(const Node &node) {
        SetMask sets = 0;
        for (const Lane<Stats> &lane : node.lanes) sets |= SetMask{1} << lane.set;
        return sets;
    }

    // ---- choosing ----

    void spent(const Node &node, Work work) { forest_.costs.spent(node.depth, work); }

    void count_entries(const Node &node) {
        LevelCost &level = forest_.costs.at(node.depth);
        const auto attributes = static_cast<std::int64_t>(node.active.size());
        ++level.nodes;
        level.entries += static_cast<std::int64_t>(node.rows.size()) * attributes;
        for (const Lane<Stats> &lane : node.lanes) level.own_entries += lane.total.n * attributes;
    }

    /// Few lanes are looked at faster one by one, at the price of one copy of their lists.
    bool better_apart(const Node &node) const {
        return node.lanes.size() > 1 && node.lanes.size() <= few_lanes &&
               task_.parameters.sharing == Sharing::automatic && task_.parameters.accelerate;
    }
    void separate(const Node &node) {
        for (std::size_t i = node.lanes.size(); i-- > 0;) {
            stack_.push_back(copy_for(node, {&i, 1}));
            stack_.back().n_ids = frame_.n;
        }
    }

    void refine(Node node) {
        forest_.costs.start();
        if (better_apart(node)) {
            separate(node);
            spent(node, Work::other);
            return pool_.recycle(std::move(node));
        }
        if (node.lanes.size() == 1 && !solo(node)) {
            const std::size_t only = 0;
            node = copy_for(node, {&only, 1});
        } else if (node.stale) {
            drop_unwanted(node);
        }
        std::erase_if(node.active, [](const Segment<E> &s) { return Chooser<E, C>::constant(s); });
        count_entries(node);
        spent(node, Work::other);
        choosing_.choose(node, counting_.own(node), workers, choice_);
        spent(node, Work::numeric);
        if (node.lanes.size() == 1) {
            const Choice *own = &choice_[0];
            if (worth(node.lanes[0], *own)) split_by(node, *own, {&own, 1}, nullptr);
        } else {
            split_groups(node);
        }
        spent(node, Work::other);
        pool_.recycle(std::move(node));
    }

    void split_groups(Node &node) {
        std::vector<Choice> choice = std::move(choice_);
        std::vector<Group> groups;
        for (std::size_t i = 0; i < node.lanes.size(); ++i)
            if (worth(node.lanes[i], choice[i])) join(groups, i, node.lanes[i], choice[i], node);
        bring_together(groups, node);
        for (const Group &group : groups) {
            std::vector<const Choice *> own;
            for (std::size_t i : group.members) own.push_back(&choice[i]);
            if (own.size() == node.lanes.size()) {
                split(node, group, own);
            } else {
                Node part = copy_for(node, group.members);
                spent(node, Work::other);
                split(part, group, own);
            }
        }
    }

    /// Whether the lane takes its best test; where not, its rows rest here.
    bool worth(const Lane<Stats> &lane, const Choice &c) {
        open_node(criterion_, lane.set, lane.total);
        double share = mass_of(criterion_, lane.total) / rules_[static_cast<std::size_t>(lane.set)].mass;
        bool taken = c.found() && (criterion_.splits_at_zero || c.quality != 0.0) &&
                     !(share * c.gain < task_.parameters.min_impurity_decrease);
        if (!taken) settle(lane.total.n);
        return taken;
    }

    void settle(std::int64_t rows) { task_.progress.settled.fetch_add(rows, std::memory_order_relaxed); }

    bool shares_attributes() const { return workers != nullptr && workers->several(); }

    /// Restores the invariant that every row of a node counts for one of its lanes.
    void drop_unwanted(Node &node) const {
        const SetMask sets = sets_of(node);
        auto kept = [&](E *begin, std::size_t n) {
            E *to = begin;
            in_stretches(n, task_.cancel, [&](std::size_t lo, std::size_t hi) {
                to = std::copy_if(begin + lo, begin + hi, to, [&](E e) { return counts_in(sets, e); });
            });
            return static_cast<std::size_t>(to - begin);
        };
        node.rows = node.rows.first(kept(node.rows.data(), node.rows.size()));
        for (Segment<E> &s : node.active)
            if (s.listed()) s.size = static_cast<std::uint32_t>(kept(s.begin, s.size));
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

    /// Lets groups that cut the same attribute at near values go on in one node (section 3.4, figure 8).
    void bring_together(std::vector<Group> &groups, const Node &node) {
        if (groups.size() < 2 || frame_.room_for_guests() == 0) return;
        std::stable_sort(groups.begin(), groups.end(), [](const Group &a, const Group &b) {
            return std::pair(a.test.attribute, a.test.lo) < std::pair(b.test.attribute, b.test.lo);
        });
        std::vector<Group> made;
        std::size_t room = frame_.room_for_guests(), guests = 0; // of the group made last
        for (Group &g : groups) {
            if (!made.empty() && cut_alike(made.back(), g)) {
                const std::size_t between = rows_between(made.back(), g, node);
                if (between <= std::min(node.rows.size() / widest_band, room)) {
                    widen(made.back(), g, node);
                    guests = between;
                    continue;
                }
            }
            room -= std::exchange(guests, 0);
            made.push_back(std::move(g));
        }
        groups = std::move(made);
    }

    /// How many examples lie between the cuts of two groups: they would be on both sides.
    std::size_t rows_between(const Group &low, const Group &high, const Node &node) const {
        const std::uint32_t from = low.test.lo, to = high.test.lo;
        const Segment<E> &s = segment_of(node, low.test.attribute);
        if (!s.listed()) return counting_.rows_between(node, low.test.attribute, from, to);
        auto above = [&](std::uint32_t rank) {
            return std::upper_bound(s.begin, s.begin + s.size, rank,
                                    [](std::uint32_t r, E e) { return r < Packed<E>::rank(e); });
        };
        return static_cast<std::size_t>(above(to) - above(from));
    }

    static const Segment<E> &segment_of(const Node &node, std::int32_t attribute) {
        return *std::find_if(node.active.begin(), node.active.end(),
                             [&](const Segment<E> &s) { return s.attribute == attribute; });
    }

    static void widen(Group &low, const Group &high, const Node &node) {
        auto sets = [&](const Group &g) {
            SetMask all = 0;
            for (std::size_t i : g.members) all |= SetMask{1} << node.lanes[i].set;
            return all;
        };
        if (!low.banded())
            low.band.push_back({low.test.lo, sets(low) | sets(high)});
        else
            for (Group::Cut &cut : low.band) cut.left_before |= sets(high);
        low.band.push_back({high.test.lo, sets(high)});
        low.members.insert(low.members.end(), high.members.begin(), high.members.end());
        std::sort(low.members.begin(), low.members.end());
        if (high.default_decided && !low.default_decided) low.test.default_child = high.test.default_child;
        low.default_decided = low.default_decided || high.default_decided;
    }

    bool has_missing(std::size_t i, const Lane<Stats> &lane, const Choice &c, const Node &node) const {
        if (!node.avc.empty())
            if (const AvcSlot *slot = frame_.avc->find(c.attribute)) return counting_.has_missing(i, *slot);
        std::int64_t known = 0;
        auto add = [&](std::span<const E> entries, auto has_value) {
            for_entries(entries, [&](E e) {
                if (has_value(Packed<E>::id(e))) known += count(Packed<E>::id(e), lane.set);
            });
        };
        if (c.kind == TestKind::numeric) {
            const Segment<E> &s = segment_of(node, c.attribute);
            if (s.size == node.rows.size()) return false;
            add({s.begin, s.size}, [](std::uint32_t) { return true; });
        } else {
            const FrameCodes &codes = frame_.nominal[static_cast<std::size_t>(c.attribute)];
            add(node.rows, [&](std::uint32_t id) { return codes.code[id] >= 0; });
        }
        return known != lane.total.n;
    }

    /// The node as some of its lanes see it: copies of the lists with only their rows. A lane that is alone
    /// has a row as often as it counts: from there on every row counts once.
    Node copy_for(const Node &node, std::span<const std::size_t> members) {
        Node part;
        part.node = node.node;
        part.depth = node.depth;
        for (std::size_t i : members) part.lanes.push_back(node.lanes[i]);
        const bool alone = members.size() == 1;
        const std::size_t rows = alone ? static_cast<std::size_t>(part.lanes[0].total.n) : node.rows.size();
        const std::size_t slots = node.room.first != nullptr ? frame_.avc->slots.size() : 0;
        // What is scanned row by row for all lanes may pay to be counted for one.
        const bool counted = alone && slots != 0 && node.avc.empty() && counting_.pays_alone(rows);
        std::size_t lists = 1 + slots;
        for (const Segment<E> &s : node.active) lists += s.listed();
        part.owner = std::make_shared_for_overwrite<E[]>(rows * lists + vector_room);
        E *to = part.owner.get();
        const SetMask sets = sets_of(part);
        auto filtered = [&](std::span<const E> from) {
            E *begin = to;
            in_stretches(from.size(), task_.cancel, [&](std::size_t lo, std::size_t hi) {
                const std::span<const E> some = from.subspan(lo, hi - lo);
                to = alone ? copy_own(frame_.sets, part.lanes[0].set, some, to)
                           : std::copy_if(some.begin(), some.end(), to,
                                          [&](E e) { return counts_in(sets, e); });
            });
            return std::span<E>(begin, to);
        };
        part.rows = filtered(node.rows);
        for (const Segment<E> &s : node.active) {
            if (!s.listed() || (counted && frame_.avc->find(s.attribute) != nullptr)) {
                part.active.push_back({s.attribute, 0, nullptr});
                continue;
            }
            std::span<E> list = filtered({s.begin, s.size});
            part.active.push_back({s.attribute, static_cast<std::uint32_t>(list.size()), list.data()});
        }
        if (slots != 0) part.room = {part.rows.data(), to, rows};
        part.avc =
            counted ? counting_.count_alone(part.rows) : counting_.kept(node.avc, node.lanes.size(), members);
        return part;
    }

    // ---- splitting ----

    static constexpr std::size_t vector_room = 16; // the kernels store whole vectors
    // Parted between two looks for a stop. Long: what stays is moved once more wherever there are several.
    static constexpr std::size_t wide_stretch = std::size_t{1} << 20;

    void split(Node &node, const Group &group, std::span<const Choice *const> own) {
        split_by(node, group.test, own, &group);
    }

    /// Splits the rows of all lanes of the node by one test; `own` is what each lane itself chose.
    void split_by(Node &node, const Choice &test, std::span<const Choice *const> own, const Group *group) {
        auto arm = static_cast<std::int32_t>(forest_.arms.size());
        forest_.arms.push_back(
            {test.attribute, test.kind, static_cast<std::int32_t>(forest_.nodes.size()), test.n_children});
        for (std::size_t i = 0; i < own.size(); ++i) record_test(node.lanes[i], *own[i], arm);
        if (group != nullptr && group->banded())
            split_by_band(node, *group);
        else if (test.n_children == 2)
            split_in_two(node, test);
        else
            split_in_many(node, test);
    }

    void record_test(Lane<Stats> &lane, const Choice &c, std::int32_t arm) {
        LaneRecord &r = forest_.lanes[lane.record];
        r.arm = arm;
        r.gain = c.gain;
        r.default_child = c.default_child;
        if (c.kind == TestKind::numeric)
            set_threshold(r, c);
        else
            open_categories.record(forest_, r, c, lane.open);
        r.competitor_begin = forest_.competitors.size();
        for (const Choice &other : c.others) {
            Competitor made;
            made.attribute = other.attribute;
            made.kind = other.kind;
            made.quality = other.quality;
            made.gain = other.gain;
            made.default_child = other.default_child;
            if (other.kind == TestKind::numeric) set_threshold(made, other);
            made.branch_begin = forest_.branch_code.size();
            for (auto [code, child] : other.branches) {
                forest_.branch_code.push_back(code);
                forest_.branch_child.push_back(child);
            }
            made.branch_end = forest_.branch_code.size();
            forest_.competitors.push_back(made);
        }
        r.competitor_end = forest_.competitors.size();
    }

    template <class Record> void set_threshold(Record &r, const Choice &c) const {
        const auto attribute = static_cast<std::size_t>(c.attribute);
        put_threshold(r, std::get<NumericColumn>(task_.table.columns[attribute]),
                      frame_.column_rank(attribute, c.lo), frame_.column_rank(attribute, c.hi));
    }

    /// Sets the flag of every row of the node to its child; returns the entries of the tested numeric list
    /// that go left.
    std::uint32_t flag_rows(const Node &node, const Choice &test) {
        std::uint8_t *flag = frame_.flag.data();
        if (test.kind != TestKind::numeric) {
            const FrameCodes &codes = frame_.nominal[static_cast<std::size_t>(test.attribute)];
            map_codes(codes, test);
            for_entries(node.rows, [&](E e) {
                std::uint32_t id = Packed<E>::id(e);
                flag[id] =
                    static_cast<std::uint8_t>(child_of_code_[static_cast<std::size_t>(codes.code[id] + 1)]);
            });
            return 0;
        }
        const Segment<E> &s = segment_of(node, test.attribute);
        if (!s.listed()) {
            in_stretches(node.rows.size(), task_.cancel, [&](std::size_t lo, std::size_t hi) {
                counting_.flag_rows(node.rows.subspan(lo, hi - lo), test);
            });
            return 0;
        }
        auto raise = [&](std::span<const E> entries, std::int32_t to) {
            for_entries(entries, [&](E e) { flag[Packed<E>::id(e)] = static_cast<std::uint8_t>(to); });
        };
        if (s.size != node.rows.size()) raise(node.rows, test.default_child);
        const E *cut = std::upper_bound(s.begin, s.begin + s.size, test.lo,
                                        [](std::uint32_t lo, E e) { return lo < Packed<E>::rank(e); });
        raise({s.begin, cut}, 0);
        raise({cut, s.begin + s.size}, 1);
        return static_cast<std::uint32_t>(cut - s.begin);
    }

    /// child_of_code_[code + 1]; missing and categories of other sets' rows follow the default branch.
    void map_codes(const FrameCodes &codes, const Choice &test) {
        child_of_code_.assign(static_cast<std::size_t>(codes.n_categories) + 1, test.default_child);
        for (auto [code, child] : test.branches) child_of_code_[static_cast<std::size_t>(code) + 1] = child;
    }

    /// Stable partition of a list: flag 0 stays in front, the rest goes to `right`. Returns the size of the
    /// first part.
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
    std::uint32_t part_in_place(E *list, std::uint32_t n, std::vector<E> &room, bool right_wanted = true) {
        std::uint32_t left = part(list, n, room);
        if (right_wanted) std::memcpy(list + left, room.data(), (n - left) * sizeof(E));
        return left;
    }

    void split_in_two(Node &node, const Choice &test) {
        std::uint32_t cut = flag_rows(node, test);
        std::uint32_t left =
            part_in_place(node.rows.data(), static_cast<std::uint32_t>(node.rows.size()), scratch_);
        std::array<Node, 2> child{pool_.fresh(), pool_.fresh()};
        child[0].rows = node.rows.first(left);
        child[1].rows = node.rows.subspan(left);
        spent(node, Work::tests);
        add_children(node, child);
        spent(node, Work::statistics);
        bool grows[2] = {!child[0].lanes.empty(), !child[1].lanes.empty()};
        if (grows[0] || grows[1]) {
            for (auto &c : child) c.active.resize(node.active.size());
            auto part_list = [&](std::size_t a, std::vector<E> &room) {
                const Segment<E> &s = node.active[a];
                std::uint32_t n_left = 0;
                if (s.listed()) {
                    // The tested list is in order already.
                    bool tested = test.kind == TestKind::numeric && s.attribute == test.attribute;
                    n_left = tested ? cut : part_in_place(s.begin, s.size, room, grows[1]);
                }
                child[0].active[a] = {s.attribute, n_left, s.begin};
                child[1].active[a] = {s.attribute, s.size - n_left, s.listed() ? s.begin + n_left : nullptr};
            };
            part_lists(node, part_list);
            spent(node, Work::tests);
            counting_.hand_down(node, child, workers);
            spent(node, Work::statistics);
        }
        for (int c = 1; c >= 0; --c) // the left child is visited first
            grows[c] ? stack_.push_back(std::move(child[c])) : pool_.recycle(std::move(child[c]));
    }

    /// Examples between the cuts go both ways: left they stay who they are, right they are guests. The right
    /// child has lists of its own.
    void split_by_band(Node &node, const Group &group) {
        flag_band(node, group);
        const std::uint8_t *flag = frame_.flag.data();
        std::size_t n_right = 0;
        for (E e : node.rows) n_right += flag[Packed<E>::id(e)] != 0;
        std::array<Node, 2> child{pool_.fresh(), pool_.fresh()};
        const std::size_t slots = node.room.first != nullptr ? frame_.avc->slots.size() : 0;
        std::size_t lists = 1 + slots;
        for (const Segment<E> &s : node.active) lists += s.listed();
        std::shared_ptr<E[]> owner = std::make_shared_for_overwrite<E[]>(n_right * lists + vector_room);
        E *to = owner.get();
        auto deal = [&](std::span<E> list) {
            E *right = to, *left = list.data();
            for (E e : list) {
                const std::uint32_t id = Packed<E>::id(e);
                const std::uint8_t f = flag[id];
                *left = e;
                left += f != 1;
                *to = f == both_ways ? with_id(e, guest_[id]) : e;
                to += f != 0;
            }
            return std::pair(list.first(static_cast<std::size_t>(left - list.data())), std::span(right, to));
        };
        std::tie(child[0].rows, child[1].rows) = deal(node.rows);
        spent(node, Work::tests);
        add_children(node, child);
        spent(node, Work::statistics);
        child[1].owner = owner;
        for (const Segment<E> &s : node.active) {
            poll_if_large(node);
            auto [left, right] =
                s.listed() ? deal({s.begin, s.size}) : std::pair<std::span<E>, std::span<E>>();
            child[0].active.push_back({s.attribute, static_cast<std::uint32_t>(left.size()), left.data()});
            child[1].active.push_back({s.attribute, static_cast<std::uint32_t>(right.size()), right.data()});
        }
        if (slots != 0) child[1].room = {child[1].rows.data(), to, n_right};
        spent(node, Work::tests);
        counting_.hand_down(node, child, workers);
        spent(node, Work::statistics);
        for (int c = 1; c >= 0; --c)
            child[c].lanes.empty() ? pool_.recycle(std::move(child[c]))
                                   : stack_.push_back(std::move(child[c]));
    }

    static E with_id(E e, std::uint32_t id) {
        return Packed<E>::make(Packed<E>::rank(e), id, Packed<E>::bit(e));
    }

    /// Sets the flag of every row, and makes guests of those that go both ways.
    void flag_band(const Node &node, const Group &group) {
        flag_rows(node, group.test); // of the lowest cut: what goes left goes left for all
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
                frame_.flag[id] = both_ways;
                guest_[id] = frame_.add_guest(id, right);
                frame_.sets.mask[id] &= ~right;
            }
        };
        const Segment<E> &s = segment_of(node, group.test.attribute);
        if (s.listed())
            for (std::uint32_t i = 0; i < s.size; ++i)
                place(Packed<E>::id(s.begin[i]), Packed<E>::rank(s.begin[i]));
        else
            counting_.each_value(node.rows, group.test.attribute, place);
    }

    template <class PartList> void part_lists(const Node &node, PartList part_list) {
        if (!shares_attributes()) {
            for (std::size_t a = 0; a < node.active.size(); ++a) {
                poll_if_large(node);
                part_list(a, scratch_);
            }
            return;
        }
        rooms_.resize(workers->places());
        workers->share(node.active.size(), [&](std::size_t a, unsigned w) { part_list(a, rooms_[w]); });
    }

    /// Creates the children's nodes with a record for every lane that reaches them, and keeps the lanes that
    /// go on growing.
    void add_children(Node &node, std::span<Node> child) {
        std::size_t first = forest_.nodes.size();
        forest_.nodes.resize(first + child.size());
        count_children(node, child);
        const std::size_t k = node.lanes.size();
        for (std::size_t c = 0; c < child.size(); ++c) {
            child[c].node = first + c;
            child[c].depth = node.depth + 1;
            child[c].n_ids = frame_.n;
            child[c].owner = node.owner;
            child[c].room = node.room;
            ForestNode &made = forest_.nodes[first + c];
            made.lane_begin = forest_.lanes.size();
            for (std::size_t i = 0; i < k; ++i) {
                Stats &t = totals_[c * k + i];
                std::uint64_t record = forest_.lanes.size();
                std::int32_t set = node.lanes[i].set;
                bool grows = t.n != 0 && record_lane(set, t, child[c].depth);
                if (grows)
                    child[c].lanes.push_back(
                        {set, record, std::move(t), OpenCategories::inherited(node.lanes[i].open, c)});
                else
                    pool_.recycle_stats(std::move(t));
            }
            made.lane_end = forest_.lanes.size();
            child[c].stale = child[c].lanes.size() != k;
        }
    }

    /// totals_[child * lanes + lane]; the largest child's are what the others leave.
    void count_children(Node &node, std::span<Node> child) {
        const std::size_t k = node.lanes.size();
        const bool alone = solo(node);
        std::size_t largest = 0;
        for (std::size_t c = 1; c < child.size(); ++c)
            if (child[c].rows.size() > child[largest].rows.size()) largest = c;
        totals_.clear();
        for (std::size_t i = 0; i < k * child.size(); ++i) totals_.push_back(pool_.fresh_stats());
        for (std::size_t i = 0; i < k; ++i) std::swap(totals_[largest * k + i], node.lanes[i].total);
        for (std::size_t c = 0; c < child.size(); ++c) {
            if (c == largest) continue;
            std::span<Stats> total = std::span(totals_).subspan(c * k, k);
            if (k > 1 && frame_.sets.by_complement)
                add_complements(node, child[c].rows, total);
            else
                add_lanes(node, child[c].rows, alone, total);
            for (std::size_t i = 0; i < k; ++i) totals_[largest * k + i] -= total[i];
        }
    }

    /// Figure 3 of paper 000: a row is added for every lane in which it counts.
    void add_lanes(const Node &node, std::span<const E> rows, bool alone, std::span<Stats> total) {
        for (std::size_t i = 0; i < total.size(); ++i)
            for_entries(rows, [&](E e) {
                std::uint32_t id = Packed<E>::id(e);
                if (std::int64_t m = alone ? 1 : count(id, node.lanes[i].set); m != 0)
                    target_.add(total[i], id, m);
            });
    }

    /// Figure 4: a row is added to the whole, and once more where a lane leaves it out.
    void add_complements(const Node &node, std::span<const E> rows, std::span<Stats> total) {
        const LanePlaces places(node.lanes);
        Stats whole = pool_.fresh_stats();
        for_entries(rows, [&](E e) {
            std::uint32_t id = Packed<E>::id(e);
            target_.add(whole, id, 1);
            places.each(~frame_.sets.of(id), [&](std::size_t lane) { target_.add(total[lane], id, 1); });
        });
        for (Stats &t : total) {
            Stats left_out = std::exchange(t, whole);
            t -= left_out;
        }
        pool_.recycle_stats(std::move(whole));
    }

    /// Many branches: every list is dealt out by child, keeping its order.
    void split_in_many(Node &node, const Choice &test) {
        const FrameCodes &codes = frame_.nominal[static_cast<std::size_t>(test.attribute)];
        map_codes(codes, test);
        child_of_id_.resize(frame_.n);
        for_entries(node.rows, [&](E e) {
            std::uint32_t id = Packed<E>::id(e);
            child_of_id_[id] = child_of_code_[static_cast<std::size_t>(codes.code[id] + 1)];
        });
        const auto n_children = static_cast<std::size_t>(test.n_children);
        std::vector<std::uint32_t> start(n_children + 1);
        auto deal = [&](E *list, std::uint32_t n) {
            std::fill(start.begin(), start.end(), 0);
            auto child_of = [&](E e) { return static_cast<std::size_t>(child_of_id_[Packed<E>::id(e)]); };
            for_entries({list, n}, [&](E e) { ++start[child_of(e) + 1]; });
            for (std::size_t c = 0; c < n_children; ++c) start[c + 1] += start[c];
            if (scratch_.size() < n) scratch_.resize(n);
            std::vector<std::uint32_t> at(start.begin(), start.end() - 1);
            for_entries({list, n}, [&](E e) { scratch_[at[child_of(e)]++] = e; });
            std::memcpy(list, scratch_.data(), n * sizeof(E));
        };
        std::vector<Node> child(n_children);
        deal(node.rows.data(), static_cast<std::uint32_t>(node.rows.size()));
        for (std::size_t c = 0; c < n_children; ++c)
            child[c].rows = node.rows.subspan(start[c], start[c + 1] - start[c]);
        spent(node, Work::tests);
        add_children(node, child);
        spent(node, Work::statistics);
        for (const Segment<E> &s : node.active) {
            // A category's rows share it: the tested attribute has nothing more to say below.
            if (s.attribute == test.attribute) continue;
            if (s.listed()) deal(s.begin, s.size);
            for (std::size_t c = 0; c < n_children; ++c)
                child[c].active.push_back(
                    s.listed() ? Segment<E>{s.attribute, start[c + 1] - start[c], s.begin + start[c]} : s);
        }
        spent(node, Work::tests);
        counting_.hand_down(node, child, workers);
        spent(node, Work::statistics);
        for (std::size_t c = n_children; c-- > 0;)
            child[c].lanes.empty() ? pool_.recycle(std::move(child[c]))
                                   : stack_.push_back(std::move(child[c]));
    }
};

} // namespace hornbeam
