// Branch and bound with a rising number of leaves.
#include "lookahead/prove.hpp"

#include <algorithm>
#include <bit>

namespace hornbeam {
namespace {

std::uint64_t hash_of(const std::uint64_t *rows, std::size_t words) {
    std::uint64_t h = 0;
    for (std::size_t w = 0; w < words; ++w) {
        h = (h ^ rows[w]) * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
    }
    return h;
}

} // namespace

Prover::Prover(std::vector<RowSet> tests, std::vector<std::uint32_t> class_of, std::size_t most_sets,
               Cancel &cancel)
    : tests_(std::move(tests)), class_of_(std::move(class_of)), words_((class_of_.size() + 63) / 64),
      most_(most_sets), pace_(cancel, 20 + 2 * words_), slots_(1024, 0), all_(words_, 0) {
    const std::uint32_t n_classes = *std::max_element(class_of_.begin(), class_of_.end()) + 1;
    classes_.assign(n_classes, RowSet(words_, 0));
    for (std::size_t i = 0; i < class_of_.size(); ++i) {
        classes_[class_of_[i]][i / 64] |= std::uint64_t{1} << i % 64;
        all_[i / 64] |= std::uint64_t{1} << i % 64;
    }
    lower_ = bound_of(all_.data());
}

bool Prover::find() {
    if (solve(all_.data(), lower_, 0) != too_many) return true;
    ++lower_;
    return false;
}

std::int32_t Prover::test_of(const RowSet &rows) {
    if (pure(rows.data())) return -1;
    if (const std::int32_t t = last_test(rows.data()); t >= 0) return t;
    for (std::uint32_t limit = 3;; ++limit)
        if (solve(rows.data(), limit, 0) != too_many) return known_[place_of(rows.data())].test;
}

const RowSet &Prover::class_of_first(const std::uint64_t *rows) const {
    std::size_t w = 0;
    while (rows[w] == 0) ++w;
    return classes_[class_of_[64 * w + static_cast<std::size_t>(std::countr_zero(rows[w]))]];
}
bool Prover::pure(const std::uint64_t *rows) const {
    const RowSet &one = class_of_first(rows);
    std::uint64_t others = 0;
    for (std::size_t w = 0; w < words_; ++w) others |= rows[w] & ~one[w];
    return others == 0;
}
std::uint32_t Prover::classes_in(const std::uint64_t *rows) const {
    std::uint32_t n = 0;
    for (const RowSet &one : classes_) {
        std::uint64_t here = 0;
        for (std::size_t w = 0; w < words_; ++w) here |= rows[w] & one[w];
        n += here != 0;
    }
    return n;
}

/// A test that leaves two pure sides: it agrees with one of two classes everywhere, or nowhere.
std::int32_t Prover::last_test(const std::uint64_t *rows) {
    if (classes_.size() > 2 && classes_in(rows) > 2) return -1;
    pace_.step(1 + tests_.size() / 8); // most tests are through with their first words
    const RowSet &one = class_of_first(rows);
    for (std::size_t t = 0; t < tests_.size(); ++t) {
        const std::uint64_t *left = tests_[t].data();
        std::uint64_t differs = 0, agrees = 0;
        for (std::size_t w = 0; w < words_ && (differs == 0 || agrees == 0); ++w) {
            const std::uint64_t x = left[w] ^ one[w];
            differs |= x & rows[w];
            agrees |= ~x & rows[w];
        }
        if (differs == 0 || agrees == 0) return static_cast<std::int32_t>(t);
    }
    return -1;
}

std::uint64_t *Prover::level(std::size_t depth) {
    while (levels_.size() <= depth) levels_.emplace_back(new std::uint64_t[2 * words_]);
    return levels_[depth].get();
}

// ---- what is known of sets ----

Prover::Slot Prover::slot_of(const std::uint64_t *rows) const {
    const std::uint64_t hash = hash_of(rows, words_), tag = hash & ~low_half;
    std::size_t at = hash & (slots_.size() - 1);
    for (; slots_[at] != 0; at = (at + 1) & (slots_.size() - 1)) {
        const std::uint64_t here = slots_[at];
        if ((here & ~low_half) == tag && std::equal(rows, rows + words_, set((here & low_half) - 1)))
            return {at, static_cast<std::uint32_t>(here & low_half), tag};
    }
    return {at, 0, tag};
}
std::uint32_t Prover::place_of(const std::uint64_t *rows) {
    Slot slot = slot_of(rows);
    if (slot.known != 0) return slot.known - 1;
    if (known_.size() >= most_) throw RoomOver();
    if (2 * known_.size() >= slots_.size()) {
        widen();
        slot = slot_of(rows);
    }
    if (known_.size() % chunk == 0) sets_.emplace_back(new std::uint64_t[chunk * words_]);
    known_.push_back({std::max(3u, classes_.size() > 2 ? classes_in(rows) : 2), -1});
    std::copy_n(rows, words_, set(known_.size() - 1));
    slots_[slot.at] = slot.tag | known_.size();
    return static_cast<std::uint32_t>(known_.size() - 1);
}
void Prover::widen() {
    slots_.assign(2 * slots_.size(), 0);
    for (std::size_t i = 0; i < known_.size(); ++i) {
        pace_.step();
        const Slot slot = slot_of(set(i));
        slots_[slot.at] = slot.tag | (i + 1);
    }
}

/// From what is known already.
std::uint32_t Prover::bound_of(const std::uint64_t *rows) const {
    if (pure(rows)) return 1;
    const std::uint32_t known = slot_of(rows).known;
    return known == 0 ? 2 : known_[known - 1].least;
}

// ---- the search ----

/// The fewest leaves of a set, or too_many where that is above `limit`.
std::uint32_t Prover::solve(const std::uint64_t *rows, std::uint32_t limit, std::size_t depth) {
    pace_.step();
    if (pure(rows)) return 1;
    if (limit < 2) return too_many;
    if (last_test(rows) >= 0) return 2;
    if (limit < 3) return too_many;
    const std::uint32_t place = place_of(rows);
    for (; known_[place].test < 0; ++known_[place].least) {
        if (known_[place].least > limit) return too_many;
        const std::int32_t t = test_for(rows, known_[place].least, depth);
        if (t >= 0) {
            known_[place].test = t;
            break;
        }
    }
    return known_[place].least <= limit ? known_[place].least : too_many;
}

/// The test of a tree of so many leaves, fewer being too few; -1: there is none.
std::int32_t Prover::test_for(const std::uint64_t *rows, std::uint32_t leaves, std::size_t depth) {
    std::uint64_t *left = level(depth), *right = left + words_;
    for (std::size_t t = 0; t < tests_.size(); ++t) {
        pace_.step();
        std::uint64_t any_left = 0, any_right = 0;
        for (std::size_t w = 0; w < words_; ++w) {
            any_left |= left[w] = rows[w] & tests_[t][w];
            any_right |= right[w] = rows[w] & ~tests_[t][w];
        }
        if (any_left == 0 || any_right == 0) continue;
        const std::uint32_t on_left = bound_of(left), on_right = bound_of(right);
        if (std::max(on_left, on_right) > leaves) return -1; // a part needs no more than the whole
        if (on_left + on_right > leaves) continue;
        const std::uint32_t first = solve(left, leaves - on_right, depth + 1);
        if (first == too_many) continue;
        if (solve(right, leaves - first, depth + 1) != too_many) return static_cast<std::int32_t>(t);
    }
    return -1;
}

} // namespace hornbeam
