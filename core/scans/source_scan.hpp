// One scan over the rows of a source (paper 002): rows go down the tests that are known or guessed so far,
// are counted at the places that ask for it, and kept where the way on is not sure. A scan of a part of the
// rows is complete in itself: results of parts are merged, in any order.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "running/cancel.hpp"
#include "scans/key_sums.hpp"
#include "scans/rows.hpp"

namespace hornbeam {

/// The buckets that an attribute's keys are counted by. Invariant: bucket b holds the keys above edges[b - 1]
/// up to edges[b], and the last edge is the attribute's highest key; without edges each key is a bucket.
class Buckets {
  public:
    Buckets(const AttributeShape &shape, std::vector<RowKey> edges);

    std::uint32_t size() const { return size_; }
    std::uint32_t missing() const { return size_; }
    std::uint32_t of(RowKey key) const {
        if (edges_.empty()) return static_cast<std::uint32_t>(key);
        if (key > edges_.back()) return size_;
        std::uint32_t b = start_[key >> shift_];
        const std::uint32_t end = start_[(key >> shift_) + 1];
        if (end - b > 8) return find(key, b, end);
        while (edges_[b] < key) ++b;
        return b;
    }
    RowKey low(std::uint32_t b) const { return edges_.empty() ? b : b == 0 ? 0 : edges_[b - 1] + 1; }
    RowKey high(std::uint32_t b) const { return edges_.empty() ? b : edges_[b]; }
    bool single(std::uint32_t b) const { return low(b) == high(b); }
    bool all_single() const { return edges_.empty(); }
    const std::vector<RowKey> &edges() const { return edges_; }

  private:
    std::vector<RowKey> edges_;
    std::vector<std::uint32_t> start_; // by leading bits of a key: the first bucket it may be in
    unsigned shift_ = 0;
    std::uint32_t size_ = 0;

    std::uint32_t find(RowKey key, std::uint32_t begin, std::uint32_t end) const;
};

/// The buckets of all attributes.
struct Grid {
    std::vector<Buckets> of;
};

/// How often rows of a joint class have a key.
struct KeyCount {
    RowKey key = 0;
    std::uint32_t joint = 0, count = 0;
    friend bool operator<(const KeyCount &a, const KeyCount &b) {
        return a.key != b.key ? a.key < b.key : a.joint < b.joint;
    }
};

/// Keys in order, each with its joint classes, and the sums that rows have besides their number.
struct KeyTable {
    std::vector<KeyCount> counts;
    SumWords sums;
};

/// Keys by joint class, gathered in any order: listed, and brought together now and then, or in cells once
/// these take no more memory than the list.
class KeyCounts {
  public:
    KeyCounts() = default;
    /// Of keys from low to high.
    KeyCounts(RowKey low, RowKey high, std::size_t n_joint, const SumShape *sums = nullptr)
        : low_(low), n_joint_(n_joint), shape_(sums) {
        const std::size_t size = n_joint * (1 + 2 * words()); // of a key, in 32 bits
        if (high - low < most_cells / size) n_cells_ = (high - low + 1) * n_joint;
        if (n_cells_ * (1 + 2 * words()) <= few_cells) open_cells();
        if (n_cells_ != 0) room_ = n_cells_ * (sizeof(std::uint32_t) + sum_bytes()) / entry_bytes() + 1;
    }
    /// Without cells.
    explicit KeyCounts(const SumShape *sums) : shape_(sums) {}
    /// What `compact` and `sums` give, which is used up.
    KeyTable take() && {
        compact();
        return {std::move(counts_), std::move(sums_)};
    }
    /// One row, or one less.
    void add(RowKey key, std::uint32_t joint, std::uint32_t times = 1) {
        if (!cells_.empty()) {
            cells_[(key - low_) * n_joint_ + joint] += times;
            return;
        }
        if (counts_.size() >= room_) make_room();
        if (!cells_.empty()) return add(key, joint, times);
        counts_.push_back({key, joint, times});
    }
    /// The same for a row with sums.
    void add(RowKey key, std::uint32_t joint, const std::uint64_t *sums, std::uint32_t times = 1);
    void add(std::span<const KeyCount> counts, std::span<const std::uint64_t> sums = {}) {
        counts_.insert(counts_.end(), counts.begin(), counts.end());
        sums_.insert(sums_.end(), sums.begin(), sums.end());
    }
    void add(KeyCounts &other) {
        const std::vector<KeyCount> &counts = other.compact();
        add(counts, other.sums_);
    }
    /// In order, each key and joint class once.
    const std::vector<KeyCount> &compact();
    /// The sums of what `compact` gives.
    const SumWords &sums() const { return sums_; }
    std::size_t bytes() const {
        return counts_.capacity() * sizeof(KeyCount) + cells_.capacity() * sizeof(std::uint32_t) +
               (sums_.capacity() + cell_sums_.capacity()) * sizeof(std::uint64_t);
    }

  private:
    static constexpr std::size_t most_cells = std::size_t{1} << 22, few_cells = 1 << 12; // of 32 bits
    static constexpr std::size_t list_bytes = std::size_t{1} << 20;
    RowKey low_ = 0;
    std::size_t n_joint_ = 1, n_cells_ = 0; // no cells: too many, or nobody knows how many
    std::vector<std::uint32_t> cells_;
    std::vector<KeyCount> counts_;
    const SumShape *shape_ = nullptr;
    std::size_t room_ = list_bytes / entry_bytes(); // entries, then cells or the list brought together
    SumWords cell_sums_, sums_;

    void bring_together();
    void make_room();
    std::size_t words() const { return shape_ == nullptr ? 0 : shape_->words(); }
    std::size_t sum_bytes() const { return words() * sizeof(std::uint64_t); }
    std::size_t entry_bytes() const { return sizeof(KeyCount) + sum_bytes(); }
    void open_cells() {
        cells_.resize(n_cells_);
        cell_sums_.resize(n_cells_ * words());
    }
    void bring_sums_together();
};

/// Keys of an attribute that a place keeps besides its counts: those in the wanted buckets.
struct Watch {
    std::int32_t attribute = 0;
    std::vector<std::uint8_t> wanted; // by bucket; empty: all
};

/// Where the rows of a place go. A child below 0 is nobody's: its rows are let go.
struct RouteTest {
    enum class Kind : std::uint8_t { coarse, numeric, nominal };
    Kind kind = Kind::numeric;
    std::int32_t attribute = 0;
    std::uint32_t first = 1, last = 0;  // coarse: buckets before first go to child 0, after last to child 1
    RowKey lo = 0;                      // numeric: keys up to lo go to child 0
    std::vector<std::int32_t> child_of; // nominal: by category; held: stays here
    std::int32_t missing = held;        // the child of missing values
    std::vector<std::int32_t> children; // places

    static constexpr std::int32_t held = -1;
};

/// What happens to rows that come to a place.
struct Place {
    std::vector<std::int32_t> counted; // attributes
    bool sums = false;                 // values of those too, where a bucket has several
    std::vector<Watch> watches;
    bool keeps = false;           // all of its rows
    std::vector<RouteTest> tests; // several where training sets part
};

/// What a scan brings of a place. Rows that are held by a test are kept too.
struct PlaceResult {
    std::vector<std::uint64_t> totals; // rows by joint class
    SumWords total_sums, cell_sums;    // of each count in `totals` and `counts`, where rows have sums
    std::vector<std::uint32_t> counts; // of the counted attributes: [bucket, then missing][joint class]
    std::vector<std::size_t> first;    // cell of each counted attribute
    std::vector<KeySums> sums;         // of the counted attributes by joint class, where they are asked for
    std::vector<KeyCounts> keys;       // of each watch
    RowStore rows;
    bool touched = false; // rows came, or went, since `forget_touches`
};

/// What a place has counted of some attributes.
struct PlaceCounts {
    std::vector<std::int32_t> attributes;
    std::vector<std::uint32_t> counts;
    SumWords cell_sums;
};

class SourceScan {
  public:
    SourceScan(std::shared_ptr<const RowLayout> layout, std::shared_ptr<const Grid> grid,
               std::vector<Place> places);
    SourceScan(const SourceScan &) = delete; // what it keeps may be large
    SourceScan(SourceScan &&) = default;

    void add(const Chunk &chunk, Cancel &cancel, std::int32_t place = 0);
    /// Takes rows away that were added before. Throws std::invalid_argument where places keep rows or sum up
    /// their values.
    void take_away(const Chunk &chunk, Cancel &cancel, std::int32_t place = 0);
    void add_rows(const std::uint8_t *rows, std::size_t n, std::int32_t place, Cancel &cancel);
    void take_rows_away(const std::uint8_t *rows, std::size_t n, std::int32_t place, Cancel &cancel);
    /// A scan of the same places that has seen no rows.
    SourceScan fresh() const { return {layout_, grid_, places_}; }
    /// Takes in what another scan of the same places has found. Throws std::invalid_argument where they are
    /// not the same.
    void merge(SourceScan &&other);
    /// All that was found, as bytes, or all but the rows that are kept; `merge_bytes` takes those of another
    /// scan of the same places in. Throws DamagedBytes where they are not.
    std::vector<std::uint8_t> to_bytes(bool with_rows = true);
    void merge_bytes(std::span<const std::uint8_t> bytes);

    const RowLayout &layout() const { return *layout_; }
    const Buckets &buckets(std::int32_t attribute) const {
        return grid_->of[static_cast<std::size_t>(attribute)];
    }
    std::size_t n_places() const { return places_.size(); }
    Place &place(std::int32_t p) { return places_[static_cast<std::size_t>(p)]; }
    PlaceResult &at(std::int32_t p) { return results_[static_cast<std::size_t>(p)]; }
    /// One more place, of which nothing is known yet.
    std::int32_t add_place(Place place);
    /// Another place in the stead of one, of which nothing is known yet.
    void replace_place(std::int32_t p, Place place);
    /// Watches what a place of another scan watched; its rows are those of this place.
    void watch_as(std::int32_t p, SourceScan &other, std::int32_t q);
    /// Replaces the only test of a place by the true one, and sends the rows it held on their way. Its counts
    /// have served.
    void decide(std::int32_t p, RouteTest test, Cancel &cancel);
    /// Sends rows that a place has counted before on their way.
    void send_on(const std::uint8_t *rows, std::size_t n, std::int32_t p, Cancel &cancel);
    /// The counts of a place, which has none then.
    PlaceCounts take_counts(std::int32_t p);
    /// Of a place whose rows went to two others, one of which has counted them: the counts of the other are
    /// the rest.
    void count_rest(PlaceCounts of_both, std::int32_t counted, std::int32_t rest);
    /// From now on no place counts as touched until rows come there or go.
    void forget_touches() {
        for (PlaceResult &result : results_) result.touched = false;
    }
    /// Lets go of all that is known of a place but its totals.
    void release(std::int32_t p);
    /// Takes all rows at and below a place away; the places below are spent.
    RowStore gather(std::int32_t p);
    /// Whether every row that came to a place is kept there or below.
    bool complete(std::int32_t p) const;
    /// Watches some more buckets of a place, as if it had been done from the start: their keys come from the
    /// rows that are kept at and below it.
    void look_up(std::int32_t p, std::vector<Watch> watches, Cancel &cancel);
    /// The same for the last `n_watches` of a place and rows of it that were put away.
    void look_on(const std::uint8_t *rows, std::size_t n, std::int32_t p, std::size_t n_watches,
                 Cancel &cancel);
    /// The keys of an attribute that are known at a place, in order: those that were watched, and those of
    /// rows that its test holds. Of each bucket all or none.
    KeyTable keys_of(std::int32_t p, std::int32_t attribute, Cancel &cancel);
    /// Bytes of all results.
    std::size_t bytes() const;
    std::uint64_t rows_kept() const;

  private:
    std::shared_ptr<const RowLayout> layout_;
    std::shared_ptr<const Grid> grid_;
    std::vector<Place> places_;
    std::vector<PlaceResult> results_;
    RowBlock block_;
    std::vector<std::vector<std::uint32_t>> codes_; // by attribute, of the block
    std::vector<std::uint8_t> bucketed_;            // by attribute: codes_ are those of the block
    std::vector<BlockRow> all_;                     // rows of a block
    std::vector<std::vector<BlockRow>> spare_;
    std::uint32_t times_ = 1; // that a row counts: taken away, one time less

    const SumShape *sums() const { return layout_->sums.empty() ? nullptr : &layout_->sums; }
    void sum(const Place &place, PlaceResult &result, std::span<const BlockRow> rows);
    void watch_sums(const Watch &watch, KeyCounts &to, std::span<const BlockRow> rows);
    template <class Body> void in_blocks(const std::uint8_t *rows, std::size_t n, Cancel &cancel, Body body);
    const RowKey *keys_at(std::int32_t attribute) {
        return block_.keys(*layout_, static_cast<std::size_t>(attribute));
    }
    KeyCounts fresh(const Watch &watch) const;
    KeyCounts held_keys(std::int32_t p, std::span<const std::uint8_t> known, Cancel &cancel);
    PlaceResult fresh(const Place &place) const;
    const std::uint32_t *codes(std::int32_t attribute);
    void open_block();
    void stream(std::span<const BlockRow> rows, std::int32_t p);
    void count(const Place &place, PlaceResult &result, std::span<const BlockRow> rows);
    void watch(const Watch &watch, KeyCounts &to, std::span<const BlockRow> rows);
    void route(const RouteTest &test, PlaceResult &result, std::span<const BlockRow> rows, bool kept);
    std::vector<BlockRow> take_spare();
    class TakingAway;
    template <class Visit> void each_below(std::int32_t p, Visit visit);
};

} // namespace hornbeam
