// From what a scan has counted and kept to what the choice of a test looks at.
#include "scans/refined.hpp"

#include <algorithm>
#include <utility>

namespace hornbeam {

std::uint32_t counts_width(std::size_t n_classes) {
    const std::size_t vector = n_classes <= 2 ? 2 : n_classes <= 8 ? 8 : 16;
    return static_cast<std::uint32_t>((n_classes + vector - 1) / vector * vector);
}

bool RefinedSet::adds_up_to(const ClassCounts &rows) const {
    std::vector<std::int64_t> sum(width);
    for (std::size_t i = 0; i <= size(); ++i)
        for (std::size_t k = 0; k < width; ++k) sum[k] += row(i)[k];
    return std::equal(rows.c.begin(), rows.c.end(), sum.begin());
}

RefinedSet Refining::fresh(std::int32_t attribute) const {
    RefinedSet set;
    set.attribute = attribute;
    set.nominal = scan_.layout().attributes[static_cast<std::size_t>(attribute)].nominal();
    set.width = counts_width(scan_.layout().n_classes);
    set.shape = &scan_.layout().sums;
    set.n_classes = scan_.layout().n_classes;
    return set;
}

bool Refining::add(std::span<const std::uint32_t> joint, std::uint32_t *to) const {
    const std::size_t k = scan_.layout().n_classes;
    std::uint32_t any = 0;
    if (left_out_ < 0 && joint.size() == k) { // as they are
        for (std::size_t j = 0; j < k; ++j) to[j] += joint[j], any |= joint[j];
        return any != 0;
    }
    for (std::size_t j = 0; j < joint.size(); ++j) {
        if (joint[j] == 0 || !counts(static_cast<std::uint32_t>(j))) continue;
        to[j % k] += joint[j];
        any |= joint[j];
    }
    return any != 0;
}

void Refining::add_joint_sums(const std::uint64_t *joint, std::uint64_t *to) const {
    const SumShape &shape = scan_.layout().sums;
    const std::size_t k = scan_.layout().n_classes, words = shape.words();
    for (std::size_t j = 0; words != 0 && j < scan_.layout().n_joint(); ++j, joint += words)
        if (counts(static_cast<std::uint32_t>(j))) shape.add(to + j % k * words, joint);
}

void Refining::add_values(RefinedSet &set, const KeyTable &table, std::size_t begin, std::size_t end) const {
    const SumShape &shape = scan_.layout().sums;
    const std::size_t k = scan_.layout().n_classes, words = shape.words();
    const std::vector<KeyCount> &keys = table.counts;
    for (std::size_t i = begin; i < end;) {
        const RowKey key = keys[i].key;
        bool any = false;
        const std::size_t at = set.counts.size(), sums_at = set.entry_sums.size();
        set.counts.resize(at + set.width);
        set.entry_sums.resize(sums_at + k * words);
        for (; i < end && keys[i].key == key; ++i) {
            if (!counts(keys[i].joint)) continue;
            const std::size_t klass = keys[i].joint % k;
            set.counts[at + klass] += keys[i].count;
            if (words != 0)
                shape.add(set.entry_sums.data() + sums_at + klass * words, table.sums.data() + i * words);
            any = true;
        }
        if (!any) {
            set.counts.resize(at);
            set.entry_sums.resize(sums_at);
            continue;
        }
        set.low.push_back(key);
        set.high.push_back(key);
    }
}

RefinedSet Refining::counted(std::size_t counted, const KeyTable &table) const {
    const std::int32_t attribute = scan_.place(place_).counted[counted];
    const Buckets &buckets = scan_.buckets(attribute);
    const PlaceResult &result = scan_.at(place_);
    const std::size_t n_joint = scan_.layout().n_joint();
    const std::uint32_t *cells = result.counts.data() + result.first[counted];
    const std::size_t words = scan_.layout().sums.words(), sums_width = scan_.layout().n_classes * words;
    const std::uint64_t *sums = result.cell_sums.data() + result.first[counted] * words;
    const std::vector<KeyCount> &keys = table.counts;
    std::size_t begin = 0;
    RefinedSet set = fresh(attribute);
    const std::size_t most = std::size_t{buckets.size()} + 1 + keys.size();
    set.counts.reserve(most * set.width);
    set.low.reserve(most), set.high.reserve(most), set.bucket.reserve(most);
    if (!result.sums.empty()) add_sums(result.sums[counted], set.sums);
    // Categories keep their places, present or not.
    for (std::uint32_t b = 0; b < buckets.size(); ++b) {
        const RowKey high = buckets.high(b);
        std::size_t end = begin;
        while (end < keys.size() && keys[end].key <= high) ++end;
        if (end != begin) {
            const std::size_t before = set.low.size();
            add_values(set, table, std::exchange(begin, end), end);
            set.bucket.insert(set.bucket.end(), set.low.size() - before, b);
            continue;
        }
        const std::uint32_t *cell = cells + b * n_joint;
        if (!set.nominal && std::all_of(cell, cell + n_joint, [](std::uint32_t n) { return n == 0; }))
            continue;
        const std::size_t at = set.counts.size();
        set.counts.resize(at + set.width);
        const std::size_t sums_at = set.entry_sums.size();
        set.entry_sums.resize(sums_at + sums_width);
        const bool any = add({cell, n_joint}, set.counts.data() + at);
        if (any && words != 0) add_joint_sums(sums + b * n_joint * words, set.entry_sums.data() + sums_at);
        if (!any && !set.nominal) {
            set.counts.resize(at);
            set.entry_sums.resize(sums_at);
            continue;
        }
        set.low.push_back(buckets.low(b));
        set.high.push_back(high);
        set.bucket.push_back(b);
    }
    const std::size_t at = set.counts.size(), sums_at = set.entry_sums.size();
    set.counts.resize(at + set.width);
    set.entry_sums.resize(sums_at + sums_width);
    const std::size_t missing = std::size_t{buckets.size()} * n_joint;
    add({cells + missing, n_joint}, set.counts.data() + at);
    add_joint_sums(sums + missing * words, set.entry_sums.data() + sums_at);
    return set;
}

void Refining::add_sums(const KeySums &joint, KeySums &to) const {
    if (!joint.there()) return;
    const std::size_t k = scan_.layout().n_classes;
    to = KeySums(joint.keys().shape(), k);
    for (std::size_t j = 0; j < scan_.layout().n_joint(); ++j)
        if (counts(static_cast<std::uint32_t>(j))) to.add(joint, j, j % k);
}

RefinedSet Refining::listed(std::int32_t attribute, const KeyTable &table) const {
    const std::vector<KeyCount> &keys = table.counts;
    RefinedSet set = fresh(attribute);
    const RowKey missing = scan_.layout().attributes[static_cast<std::size_t>(attribute)].missing();
    const auto known = static_cast<std::size_t>(
        std::lower_bound(keys.begin(), keys.end(), KeyCount{missing, 0, 0}) - keys.begin());
    add_values(set, table, 0, known);
    set.bucket.assign(set.low.size(), 0);
    RefinedSet without = fresh(attribute);
    add_values(without, table, known, keys.size());
    without.counts.resize(set.width);
    without.entry_sums.resize(set.n_classes * set.shape->words());
    set.counts.insert(set.counts.end(), without.counts.begin(), without.counts.end());
    set.entry_sums.insert(set.entry_sums.end(), without.entry_sums.begin(), without.entry_sums.end());
    return set;
}

ClassCounts Refining::total() const {
    const std::size_t k = scan_.layout().n_classes;
    ClassCounts total(k);
    const PlaceResult &result = scan_.at(place_);
    for (std::size_t j = 0; j < result.totals.size(); ++j) {
        if (!counts(static_cast<std::uint32_t>(j))) continue;
        total.c[j % k] += static_cast<std::int64_t>(result.totals[j]);
        total.n += static_cast<std::int64_t>(result.totals[j]);
    }
    return total;
}

SumWords Refining::total_sums() const {
    SumWords total(scan_.layout().n_classes * scan_.layout().sums.words());
    add_joint_sums(scan_.at(place_).total_sums.data(), total.data());
    return total;
}

} // namespace hornbeam
