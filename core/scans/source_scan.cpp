// The scan itself: block after block of rows, place after place.
#include "scans/source_scan.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace hornbeam {

// ---- buckets ----

Buckets::Buckets(const AttributeShape &shape, std::vector<RowKey> edges) : edges_(std::move(edges)) {
    if (edges_.empty()) {
        size_ = static_cast<std::uint32_t>(shape.highest + 1);
        return;
    }
    size_ = static_cast<std::uint32_t>(edges_.size());
    constexpr int leading = 13; // bits: a table of 64 KB
    const int bits = static_cast<int>(std::bit_width(edges_.back()));
    shift_ = static_cast<unsigned>(std::max(0, bits - leading));
    const std::size_t n = (edges_.back() >> shift_) + 1;
    start_.resize(n + 1);
    std::uint32_t b = 0;
    for (std::size_t i = 0; i < n; ++i) {
        while (edges_[b] < RowKey{i} << shift_) ++b;
        start_[i] = b;
    }
    start_[n] = size_ - 1;
}

std::uint32_t Buckets::find(RowKey key, std::uint32_t begin, std::uint32_t end) const {
    const auto found = std::lower_bound(edges_.begin() + begin, edges_.begin() + end, key);
    return static_cast<std::uint32_t>(found - edges_.begin());
}

// ---- keys ----

namespace {

/// Sorts by merging what is in order already: what several scans have listed are as many such runs.
void sort_runs(std::vector<KeyCount> &counts) {
    constexpr std::size_t most_runs = 64;
    std::vector<std::ptrdiff_t> ends{0};
    const auto begin = counts.begin();
    for (auto at = begin; at != counts.end(); ends.push_back(at - begin)) {
        if (ends.size() > most_runs) return std::sort(begin, counts.end());
        at = std::is_sorted_until(at, counts.end());
    }
    while (ends.size() > 2) {
        std::vector<std::ptrdiff_t> wider{0};
        for (std::size_t i = 1; i < ends.size(); i += 2) {
            const std::size_t last = std::min(i + 1, ends.size() - 1);
            std::inplace_merge(begin + ends[i - 1], begin + ends[i], begin + ends[last]);
            wider.push_back(ends[last]);
        }
        ends = std::move(wider);
    }
}

} // namespace

void KeyCounts::bring_together() {
    if (shape_ != nullptr) return bring_sums_together();
    sort_runs(counts_);
    std::size_t n = 0;
    for (const KeyCount &c : counts_) {
        if (n != 0 && counts_[n - 1].key == c.key && counts_[n - 1].joint == c.joint)
            counts_[n - 1].count += c.count;
        else
            counts_[n++] = c;
        if (counts_[n - 1].count == 0) --n; // taken away again
    }
    counts_.resize(n);
}

void KeyCounts::make_room() {
    if (n_cells_ == 0) {
        bring_together();
        room_ = std::max(room_, 2 * counts_.size());
        return;
    }
    open_cells();
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        const std::size_t cell = (counts_[i].key - low_) * n_joint_ + counts_[i].joint;
        cells_[cell] += counts_[i].count;
        if (shape_ != nullptr) shape_->add(&cell_sums_[cell * words()], &sums_[i * words()]);
    }
    counts_ = {};
    sums_ = {};
}

const std::vector<KeyCount> &KeyCounts::compact() {
    const std::size_t words = this->words();
    const auto empty = static_cast<std::size_t>(std::count(cells_.begin(), cells_.end(), 0u));
    counts_.reserve(counts_.size() + cells_.size() - empty);
    sums_.reserve(sums_.size() + (cells_.size() - empty) * words);
    for (std::size_t i = 0; i < cells_.size(); ++i)
        if (cells_[i] != 0) {
            counts_.push_back({low_ + i / n_joint_, static_cast<std::uint32_t>(i % n_joint_), cells_[i]});
            const auto from = cell_sums_.begin() + static_cast<std::ptrdiff_t>(i * words);
            sums_.insert(sums_.end(), from, from + static_cast<std::ptrdiff_t>(words));
        }
    cells_ = {};
    cell_sums_ = {};
    bring_together();
    return counts_;
}

// ---- the scan ----

SourceScan::SourceScan(std::shared_ptr<const RowLayout> layout, std::shared_ptr<const Grid> grid,
                       std::vector<Place> places)
    : layout_(std::move(layout)), grid_(std::move(grid)), places_(std::move(places)), block_(*layout_),
      codes_(layout_->attributes.size()), bucketed_(layout_->attributes.size()), all_(block_rows) {
    std::iota(all_.begin(), all_.end(), BlockRow{0});
    for (const Place &place : places_) results_.push_back(fresh(place));
    for (auto &codes : codes_) codes.resize(block_rows);
}

PlaceResult SourceScan::fresh(const Place &place) const {
    PlaceResult result;
    result.totals.resize(layout_->n_joint());
    std::size_t cells = 0;
    for (std::int32_t a : place.counted) {
        result.first.push_back(cells);
        cells += (std::size_t{buckets(a).size()} + 1) * layout_->n_joint();
        if (!place.sums) continue;
        const AttributeShape &shape = layout_->attributes[static_cast<std::size_t>(a)];
        result.sums.push_back(buckets(a).all_single() ? KeySums() : KeySums(shape, layout_->n_joint()));
    }
    result.counts.resize(cells);
    result.total_sums.resize(result.totals.size() * layout_->sums.words());
    result.cell_sums.resize(cells * layout_->sums.words());
    for (const Watch &watch : place.watches) result.keys.push_back(fresh(watch));
    return result;
}

KeyCounts SourceScan::fresh(const Watch &watch) const {
    const Buckets &b = buckets(watch.attribute);
    const RowKey missing = layout_->attributes[static_cast<std::size_t>(watch.attribute)].missing();
    if (watch.wanted.empty()) return {0, missing, layout_->n_joint(), sums()};
    std::uint32_t first = 0, last = b.size();
    while (first < last && watch.wanted[first] == 0) ++first;
    while (last > first && watch.wanted[last] == 0) --last;
    return {first == b.size() ? missing : b.low(first), last == b.size() ? missing : b.high(last),
            layout_->n_joint(), sums()};
}

std::int32_t SourceScan::add_place(Place place) {
    results_.push_back(fresh(place));
    places_.push_back(std::move(place));
    return static_cast<std::int32_t>(places_.size()) - 1;
}

void SourceScan::replace_place(std::int32_t p, Place given) {
    at(p) = fresh(given);
    place(p) = std::move(given);
}

void SourceScan::watch_as(std::int32_t p, SourceScan &other, std::int32_t q) {
    for (Watch &watch : other.place(q).watches) place(p).watches.push_back(std::move(watch));
    for (KeyCounts &keys : other.at(q).keys) at(p).keys.push_back(std::move(keys));
    other.replace_place(q, {});
}

void SourceScan::open_block() { std::fill(bucketed_.begin(), bucketed_.end(), std::uint8_t{0}); }

const std::uint32_t *SourceScan::codes(std::int32_t attribute) {
    const auto a = static_cast<std::size_t>(attribute);
    std::uint32_t *to = codes_[a].data();
    if (bucketed_[a] == 0) {
        const Buckets &b = grid_->of[a];
        const RowKey *keys = keys_at(attribute);
        for (std::size_t i = 0; i < block_.n; ++i) to[i] = b.of(keys[i]);
        bucketed_[a] = 1;
    }
    return to;
}

void SourceScan::add(const Chunk &chunk, Cancel &cancel, std::int32_t place) {
    for (std::size_t first = 0; first < chunk.n; first += block_rows) {
        cancel.poll();
        block_.read(*layout_, chunk, first, std::min(block_rows, chunk.n - first));
        open_block();
        stream(std::span(all_).first(block_.n), place);
    }
}

/// While it lives, rows that are added are taken away.
class SourceScan::TakingAway {
  public:
    explicit TakingAway(SourceScan &scan) : scan_(scan) {
        const auto stays = [](const Place &p) { return p.keeps || p.sums; };
        if (std::any_of(scan.places_.begin(), scan.places_.end(), stays))
            throw std::invalid_argument("rows that are kept, or whose values are summed up, stay");
        turn(~std::uint32_t{0}, true);
    }
    ~TakingAway() { turn(1, false); }

  private:
    SourceScan &scan_;
    void turn(std::uint32_t times, bool away) { scan_.times_ = times, scan_.block_.taken_away = away; }
};

void SourceScan::take_away(const Chunk &chunk, Cancel &cancel, std::int32_t place) {
    const TakingAway turned(*this);
    add(chunk, cancel, place);
}

void SourceScan::take_rows_away(const std::uint8_t *rows, std::size_t n, std::int32_t place, Cancel &cancel) {
    const TakingAway turned(*this);
    add_rows(rows, n, place, cancel);
}

template <class Body>
void SourceScan::in_blocks(const std::uint8_t *rows, std::size_t n, Cancel &cancel, Body body) {
    for (std::size_t first = 0; first < n; first += block_rows) {
        cancel.poll();
        block_.open(*layout_, rows + first * layout_->stride, std::min(block_rows, n - first));
        open_block();
        body(std::span<const BlockRow>(all_).first(block_.n));
    }
}

void SourceScan::add_rows(const std::uint8_t *rows, std::size_t n, std::int32_t place, Cancel &cancel) {
    in_blocks(rows, n, cancel, [&](std::span<const BlockRow> all) { stream(all, place); });
}

std::vector<BlockRow> SourceScan::take_spare() {
    if (spare_.empty()) return std::vector<BlockRow>(block_rows);
    std::vector<BlockRow> rows = std::move(spare_.back());
    spare_.pop_back();
    return rows;
}

void SourceScan::stream(std::span<const BlockRow> rows, std::int32_t p) {
    if (p < 0 || rows.empty()) return;
    const Place &place = places_[static_cast<std::size_t>(p)];
    PlaceResult &result = results_[static_cast<std::size_t>(p)];
    const auto times = static_cast<std::uint64_t>(static_cast<std::int32_t>(times_));
    for (BlockRow row : rows) result.totals[block_.joint[row]] += times;
    result.touched = true;
    count(place, result, rows);
    if (sums() != nullptr) sum(place, result, rows);
    for (std::size_t w = 0; w < place.watches.size(); ++w) watch(place.watches[w], result.keys[w], rows);
    if (place.keeps) result.rows.add(*layout_, block_, rows);
    for (const RouteTest &test : place.tests) route(test, result, rows, place.keeps);
}

void SourceScan::count(const Place &place, PlaceResult &result, std::span<const BlockRow> rows) {
    const std::size_t n_joint = layout_->n_joint();
    const std::uint32_t *joint = block_.joint.data();
    const bool one_by_one = block_.few(rows.size()) && sums() == nullptr && result.sums.empty();
    for (std::size_t c = 0; c < place.counted.size(); ++c) {
        std::uint32_t *cell = result.counts.data() + result.first[c];
        if (one_by_one) {
            const auto a = static_cast<std::size_t>(place.counted[c]);
            const Buckets &b = grid_->of[a];
            const AttributeShape &shape = layout_->attributes[a];
            for (BlockRow row : rows)
                cell[b.of(block_.key(*layout_, shape, row)) * n_joint + joint[row]] += times_;
            continue;
        }
        const std::uint32_t *code = codes(place.counted[c]);
        for (BlockRow row : rows) cell[code[row] * n_joint + joint[row]] += times_;
        if (!result.sums.empty() && result.sums[c].there())
            result.sums[c].add_rows(keys_at(place.counted[c]), joint, rows);
    }
}

void SourceScan::watch(const Watch &watch, KeyCounts &to, std::span<const BlockRow> rows) {
    if (sums() != nullptr) return watch_sums(watch, to, rows);
    const RowKey *key = keys_at(watch.attribute);
    if (watch.wanted.empty()) {
        for (BlockRow row : rows) to.add(key[row], block_.joint[row], times_);
        return;
    }
    const std::uint32_t *code = codes(watch.attribute);
    for (BlockRow row : rows)
        if (watch.wanted[code[row]] != 0) to.add(key[row], block_.joint[row], times_);
}

void SourceScan::route(const RouteTest &test, PlaceResult &result, std::span<const BlockRow> rows,
                       bool kept) {
    const std::size_t n_children = test.children.size();
    const RowKey *key = keys_at(test.attribute);
    const RowKey missing = layout_->attributes[static_cast<std::size_t>(test.attribute)].missing();
    auto deal = [&](auto child_of) {
        if (n_children == 2) {
            std::vector<BlockRow> left = take_spare(), right = take_spare(), stay = take_spare();
            std::size_t n_left = 0, n_right = 0, n_stay = 0;
            for (BlockRow row : rows) {
                const std::int32_t c = child_of(row);
                left[n_left] = right[n_right] = stay[n_stay] = row;
                n_left += c == 0, n_right += c == 1, n_stay += c < 0;
            }
            if (!kept && n_stay != 0) result.rows.add(*layout_, block_, std::span(stay).first(n_stay));
            spare_.push_back(std::move(stay));
            stream(std::span(left).first(n_left), test.children[0]);
            spare_.push_back(std::move(left));
            stream(std::span(right).first(n_right), test.children[1]);
            spare_.push_back(std::move(right));
            return;
        }
        std::vector<std::vector<BlockRow>> parts(n_children + 1);
        for (BlockRow row : rows) {
            const std::int32_t c = child_of(row);
            parts[c < 0 ? n_children : static_cast<std::size_t>(c)].push_back(row);
        }
        if (!kept && !parts[n_children].empty()) result.rows.add(*layout_, block_, parts[n_children]);
        for (std::size_t c = 0; c < n_children; ++c) stream(parts[c], test.children[c]);
    };
    switch (test.kind) {
    case RouteTest::Kind::coarse: {
        const std::uint32_t *code = codes(test.attribute);
        const std::uint32_t none = buckets(test.attribute).missing();
        deal([&, code](BlockRow row) -> std::int32_t {
            const std::uint32_t c = code[row];
            if (c == none) return test.missing;
            return c < test.first ? 0 : c > test.last ? 1 : RouteTest::held;
        });
        break;
    }
    case RouteTest::Kind::numeric:
        deal([&, key](BlockRow row) -> std::int32_t {
            return key[row] == missing ? test.missing : key[row] > test.lo;
        });
        break;
    case RouteTest::Kind::nominal:
        deal([&, key](BlockRow row) -> std::int32_t {
            return key[row] == missing ? test.missing : test.child_of[key[row]];
        });
        break;
    }
}

void SourceScan::decide(std::int32_t p, RouteTest test, Cancel &cancel) {
    const RowStore rows = std::exchange(at(p).rows, {});
    release(p);
    place(p).tests.assign(1, std::move(test));
    place(p).keeps = false;
    rows.each([&](const std::uint8_t *bytes, std::size_t n) { send_on(bytes, n, p, cancel); });
}

void SourceScan::send_on(const std::uint8_t *rows, std::size_t n, std::int32_t p, Cancel &cancel) {
    in_blocks(rows, n, cancel, [&](std::span<const BlockRow> all) {
        for (const RouteTest &test : place(p).tests) route(test, at(p), all, false);
    });
}

void SourceScan::count_rest(PlaceCounts of_both, std::int32_t counted, std::int32_t rest) {
    const PlaceResult &less = at(counted);
    PlaceResult &to = at(rest);
    for (std::size_t i = 0; i < less.counts.size(); ++i) of_both.counts[i] -= less.counts[i];
    for (std::size_t i = 0; i < less.cell_sums.size(); i += layout_->sums.words())
        layout_->sums.subtract(&of_both.cell_sums[i], &less.cell_sums[i]);
    place(rest).counted = std::move(of_both.attributes);
    to.counts = std::move(of_both.counts);
    to.cell_sums = std::move(of_both.cell_sums);
    to.first = less.first;
}

PlaceCounts SourceScan::take_counts(std::int32_t p) {
    PlaceResult &from = at(p);
    return {std::exchange(place(p).counted, {}), std::exchange(from.counts, {}),
            std::exchange(from.cell_sums, {})};
}

template <class Visit> void SourceScan::each_below(std::int32_t p, Visit visit) {
    if (p < 0) return;
    visit(p);
    for (const RouteTest &test : place(p).tests)
        for (std::int32_t child : test.children) each_below(child, visit);
}

void SourceScan::release(std::int32_t p) {
    PlaceResult &result = at(p);
    result.counts = {}, result.first = {}, result.sums = {}, result.keys = {}, result.rows = {};
    result.cell_sums = {};
    place(p).counted = {}, place(p).watches = {};
}

RowStore SourceScan::gather(std::int32_t p) {
    RowStore all;
    each_below(p, [&](std::int32_t q) {
        all.take(std::move(at(q).rows));
        at(q).rows = {};
        if (q != p) release(q);
    });
    return all;
}

bool SourceScan::complete(std::int32_t p) const {
    const Place &here = places_[static_cast<std::size_t>(p)];
    if (here.keeps) return true;
    if (here.tests.empty()) {
        const auto &totals = results_[static_cast<std::size_t>(p)].totals;
        return std::all_of(totals.begin(), totals.end(), [](std::uint64_t n) { return n == 0; });
    }
    return std::all_of(here.tests[0].children.begin(), here.tests[0].children.end(),
                       [&](std::int32_t child) { return child >= 0 && complete(child); });
}

void SourceScan::look_up(std::int32_t p, std::vector<Watch> watches, Cancel &cancel) {
    for (Watch &watch : watches) {
        at(p).keys.push_back(fresh(watch));
        place(p).watches.push_back(std::move(watch));
    }
    each_below(p, [&](std::int32_t q) {
        at(q).rows.each(
            [&](const std::uint8_t *bytes, std::size_t n) { look_on(bytes, n, p, watches.size(), cancel); });
    });
}

void SourceScan::look_on(const std::uint8_t *rows, std::size_t n, std::int32_t p, std::size_t n_watches,
                         Cancel &cancel) {
    const std::span<const Watch> watches = std::span(place(p).watches).last(n_watches);
    const std::span<KeyCounts> found = std::span(at(p).keys).last(n_watches);
    in_blocks(rows, n, cancel, [&](std::span<const BlockRow> all) {
        for (std::size_t w = 0; w < n_watches; ++w) watch(watches[w], found[w], all);
    });
}

KeyTable SourceScan::keys_of(std::int32_t p, std::int32_t attribute, Cancel &cancel) {
    const Place &here = place(p);
    std::vector<std::uint8_t> known(std::size_t{buckets(attribute).size()} + 1);
    KeyCounts keys(sums());
    for (std::size_t w = 0; w < here.watches.size(); ++w) {
        if (here.watches[w].attribute != attribute) continue;
        keys.add(at(p).keys[w]);
        for (std::size_t b = 0; b < here.watches[w].wanted.size(); ++b) known[b] |= here.watches[w].wanted[b];
    }
    if (here.tests.size() == 1 && here.tests[0].kind == RouteTest::Kind::coarse &&
        here.tests[0].attribute == attribute && here.tests[0].first <= here.tests[0].last) {
        KeyCounts held = held_keys(p, known, cancel);
        keys.add(held);
    }
    return std::move(keys).take();
}

KeyCounts SourceScan::held_keys(std::int32_t p, std::span<const std::uint8_t> known, Cancel &cancel) {
    const RouteTest &test = place(p).tests[0];
    const Buckets &b = buckets(test.attribute);
    KeyCounts keys(b.low(test.first), b.high(test.last), layout_->n_joint(), sums());
    const std::size_t words = layout_->sums.words();
    at(p).rows.each([&](const std::uint8_t *bytes, std::size_t n) {
        in_blocks(bytes, n, cancel, [&](std::span<const BlockRow> all) {
            const RowKey *key = keys_at(test.attribute);
            const std::uint32_t *code = codes(test.attribute);
            const std::uint64_t *numbers = words == 0 ? nullptr : block_.sums(*layout_);
            for (BlockRow row : all) {
                if (code[row] < test.first || code[row] > test.last || known[code[row]] != 0) continue;
                words == 0 ? keys.add(key[row], block_.joint[row])
                           : keys.add(key[row], block_.joint[row], numbers + row * words);
            }
        });
    });
    return keys;
}

std::size_t SourceScan::bytes() const {
    std::size_t all = 0;
    for (const PlaceResult &r : results_) {
        all += r.counts.size() * sizeof(std::uint32_t) + r.cell_sums.size() * sizeof(std::uint64_t) +
               r.rows.bytes();
        for (const KeyCounts &k : r.keys) all += k.bytes();
        for (const KeySums &s : r.sums) all += s.bytes();
    }
    return all;
}

std::uint64_t SourceScan::rows_kept() const {
    std::uint64_t all = 0;
    for (const PlaceResult &r : results_) all += r.rows.rows();
    return all;
}

} // namespace hornbeam
