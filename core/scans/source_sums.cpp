// What a scan adds up of rows that weigh differently, and of numbers that are predicted.
#include <algorithm>
#include <numeric>

#include "scans/source_scan.hpp"

namespace hornbeam {

void SourceScan::sum(const Place &place, PlaceResult &result, std::span<const BlockRow> rows) {
    const SumShape &shape = layout_->sums;
    const std::size_t n_joint = layout_->n_joint(), words = shape.words();
    const std::uint64_t *sums = block_.sums(*layout_);
    const std::uint32_t *joint = block_.joint.data();
    for (BlockRow row : rows) shape.add(&result.total_sums[joint[row] * words], sums + row * words);
    for (std::size_t c = 0; c < place.counted.size(); ++c) {
        const std::uint32_t *code = codes(place.counted[c]);
        std::uint64_t *cell = result.cell_sums.data() + result.first[c] * words;
        for (BlockRow row : rows)
            shape.add(cell + (code[row] * n_joint + joint[row]) * words, sums + row * words);
    }
}

void SourceScan::watch_sums(const Watch &watch, KeyCounts &to, std::span<const BlockRow> rows) {
    const std::size_t words = layout_->sums.words();
    const RowKey *key = keys_at(watch.attribute);
    const std::uint64_t *sums = block_.sums(*layout_);
    const std::uint32_t *code = watch.wanted.empty() ? nullptr : codes(watch.attribute);
    for (BlockRow row : rows)
        if (code == nullptr || watch.wanted[code[row]] != 0)
            to.add(key[row], block_.joint[row], sums + row * words, times_);
}

void KeyCounts::add(RowKey key, std::uint32_t joint, const std::uint64_t *sums, std::uint32_t times) {
    const std::size_t words = shape_->words();
    if (!cells_.empty()) {
        const std::size_t cell = (key - low_) * n_joint_ + joint;
        cells_[cell] += times;
        shape_->add(&cell_sums_[cell * words], sums);
        return;
    }
    if (counts_.size() >= room_) make_room();
    if (!cells_.empty()) return add(key, joint, sums, times);
    if (counts_.size() == counts_.capacity()) { // no more than there is room for: sums are large
        const std::size_t more = std::min(room_, std::max<std::size_t>(64, 2 * counts_.size()));
        counts_.reserve(more);
        sums_.reserve(more * words);
    }
    counts_.push_back({key, joint, times});
    sums_.insert(sums_.end(), sums, sums + words);
}

void KeyCounts::bring_sums_together() {
    const std::size_t words = shape_->words();
    auto in_order = [](const KeyCount &a, const KeyCount &b) { return !(a < b); };
    if (std::adjacent_find(counts_.begin(), counts_.end(), in_order) == counts_.end()) return;
    std::vector<std::uint32_t> order(counts_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return counts_[a] < counts_[b]; });
    std::vector<KeyCount> counts;
    SumWords sums;
    auto drop_nothing = [&] { // all rows of the last key were taken away again
        if (counts.empty() || counts.back().count != 0) return;
        counts.pop_back();
        sums.resize(sums.size() - words);
    };
    for (std::uint32_t i : order) {
        const KeyCount &c = counts_[i];
        const std::uint64_t *from = sums_.data() + i * words;
        if (!counts.empty() && counts.back().key == c.key && counts.back().joint == c.joint) {
            counts.back().count += c.count;
            shape_->add(sums.data() + sums.size() - words, from);
        } else {
            drop_nothing();
            counts.push_back(c);
            sums.insert(sums.end(), from, from + words);
        }
    }
    drop_nothing();
    counts_ = std::move(counts);
    sums_ = std::move(sums);
}

} // namespace hornbeam
