// Cuts of a list by information, for all lanes in one pass: kernels/information.hpp says what is computed and
// why it holds. Included inside the namespace of an instruction set, behind lane_parts.hpp.

/// xlog of what is on the left, and of the rest of the whole.
inline Ints both_sides(const std::int32_t *xlog, const Ints &left, const Ints &whole) {
    return look_up(xlog, left) + look_up(xlog, whole - left);
}
template <class E, bool Two> inline std::size_t class_of(const LaneList<E> &list, E entry) {
    return Two ? entry & 1 : list.classes[Packed<E>::id(entry)];
}
/// The lanes that count an entry.
template <class E> inline Ints lanes_of(const LaneList<E> &list, E entry) {
    return read(list.in[list.pattern[Packed<E>::id(entry)]].in);
}
template <class E> inline bool same_value(const LaneList<E> &list, std::uint32_t i) {
    return Packed<E>::rank(list.entries[i]) == Packed<E>::rank(list.entries[i + 1]);
}

/// The bar in registers.
struct Bar {
    Ints least, most, reach, content, whole_log;
    Floats quality;
    std::int32_t doubt;
    bool ratio;

    explicit Bar(const InformationBar &bar)
        : least(read(bar.least)), most(read(bar.most)), reach(read(bar.reach)), content(read(bar.content)),
          whole_log(read(bar.whole_log)), quality(read(bar.quality)), doubt(bar.doubt), ratio(bar.ratio) {}
    Ints admits(const Ints &left) const { return (left >= least) & (most >= left); }
    void write_to(InformationBar &bar) const {
        write(reach, bar.reach);
        write(quality, bar.quality);
    }
};

/// The best score of each lane among admissible cuts. By ratio, the gain and the split of the best quotient
/// as far as roundings are sure of it.
struct Top {
    Ints score = ints(not_admitted);
    Floats gain = floats(0.0f), split = floats(1.0f);

    void look(const Ints &here, const Ints &phi, const Ints &admissible, const Bar &bar) {
        if (!bar.ratio) {
            score = choose(admissible, larger(score, here), score);
            return;
        }
        const Floats sure = to_floats(here + bar.content - (bar.doubt + 1)),
                     most = to_floats(bar.whole_log - phi + 2);
        const Ints better = admissible & (sure * split > gain * most);
        gain = choose(better, sure, gain);
        split = choose(better, most, split);
    }
    /// No cut whose score is so much lower than another can be as good; a quotient in single precision is off
    /// by five roundings.
    void raise(Bar &bar) const {
        if (!bar.ratio) {
            bar.reach = larger(bar.reach, score - (2 * bar.doubt + 2));
            return;
        }
        const Floats quality = gain / split * (1.0f - 1e-6f);
        bar.quality = choose(quality > bar.quality, quality, bar.quality);
    }
};

/// The scores behind consecutive entries, and phi of the node there; `not_admitted` and `never_reached` where
/// a lane has no cut.
struct LaneScores {
    Ints score[most_hit_entries], phi[most_hit_entries];
    Top top;

    void skip(std::uint32_t i) { score[i] = ints(not_admitted), phi[i] = ints(never_reached); }
    void put(std::uint32_t i, const Ints &sum, const Ints &phi_here, const Ints &admissible, const Bar &bar) {
        score[i] = choose(admissible, sum - phi_here, ints(not_admitted));
        phi[i] = phi_here;
        top.look(score[i], phi_here, admissible, bar);
    }
    /// Raises the bar, and says which of the first `size` cuts reach it; false where none does.
    bool settle(std::uint32_t size, Bar &bar, InformationHits &hits) const {
        if (!bar.ratio && !any(top.score >= bar.reach)) return false;
        top.raise(bar);
        unsigned some = 0;
        for (std::uint32_t i = 0; i < size; ++i) {
            Ints hit = score[i] >= bar.reach;
            if (bar.ratio)
                hit = hit & (to_floats(score[i] + bar.content + (bar.doubt + 1)) >=
                             bar.quality * to_floats(bar.whole_log - phi[i] - 2) * (1.0f - 1e-6f));
            const unsigned lanes = bits(hit);
            hits.lanes[i] = static_cast<std::uint16_t>(lanes);
            some |= lanes;
        }
        return some != 0;
    }
};

// ---- blocks ----

/// Counts of a block's entries, a byte for each class and lane.
typedef std::uint8_t LaneCounts __attribute__((vector_size(lane_width)));

template <class E> inline LaneCounts added_by(const LaneList<E> &list, E entry) {
    LaneCounts add;
    __builtin_memcpy(&add, list.steps + list.pattern[Packed<E>::id(entry)] * lane_steps, sizeof(add));
    return add;
}
inline Ints widened(const LaneCounts &counts) {
    std::int32_t each[lane_width];
    for (std::size_t i = 0; i < lane_width; ++i) each[i] = counts[i];
    Ints wide;
    __builtin_memcpy(&wide, each, sizeof(wide));
    return wide;
}

/// What the entries [begin, end) add to the rows of each class. An entry waits for the counts of its class,
/// which the entry before it may have written: two sets of them wait half as long.
template <class E, bool Two> struct BlockCounts {
    static constexpr std::size_t most = Two ? 2 : most_block_classes;
    LaneCounts first[most], second[most];

    void count(const LaneList<E> &list, std::uint32_t begin, std::uint32_t end) {
        if constexpr (Two) {
            LaneCounts rows{}, ones{};
            for (std::uint32_t i = begin; i < end; ++i) {
                const E entry = list.entries[i];
                const LaneCounts add = added_by(list, entry);
                rows += add;
                ones += add & (LaneCounts{} + static_cast<std::uint8_t>(-static_cast<int>(entry & 1)));
            }
            first[0] = rows - ones, first[1] = ones;
        } else {
            __builtin_memset(first, 0, list.n_classes * sizeof(LaneCounts));
            __builtin_memset(second, 0, list.n_classes * sizeof(LaneCounts));
            std::uint32_t i = begin;
            for (; i + 2 <= end; i += 2) {
                const E a = list.entries[i], b = list.entries[i + 1];
                first[class_of<E, Two>(list, a)] += added_by(list, a);
                second[class_of<E, Two>(list, b)] += added_by(list, b);
            }
            if (i < end) first[class_of<E, Two>(list, list.entries[i])] += added_by(list, list.entries[i]);
            for (std::uint32_t k = 0; k < list.n_classes; ++k) first[k] += second[k];
        }
    }
    bool some(std::uint32_t k) const {
        std::uint64_t half[2];
        __builtin_memcpy(half, first + k, sizeof(half));
        return (half[0] | half[1]) != 0;
    }
};

/// phi of the node in the middle of a block, and a slope under which it lies nowhere: that to the next whole
/// number, which is off by two units and multiplied by at most half a block.
struct Tangent {
    Ints middle, phi, slope;

    Tangent(const InformationBlocks &blocks, const Ints &left, const Ints &rows)
        : middle(smaller(half(left + left + rows), read(blocks.whole) - 1)),
          phi(both_sides(blocks.xlog, middle, read(blocks.whole))),
          slope(both_sides(blocks.xlog, middle + 1, read(blocks.whole)) - phi) {}
};

/// What the lanes have on the left before a block: rows, the sum of phi_k, and by ratio phi.
struct BlockStart {
    Ints left = ints(0), sum = ints(0), phi = ints(0);

    BlockStart(const InformationBlocks &blocks, std::uint32_t n_classes) {
        for (std::uint32_t k = 0; k < n_classes; ++k) {
            const Ints rows = read(blocks.left[k].of),
                       here = both_sides(blocks.xlog, rows, read(blocks.all[k].of));
            left += rows;
            sum += here;
            write(here, blocks.phi[k].of);
        }
    }
};

template <class E, bool Two>
inline void bound_blocks(const LaneList<E> &list, const InformationBlocks &blocks, InformationBar &to_raise) {
    Bar bar(to_raise);
    Top top;
    BlockStart at(blocks, list.n_classes);
    const Ints whole = read(blocks.whole);
    if (bar.ratio) at.phi = both_sides(blocks.xlog, at.left, whole);
    BlockCounts<E, Two> counts;
    InformationBlock *block = blocks.blocks;
    LaneRow *left = blocks.left, *phi = blocks.phi; // of each class
    for (std::uint32_t begin = 0; begin < list.n; begin += blocks.size, ++block) {
        const std::uint32_t end = begin + blocks.size < list.n ? begin + blocks.size : list.n;
        counts.count(list, begin, end);
        Ints rows = ints(0);
        for (std::uint32_t k = 0; k < list.n_classes; ++k) rows += widened(counts.first[k]);
        const Tangent tangent(blocks, at.left, rows);
        Ints bound = at.sum - tangent.phi + tangent.slope * (tangent.middle - at.left) +
                     static_cast<std::int32_t>(blocks.size + 2);
        write(tangent.slope, block->slope);
        write(bound, block->rise);
        for (std::uint32_t k = 0; k < list.n_classes; ++k, ++left, ++phi) {
            LaneRow &next_left = left[list.n_classes], &next_phi = phi[list.n_classes];
            if (!counts.some(k)) {
                next_left = *left, next_phi = *phi;
                continue;
            }
            const Ints add = widened(counts.first[k]), now = read(left->of) + add,
                       now_phi = both_sides(blocks.xlog, now, read(blocks.all[k].of)),
                       grown = now_phi - read(phi->of);
            write(now, next_left.of);
            write(now_phi, next_phi.of);
            at.sum += grown;
            bound += larger(grown - tangent.slope * add, ints(0));
        }
        write(bound, block->bound);
        at.left += rows;
        const Ints phi_end = both_sides(blocks.xlog, at.left, whole);
        if (bar.ratio) write(bar.whole_log - larger(at.phi, phi_end) - 2, block->split);
        at.phi = phi_end;
        if (end != list.n && !same_value(list, end - 1))
            top.look(at.sum - phi_end, phi_end, bar.admits(at.left), bar);
    }
    top.raise(bar);
    bar.write_to(to_raise);
}

/// The score that a cut in a block has to reach: by ratio, what the least split in the block asks for.
inline Ints reach_in(const InformationBlock &block, const Bar &bar) {
    if (!bar.ratio) return bar.reach;
    const Floats split = to_floats(larger(read(block.split), ints(0)));
    return larger(to_ints(split * bar.quality * (1.0f - 1e-6f)) - bar.content - (bar.doubt + 2), bar.reach);
}

/// Writes what an entry of each class moves the bound of a block by: its chord, rounded up, less the slope.
inline void write_chords(const InformationBlocks &blocks, const InformationBlock &block, const LaneRow *left,
                         const LaneRow *phi, std::uint32_t n_classes) {
    const Ints slope = read(block.slope);
    for (std::uint32_t k = 0; k < n_classes; ++k) {
        const Ints add = read(left[n_classes + k].of) - read(left[k].of);
        if (!any(add != ints(0))) continue;
        const Floats chord =
            to_floats(read(phi[n_classes + k].of) - read(phi[k].of)) / to_floats(larger(add, ints(1)));
        write(to_ints(chord) + 1 - slope, blocks.steps[k].of);
    }
}

/// Walks along a block by its chords; `above` is how far the bound lies above what has to be reached.
template <class E, bool Two> inline bool walk_block(const LaneList<E> &list, const LaneRow *chords,
                                                    Ints above, std::uint32_t begin, std::uint32_t end,
                                                    InformationHits &hits) {
    const Ints before = above;
    const std::uint32_t last = end < list.n ? end : list.n - 1; // there is no cut behind the list
    auto move = [&](std::uint32_t i) {
        const E entry = list.entries[i];
        above += read(chords[class_of<E, Two>(list, entry)].of) & lanes_of(list, entry);
    };
    Ints top = ints(-1);
    for (std::uint32_t i = begin; i < last; ++i) {
        move(i);
        const Ints no_cut = ints(-static_cast<std::int32_t>(same_value(list, i)));
        top = larger(top, above | no_cut);
    }
    if (!any(top >= ints(0))) return false;
    above = before;
    hits.begin = begin, hits.end = last;
    for (std::uint32_t i = begin; i < last; ++i) {
        move(i);
        hits.lanes[i - begin] = static_cast<std::uint16_t>(same_value(list, i) ? 0u : bits(above >= ints(0)));
    }
    return true;
}

/// Leaves of a block's hits those whose scores reach the bar; `before` are the rows of each class before it.
template <class E, bool Two> inline bool settle_block(const LaneList<E> &list,
                                                      const InformationBlocks &blocks, const LaneRow *before,
                                                      const LaneRow *phi, Bar &bar, InformationHits &hits) {
    Ints rows = ints(0), sum = ints(0);
    for (std::uint32_t k = 0; k < list.n_classes; ++k) {
        blocks.steps[k] = before[k];
        rows += read(before[k].of);
        sum += read(phi[k].of);
    }
    const Ints whole = read(blocks.whole);
    LaneScores scores;
    const std::uint32_t size = hits.end - hits.begin;
    for (std::uint32_t i = 0; i < size; ++i) {
        const E entry = list.entries[hits.begin + i];
        const std::size_t k = class_of<E, Two>(list, entry);
        const Ints in = lanes_of(list, entry), left = read(blocks.steps[k].of),
                   right = read(blocks.all[k].of) - left;
        sum += (look_up(blocks.rises, left) - look_up(blocks.rises, right - 1)) & in;
        write(left - in, blocks.steps[k].of);
        rows -= in;
        const Ints admissible = bar.admits(rows);
        if (hits.lanes[i] != 0 && any(admissible))
            scores.put(i, sum, both_sides(blocks.xlog, rows, whole), admissible, bar);
        else
            scores.skip(i);
    }
    return scores.settle(size, bar, hits);
}

template <class E, bool Two>
inline std::uint32_t walk_blocks(const LaneList<E> &list, const InformationBlocks &blocks,
                                 InformationBar &to_raise, std::uint32_t block, InformationHits &hits) {
    Bar bar(to_raise);
    for (std::uint32_t begin = block * blocks.size; begin < list.n; ++block, begin += blocks.size) {
        const InformationBlock &here = blocks.blocks[block];
        const Ints reach = reach_in(here, bar), live = read(here.bound) >= reach;
        if (!any(live)) continue;
        const LaneRow *left = blocks.left + std::size_t{block} * list.n_classes,
                      *phi = blocks.phi + std::size_t{block} * list.n_classes;
        write_chords(blocks, here, left, phi, list.n_classes);
        const std::uint32_t end = begin + blocks.size < list.n ? begin + blocks.size : list.n;
        const Ints above = read(here.rise) - choose(live, reach, ints(never_reached));
        if (walk_block<E, Two>(list, blocks.steps, above, begin, end, hits) &&
            settle_block<E, Two>(list, blocks, left, phi, bar, hits))
            break;
    }
    bar.write_to(to_raise);
    return block;
}

// ---- entries ----

template <class E, bool Two> inline bool next_entries(const LaneList<E> &list, InformationEntries &entries,
                                                      InformationBar &to_raise, InformationHits &hits) {
    Bar bar(to_raise);
    const Ints phi_at = read(entries.phi_at);
    Ints left = read(entries.left), sum = read(entries.sum);
    bool found = false;
    while (!found && hits.end + 1 < list.n) {
        const std::uint32_t begin = hits.end, rest = list.n - 1 - begin,
                            size = rest < most_hit_entries ? rest : most_hit_entries;
        hits.begin = begin, hits.end = begin + size;
        for (std::uint32_t k = 0; k < list.n_classes; ++k) entries.begin[k] = entries.at[k];
        LaneScores scores;
        // What entries add is looked up first, and added up then: vectors that were just written number by
        // number are slow to read.
        for (std::uint32_t i = 0; i < size; ++i) {
            const E entry = list.entries[begin + i];
            const Ints in = lanes_of(list, entry);
            LaneInts &next = entries.at[class_of<E, Two>(list, entry)].of;
            const Ints at = read(next);
            scores.score[i] = look_up(entries.steps, at) & in;
            write(at - in, next);
            left -= in;
            const Ints admissible = bar.admits(left);
            scores.phi[i] = !same_value(list, begin + i) && any(admissible)
                                ? choose(admissible, look_up(entries.phi, left + phi_at), ints(never_reached))
                                : ints(never_reached);
        }
        for (std::uint32_t i = 0; i < size; ++i) {
            sum += scores.score[i];
            scores.put(i, sum, scores.phi[i], scores.phi[i] != ints(never_reached), bar);
        }
        found = scores.settle(size, bar, hits);
    }
    write(left, entries.left);
    write(sum, entries.sum);
    bar.write_to(to_raise);
    return found;
}

// ---- counted values ----

/// What the lanes that are there have in a cell.
inline Ints lanes_in(const InformationValues &values, std::size_t cell) {
    LaneInts own;
    __builtin_memcpy(&own, values.cells.own + cell * values.cells.columns, sizeof(own));
    return (ints(static_cast<std::int32_t>(values.cells.whole[cell * values.cells.columns])) - read(own)) &
           read(values.seated);
}

bool information_values(InformationValues &values, InformationBar &to_raise, InformationHits &hits) {
    Bar bar(to_raise);
    const Ints whole = read(values.whole);
    Ints left = read(values.left), sum = read(values.sum), cuts = read(values.cuts);
    bool found = false;
    while (!found && hits.end < values.n_values) {
        const std::uint32_t begin = hits.end, rest = values.n_values - begin,
                            size = rest < most_hit_entries ? rest : most_hit_entries;
        hits.begin = begin, hits.end = begin + size;
        for (std::uint32_t k = 0; k < values.cells.n_classes; ++k) values.begin[k] = values.now[k];
        LaneScores scores;
        for (std::uint32_t v = 0; v < size; ++v) {
            Ints rows = ints(0);
            for (std::uint32_t k = 0; k < values.cells.n_classes; ++k) {
                const Ints in = lanes_in(values, std::size_t{begin + v} * values.cells.width + k);
                if (!any(in)) continue;
                rows += in;
                const Ints now = read(values.now[k].of) + in,
                           phi = both_sides(values.xlog, now, read(values.all[k].of));
                sum += phi - read(values.phi[k].of);
                write(now, values.now[k].of);
                write(phi, values.phi[k].of);
            }
            left += rows;
            const Ints admissible = bar.admits(left) & (rows > ints(0));
            if (any(admissible))
                scores.put(v, sum, both_sides(values.xlog, left, whole), admissible, bar);
            else
                scores.skip(v);
            cuts -= admissible;
        }
        found = scores.settle(size, bar, hits);
    }
    write(left, values.left);
    write(sum, values.sum);
    write(cuts, values.cuts);
    bar.write_to(to_raise);
    return found;
}

// ---- how many cuts there are ----

template <class E> inline void count_cuts(const LaneList<E> &list, const LaneInts &start,
                                          const InformationBar &asked, LaneInts &cuts) {
    const Bar bar(asked);
    Ints left = read(start), counted = left, n = ints(0);
    for (std::uint32_t i = 0; i + 1 < list.n; ++i) {
        left -= lanes_of(list, list.entries[i]);
        if (same_value(list, i)) continue;
        n -= (left != counted) & bar.admits(left);
        counted = left;
    }
    write(n, cuts);
}

// ---- one version for two classes, whose entries tell them, and one for any number ----

template <class E>
void information_bound(const LaneList<E> &list, const InformationBlocks &blocks, InformationBar &bar) {
    list.n_classes == 2 ? bound_blocks<E, true>(list, blocks, bar)
                        : bound_blocks<E, false>(list, blocks, bar);
}
template <class E> std::uint32_t information_walk(const LaneList<E> &list, const InformationBlocks &blocks,
                                                  InformationBar &bar, std::uint32_t block,
                                                  InformationHits &hits) {
    return list.n_classes == 2 ? walk_blocks<E, true>(list, blocks, bar, block, hits)
                               : walk_blocks<E, false>(list, blocks, bar, block, hits);
}
template <class E> bool information_entries(const LaneList<E> &list, InformationEntries &entries,
                                            InformationBar &bar, InformationHits &hits) {
    return list.n_classes == 2 ? next_entries<E, true>(list, entries, bar, hits)
                               : next_entries<E, false>(list, entries, bar, hits);
}
template <class E> void information_count(const LaneList<E> &list, const LaneInts &left,
                                          const InformationBar &bar, LaneInts &cuts) {
    count_cuts(list, left, bar, cuts);
}
