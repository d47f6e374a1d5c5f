// From what a scan has counted and kept to what the choice of a test looks at.
#include "hornbeam/refined.hpp"

#include <algorithm>

namespace hornbeam {

std::uint32_t counts_width(std::size_t n_classes) {
    const std::size_t vector = n_classes <= 2 ? 2 : n_classes <= 8 ? 8 : 16;
    return static_cast<std::uint32_t>((n_classes + vector - 1) / vector * vector);
}

RefinedSet Refining::fresh(std::int32_t attribute) const {
    RefinedSet set;
    set.attribute = attribute;
    set.nominal = scan_.layout().attributes[static_cast<std::size_t>(attribute)].nominal();
    set.width = counts_width(scan_.layout().n_classes);
    return set;
}

bool Refining::add(std::span<const std::uint32_t> joint, std::uint32_t *to) const {
    const std::size_t k = scan_.layout().n_classes;
    std::uint32_t any = 0;
    for (std::size_t j = 0; j < joint.size(); ++j) {
        if (joint[j] == 0 || !counts(static_cast<std::uint32_t>(j))) continue;
        to[j % k] += joint[j];
        any |= joint[j];
    }
    return any != 0;
}

void Refining::add_values(RefinedSet &set, std::span<const KeyCount> keys) const {
    const std::size_t k = scan_.layout().n_classes;
    for (std::size_t i = 0; i < keys.size();) {
        const RowKey key = keys[i].key;
        bool any = false;
        const std::size_t at = set.counts.size();
        set.counts.resize(at + set.width);
        for (; i < keys.size() && keys[i].key == key; ++i) {
            if (!counts(keys[i].joint)) continue;
            set.counts[at + keys[i].joint % k] += keys[i].count;
            any = true;
        }
        if (!any) {
            set.counts.resize(at);
            continue;
        }
        set.low.push_back(key);
        set.high.push_back(key);
    }
}

RefinedSet Refining::counted(std::size_t counted, std::span<const KeyCount> keys) const {
    const std::int32_t attribute = scan_.place(place_).counted[counted];
    const Buckets &buckets = scan_.buckets(attribute);
    const PlaceResult &result = scan_.at(place_);
    const std::size_t n_joint = scan_.layout().n_joint();
    const std::uint32_t *cells = result.counts.data() + result.first[counted];
    RefinedSet set = fresh(attribute);
    if (!result.sums.empty()) add_sums(result.sums[counted], set.sums);
    // Categories keep their places, present or not.
    for (std::uint32_t b = 0; b < buckets.size(); ++b) {
        const RowKey high = buckets.high(b);
        std::size_t n = 0;
        while (n < keys.size() && keys[n].key <= high) ++n;
        if (n != 0) {
            const std::size_t before = set.low.size();
            add_values(set, keys.first(n));
            keys = keys.subspan(n);
            set.bucket.insert(set.bucket.end(), set.low.size() - before, b);
            continue;
        }
        const std::size_t at = set.counts.size();
        set.counts.resize(at + set.width);
        const bool any = add({cells + b * n_joint, n_joint}, set.counts.data() + at);
        if (!any && !set.nominal) {
            set.counts.resize(at);
            continue;
        }
        set.low.push_back(buckets.low(b));
        set.high.push_back(high);
        set.bucket.push_back(b);
    }
    const std::size_t at = set.counts.size();
    set.counts.resize(at + set.width);
    add({cells + std::size_t{buckets.size()} * n_joint, n_joint}, set.counts.data() + at);
    return set;
}

void Refining::add_sums(const KeySums &joint, KeySums &to) const {
    if (!joint.there()) return;
    const std::size_t k = scan_.layout().n_classes;
    to = KeySums(joint.keys().shape(), k);
    for (std::size_t j = 0; j < scan_.layout().n_joint(); ++j)
        if (counts(static_cast<std::uint32_t>(j))) to.add(joint, j, j % k);
}

RefinedSet Refining::listed(std::int32_t attribute, std::span<const KeyCount> keys) const {
    RefinedSet set = fresh(attribute);
    const RowKey missing = scan_.layout().attributes[static_cast<std::size_t>(attribute)].missing();
    const auto known = static_cast<std::size_t>(
        std::lower_bound(keys.begin(), keys.end(), KeyCount{missing, 0, 0}) - keys.begin());
    add_values(set, keys.first(known));
    set.bucket.assign(set.low.size(), 0);
    RefinedSet without = fresh(attribute);
    add_values(without, keys.subspan(known));
    without.counts.resize(set.width);
    set.counts.insert(set.counts.end(), without.counts.begin(), without.counts.end());
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

} // namespace hornbeam
