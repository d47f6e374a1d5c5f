// From an encoded table to a forest: the root's lists, the wide frame while nodes are large, narrow frames
// below.
#pragma once

#include <functional>
#include <memory>

#include "growth/grow_target.hpp"
#include "growth/grower.hpp"
#include "growth/whole_sets.hpp"

namespace hornbeam {

template <class Target> class Growth {
  public:
    using Stats = typename Target::Stats;
    using Wide = std::uint64_t;
    using Narrow = std::uint32_t;

    Growth(const GrowTask &task, const SplitCriterion<Target> &criterion, Target whole)
        : task_(task), criterion_(criterion), whole_(std::move(whole)),
          rules_(task.parameters.settings.size()) {
        forest_.n_settings = static_cast<std::uint32_t>(task.parameters.settings.size());
        forest_.n_sets = task.sets.n_sets;
        forest_.sets.resize(static_cast<std::size_t>(forest_.n_sets));
        forest_.n_classes = static_cast<std::int32_t>(task.target.n_classes);
        forest_.n_targets = static_cast<std::int32_t>(task.target.n_targets);
        forest_.keeps_competitors = task.parameters.competitors != 0;
    }

    Forest grow() {
        const std::uint64_t begin = LevelCosts::now();
        grow_all();
        const std::uint64_t all = LevelCosts::now() - begin, told = forest_.costs.ticks();
        forest_.costs.at(0).ticks[static_cast<std::size_t>(Work::other)] += all - std::min(all, told);
        return std::move(forest_);
    }

  private:
    void grow_all() {
        if (counts_rows<Stats> && task_.parameters.accelerate)
            layout_ = AvcLayout(task_.table, task_.target.n_classes,
                                static_cast<std::size_t>(task_.sets.n_sets), task_.parameters.counting);
        cells_ = read_cells(layout_, task_.table, task_.cancel);
        std::vector<Stats> total = whole_sets(task_, criterion_, whole_, rules_);
        const bool few = std::all_of(total.begin(), total.end(), [](const Stats &t) {
            return t.n <= static_cast<std::int64_t>(narrow_rows); // rows may repeat
        });
        if (task_.table.n_rows <= narrow_rows && few)
            grow_small(total);
        else
            grow_large(total);
    }

    const GrowTask &task_;
    const SplitCriterion<Target> &criterion_;
    Target whole_; // the target by table row
    Forest forest_;
    RuleTable rules_;
    AvcLayout layout_; // empty where nothing is counted by value
    AvcCells cells_;   // by table row

    bool numeric(std::size_t attribute) const {
        return std::holds_alternative<NumericColumn>(task_.table.columns[attribute]);
    }
    /// A nominal attribute of one category, or none.
    bool never_splits(std::size_t attribute) const {
        const auto *nominal = std::get_if<NominalColumn>(&task_.table.columns[attribute]);
        return nominal != nullptr && nominal->n_categories < 2;
    }
    bool two_classes() const { return task_.target.n_classes == 2; }
    unsigned bit(std::uint32_t row) const { return two_classes() ? task_.target.classes[row] : 0; }

    /// The root with a record for every set; false where all of them are leaves.
    template <class E>
    bool open_root(Grower<E, Target> &grower, std::vector<Stats> &total, Pending<E, Stats> &root) {
        forest_.n_nodes = 1;
        for (std::size_t s = 0; s < total.size(); ++s) {
            auto set = static_cast<std::int32_t>(s);
            const SettingRange go_on = grower.ledger.record_lane(set, total[s], 0, {0, forest_.n_settings});
            if (!go_on.empty()) root.lanes.push_back({set, 0, std::move(total[s]), {}, go_on});
        }
        root.stale = root.lanes.size() != total.size();
        return !root.lanes.empty();
    }

    /// Rows that count in some set.
    std::vector<std::uint32_t> rows_in_use() const {
        std::vector<std::uint32_t> rows;
        rows.reserve(task_.table.n_rows);
        for (std::size_t row = 0; row < task_.table.n_rows; ++row) {
            if (row % 65536 == 65535) task_.cancel.poll();
            if (task_.sets.of(row) != 0) rows.push_back(static_cast<std::uint32_t>(row));
        }
        return rows;
    }

    // ---- narrow frames ----

    struct NarrowWork {
        Frame<Narrow> frame;
        Pending<Narrow, Stats> root;
    };

    Target target_of(const FrameTarget &t) const {
        Target out = whole_;
        if constexpr (requires { out.code; })
            out.code = t.classes;
        else
            out.y = t.values;
        if constexpr (requires { out.weight; }) out.weight.of = t.weights;
        return out;
    }

    /// How many ids a frame of n rows has room for, at most `most`: thresholds of several sets may send an
    /// example both ways.
    std::size_t capacity_for(std::size_t n, std::size_t most) const {
        const bool guests =
            task_.sets.n_sets > 1 && !task_.sets.repeats() && task_.parameters.accelerate &&
            std::any_of(task_.table.columns.begin(), task_.table.columns.end(),
                        [](const Column &c) { return std::holds_alternative<NumericColumn>(c); });
        return guests ? std::max(n, std::min(most, n + n / 2)) : n;
    }

    /// A frame of the given table rows, numbered from 0 in their order; `sets` are over them, `ids` are what
    /// the lists call them. `lists` gives each numeric attribute's entries as (rank, id) pairs by `read`.
    template <class E, class Read> void fill_narrow(NarrowWork &work, std::span<const std::uint32_t> rows,
                                                    std::span<const std::uint32_t> ids, TrainingSets sets,
                                                    std::span<const Segment<E>> lists, Read read,
                                                    std::vector<std::uint16_t> &local) {
        Frame<Narrow> &frame = work.frame;
        frame.n = rows.size();
        frame.capacity = capacity_for(rows.size(), narrow_rows);
        frame.flag.assign(frame.capacity + 4, 0);
        copy_target(frame.target, rows, frame.capacity);
        frame.sets = std::move(sets);
        if (!frame.sets.plain()) frame.sets.mask.resize(frame.capacity);
        std::size_t room = rows.size() + 16;
        for (const Segment<E> &s : lists) room += s.size;
        frame.entries = std::make_unique_for_overwrite<Narrow[]>(room + 16 + layout_.n_numeric * rows.size());
        Narrow *to = frame.entries.get();
        for (std::size_t i = 0; i < rows.size(); ++i) // an entry but for its rank
            local[ids[i]] = static_cast<std::uint16_t>(Packed<Narrow>::make(0, i, bit(rows[i])));
        // A row that counts several times is there as often: all of them are the last one's id, as in lists.
        for (std::uint32_t id : ids) *to++ = local[id];
        work.root.rows = {frame.entries.get(), rows.size()};
        frame.nominal.resize(task_.table.columns.size());
        frame.rank.resize(task_.table.columns.size());
        for (const Segment<E> &s : lists) {
            auto a = static_cast<std::size_t>(s.attribute);
            if (!s.listed()) {
                if (!numeric(a)) copy_codes(frame.nominal[a], a, rows, frame.capacity);
                work.root.active.push_back({s.attribute, 0, nullptr});
                continue;
            }
            work.root.active.push_back({s.attribute, s.size, to});
            to = rank_anew(s, read, local, frame.rank[a], to);
        }
        if (layout_.empty()) return;
        work.root.room = {frame.entries.get(), to, rows.size()};
        copy_cells(frame, rows);
    }

    /// Writes a list with ranks from 0 on; `ranks` says what they were.
    template <class E, class Read> static Narrow *rank_anew(const Segment<E> &list, Read read,
                                                            std::span<const std::uint16_t> local,
                                                            std::vector<std::uint32_t> &ranks, Narrow *to) {
        ranks.resize(list.size);
        std::uint32_t now = 0, last = list.size == 0 ? 0 : read(list.begin[0]).first;
        for (std::uint32_t i = 0; i < list.size; ++i) {
            const auto [rank, id] = read(list.begin[i]);
            now += rank != last;
            ranks[now] = last = rank;
            *to++ = (now << Packed<Narrow>::rank_shift) | local[id];
        }
        ranks.resize(std::min<std::size_t>(list.size, now + 1));
        return to;
    }

    /// Whether a frame of these rows may use the table's own arrays: it has all rows, and no guests.
    bool whole_table(std::span<const std::uint32_t> rows, std::size_t capacity) const {
        return rows.size() == task_.table.n_rows && capacity == rows.size();
    }

    template <class E> void copy_cells(Frame<E> &frame, std::span<const std::uint32_t> rows) const {
        const std::size_t n_slots = layout_.slots.size();
        frame.avc = &layout_;
        frame.cells = cells_;
        if (whole_table(rows, frame.capacity)) return;
        frame.own_cells.resize(frame.capacity * n_slots);
        for (std::size_t i = 0; i < rows.size(); ++i)
            std::copy_n(cells_.data() + rows[i] * n_slots, n_slots, frame.own_cells.data() + i * n_slots);
        frame.cells = frame.own_cells;
    }

    void copy_target(FrameTarget &t, std::span<const std::uint32_t> rows, std::size_t capacity) const {
        if (whole_table(rows, capacity)) {
            t.classes = task_.target.classes;
            t.values = task_.target.values;
            t.weights = task_.target.weights;
            return;
        }
        if (!task_.target.weights.empty()) {
            t.own_weights.resize(capacity);
            for (std::size_t i = 0; i < rows.size(); ++i) t.own_weights[i] = task_.target.weights[rows[i]];
            t.weights = t.own_weights;
        }
        if (task_.target.n_classes != 0) {
            t.own_classes.resize(capacity);
            for (std::size_t i = 0; i < rows.size(); ++i) t.own_classes[i] = task_.target.classes[rows[i]];
            t.classes = t.own_classes;
        } else {
            const std::size_t q = task_.target.n_targets;
            t.own_values.resize(capacity * q);
            for (std::size_t i = 0; i < rows.size(); ++i)
                for (std::size_t k = 0; k < q; ++k)
                    t.own_values[i * q + k] = task_.target.values[rows[i] * q + k];
            t.values = t.own_values;
        }
    }
    void copy_codes(FrameCodes &codes, std::size_t attribute, std::span<const std::uint32_t> rows,
                    std::size_t capacity) const {
        const auto &column = std::get<NominalColumn>(task_.table.columns[attribute]);
        codes.n_categories = column.n_categories;
        codes.code = column.codes;
        if (whole_table(rows, capacity)) return;
        codes.own.resize(capacity);
        for (std::size_t i = 0; i < rows.size(); ++i) codes.own[i] = column.codes[rows[i]];
        codes.code = codes.own;
    }

    void grow_small(std::vector<Stats> &total) {
        std::vector<std::uint32_t> rows = rows_in_use();
        NarrowWork work;
        std::vector<std::uint16_t> local(task_.table.n_rows);
        std::vector<std::vector<Entry>> kept; // lists without the rows that count nowhere
        std::vector<Segment<Entry>> lists = root_lists(rows.size(), kept);
        fill_narrow<Entry>(
            work, rows, rows, task_.sets.over(rows), lists,
            [](Entry e) { return std::pair{rank_of(e), row_of(e)}; }, local);
        if (!work.frame.own_cells.empty()) cells_ = {}; // the frame has its own
        std::vector<std::uint16_t>().swap(local);
        if (!forest_.lone()) std::vector<std::uint32_t>().swap(rows); // asked for by the order of one set
        Target target = target_of(work.frame.target);
        Grower<Narrow, Target> grower(work.frame, target, criterion_, task_, rules_, forest_);
        if (open_root(grower, total, work.root)) grower.grow(std::move(work.root));
        if (!forest_.lone()) return;
        forest_.order.resize(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i)
            forest_.order[i] = rows[Packed<Narrow>::id(work.frame.entries[i])];
    }

    std::vector<Segment<Entry>> root_lists(std::size_t n_used, std::vector<std::vector<Entry>> &kept) {
        std::vector<Segment<Entry>> lists;
        for (std::size_t a = 0; a < task_.table.columns.size(); ++a) {
            auto attribute = static_cast<std::int32_t>(a);
            if (never_splits(a)) continue;
            if (!numeric(a) || layout_.find(attribute) != nullptr) {
                lists.push_back({attribute, 0, nullptr});
                continue;
            }
            auto &column = std::get<NumericColumn>(task_.table.columns[a]);
            column.list_rows(task_.cancel);
            std::span<Entry> list = column.entries;
            if (n_used != task_.table.n_rows) {
                std::vector<Entry> &own = kept.emplace_back();
                in_stretches(list.size(), task_.cancel, [&](std::size_t lo, std::size_t hi) {
                    std::copy_if(list.begin() + static_cast<std::ptrdiff_t>(lo),
                                 list.begin() + static_cast<std::ptrdiff_t>(hi), std::back_inserter(own),
                                 [&](Entry e) { return task_.sets.of(row_of(e)) != 0; });
                });
                list = own;
            }
            if (!list.empty())
                lists.push_back({attribute, static_cast<std::uint32_t>(list.size()), list.data()});
        }
        return lists;
    }

    // ---- the wide frame ----

    void grow_large(std::vector<Stats> &total) {
        Workers workers(static_cast<unsigned>(task_.parameters.threads), task_.cancel);
        Frame<Wide> frame;
        fill_wide(frame);
        Target target = target_of(frame.target);
        Pending<Wide, Stats> root;
        std::vector<std::vector<Wide>> lists(task_.table.columns.size());
        std::vector<Wide> row_list = wide_lists(root, lists, workers);
        root.rows = row_list;
        Grower<Wide, Target> grower(frame, target, criterion_, task_, rules_, forest_);
        if (!open_root(grower, total, root)) return;
        std::vector<Pending<Wide, Stats>> waiting;
        std::vector<std::uint16_t> local;
        const bool at_once = !workers.several();
        grower.workers = &workers;
        grower.hand_over = [&](Pending<Wide, Stats> &&node) {
            if (!at_once) return waiting.push_back(std::move(node));
            const std::vector<LanePlace> at = places_of(node);
            forest_.graft(at, grow_part(frame, std::move(node), local, grower.ledger.open_categories));
        };
        grower.grow(std::move(root));
        grow_parts(frame, waiting, workers, grower.ledger.open_categories);
        if (!forest_.lone()) return;
        forest_.order.reserve(row_list.size());
        for (Wide e : row_list) forest_.order.push_back(Packed<Wide>::id(e));
    }

    /// All rows of the table.
    void fill_wide(Frame<Wide> &frame) const {
        const std::size_t n = task_.table.n_rows, n_columns = task_.table.columns.size();
        frame.n = n;
        // Settings that part leave rows to nodes that wait for another thread: no guest may take them away.
        const bool waits = forest_.n_settings > 1 && task_.parameters.threads > 1;
        frame.capacity = waits ? n : capacity_for(n, std::size_t{1} << 31);
        frame.flag.assign(frame.capacity + 4, 0);
        frame.sets = task_.sets;
        frame.nominal.resize(n_columns);
        if (frame.capacity > n) frame.sets.mask.resize(frame.capacity);
        std::vector<std::uint32_t> rows(frame.capacity);
        std::iota(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(n), 0u);
        const std::span<const std::uint32_t> all = std::span(rows).first(n);
        copy_target(frame.target, all, frame.capacity);
        for (std::size_t a = 0; a < n_columns; ++a)
            if (!numeric(a)) copy_codes(frame.nominal[a], a, all, frame.capacity);
        if (!layout_.empty()) copy_cells(frame, all);
        if (frame.capacity > n) frame.origin = std::move(rows);
    }

    /// Working lists of the root, class bit added; made in place of the presorted ones where those may be
    /// used up.
    std::vector<Wide> wide_lists(Pending<Wide, Stats> &root, std::vector<std::vector<Wide>> &lists,
                                 Workers &workers) {
        std::vector<std::uint32_t> rows = rows_in_use();
        std::vector<std::vector<Entry>> kept;
        bool all = rows.size() == task_.table.n_rows;
        std::vector<Segment<Entry>> entries = root_lists(rows.size(), kept);
        root.active.resize(entries.size());
        workers.share(entries.size(), [&](std::size_t i, unsigned) {
            const Segment<Entry> &s = entries[i];
            auto a = static_cast<std::size_t>(s.attribute);
            root.active[i] = {s.attribute, 0, nullptr};
            if (!s.listed()) return;
            if (task_.consume && all)
                lists[a] = std::move(std::get<NumericColumn>(task_.table.columns[a]).entries);
            else
                lists[a].assign(s.begin, s.begin + s.size);
            in_stretches(lists[a].size(), task_.cancel, [&](std::size_t lo, std::size_t hi) {
                for (std::size_t j = lo; j < hi; ++j) {
                    const Entry e = lists[a][j];
                    lists[a][j] = Packed<Wide>::make(rank_of(e), row_of(e), bit(row_of(e)));
                }
            });
            root.active[i] = {s.attribute, s.size, lists[a].data()};
        });
        std::vector<Wide> row_list(rows.size());
        in_stretches(rows.size(), task_.cancel, [&](std::size_t lo, std::size_t hi) {
            for (std::size_t i = lo; i < hi; ++i) row_list[i] = Packed<Wide>::make(0, rows[i], bit(rows[i]));
        });
        return row_list;
    }

    static std::vector<LanePlace> places_of(const Pending<Wide, Stats> &node) {
        std::vector<LanePlace> places;
        for (const auto &lane : node.lanes) places.push_back({lane.set, lane.record});
        return places;
    }

    /// Grows the subtree of one node in a narrow frame and a forest of its own.
    Forest grow_part(const Frame<Wide> &frame, Pending<Wide, Stats> node, std::vector<std::uint16_t> &local,
                     const OpenCategories &open) {
        std::vector<std::uint32_t> ids(node.rows.size()), rows(ids.size());
        for (std::size_t i = 0; i < ids.size(); ++i) {
            ids[i] = Packed<Wide>::id(node.rows[i]);
            rows[i] = frame.row_of(ids[i]);
        }
        if (local.size() < frame.capacity) local.resize(frame.capacity);
        NarrowWork work;
        fill_narrow<Wide>(
            work, rows, ids, frame.sets.over(ids), node.active,
            [](Wide e) { return std::pair{Packed<Wide>::rank(e), Packed<Wide>::id(e)}; }, local);
        std::swap(work.root.avc, node.avc);
        work.root.depth = node.depth;
        work.root.stale = node.stale;
        Forest part;
        part.n_sets = forest_.n_sets, part.n_settings = forest_.n_settings;
        part.n_classes = forest_.n_classes, part.n_targets = forest_.n_targets;
        Target target = target_of(work.frame.target);
        Grower<Narrow, Target> grower(work.frame, target, criterion_, task_, rules_, part);
        part.sets.resize(forest_.sets.size());
        part.n_nodes = 1;
        for (auto &lane : node.lanes) {
            grower.ledger.record_lane(lane.set, lane.total, node.depth, lane.settings);
            work.root.lanes.push_back({lane.set, 0, std::move(lane.total),
                                       grower.ledger.open_categories.adopted(open, lane.open, rows.size()),
                                       lane.settings});
        }
        grower.grow(std::move(work.root));
        // Nothing but the order of the rows is left to say: that of one set goes from leaf to leaf.
        for (std::size_t i = 0; i < rows.size() && forest_.lone(); ++i)
            node.rows[i] = Packed<Wide>::make(0, rows[Packed<Narrow>::id(work.frame.entries[i])], 0);
        return part;
    }

    void grow_parts(const Frame<Wide> &frame, std::vector<Pending<Wide, Stats>> &waiting, Workers &workers,
                    const OpenCategories &open) {
        std::vector<Forest> parts(waiting.size());
        std::vector<std::vector<LanePlace>> at;
        for (const auto &w : waiting) at.push_back(places_of(w));
        std::vector<std::vector<std::uint16_t>> local(workers.places());
        workers.share(waiting.size(), [&](std::size_t i, unsigned w) {
            parts[i] = grow_part(frame, std::move(waiting[i]), local[w], open);
        });
        for (std::size_t i = 0; i < parts.size(); ++i) {
            task_.cancel.poll();
            forest_.graft(at[i], parts[i]);
            parts[i] = {};
        }
    }
};

template <class Target>
Forest grow_target(const GrowTask &task, const SplitCriterion<Target> &criterion, const Target &target) {
    return Growth<Target>(task, criterion, target).grow();
}

} // namespace hornbeam
