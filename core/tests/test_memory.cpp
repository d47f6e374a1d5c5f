// Memory that runs out at any allocation: the caller hears of it, nothing leaks, and the next growth is as
// ever.
#include <new>

#include "allocations.hpp"
#include "check.hpp"
#include "same_tree.hpp"
#include "ways.hpp"

using namespace hornbeam;

namespace {

constexpr std::int64_t most_allocations = 20000; // of a growth that is tried at each of them

bool same_trees(const std::vector<FlatTree> &a, const std::vector<FlatTree> &b) {
    CHECK(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!same(a[i], b[i])) return false;
    return true;
}

/// Grows while the n-th allocation fails: the growth ends by an error of memory, or does without what it
/// asked for, as sorting does, and has the same trees. Whether it ended.
bool runs_out(const Case &given, const Way &way, const std::vector<FlatTree> &expected, std::int64_t nth,
              bool ever_after) {
    const std::int64_t before = Allocations::living();
    bool thrown = false;
    Allocations::fail_at(nth, ever_after);
    try {
        const std::vector<FlatTree> trees = grow_by(given, way);
        Allocations::fail_never();
        CHECK(same_trees(trees, expected));
    } catch (const std::bad_alloc &) {
        Allocations::fail_never();
        thrown = true;
    }
    CHECK(Allocations::living() == before);
    return thrown;
}

std::int64_t allocations_of(const Case &given, const Way &way) {
    Allocations::fail_never();
    grow_by(given, way);
    return Allocations::counted();
}

} // namespace

void memory_that_runs_out_ends_a_growth_and_nothing_else() {
    std::int64_t tried = 0, ended = 0;
    for (std::uint64_t number = 0; number < 30; ++number) {
        const Case given(11, number);
        if (given.n_rows > 40) continue;
        Draws draws(11, ~number);
        Way way = Way::drawn(draws, given.repeats());
        way.threads = number % 4 == 0 ? 2 : 1;
        const std::int64_t many = allocations_of(given, way);
        if (many > most_allocations) continue;
        const std::vector<FlatTree> expected = grow_by(given, way);
        const std::int64_t step = 1 + many / 120;
        for (std::int64_t nth = 1; nth <= many; nth += step) {
            ended += runs_out(given, way, expected, nth, false);
            ended += runs_out(given, way, expected, nth, true);
            tried += 2;
        }
        CHECK(same_trees(grow_by(given, way), expected));
    }
    CHECK(tried > 500 && ended > tried * 9 / 10);
}
