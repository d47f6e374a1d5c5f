// Random growths: whatever is shared, counted, vectorised or threaded, every forest has the trees that each
// set grows alone by plain scans.
#include <chrono>
#include <csignal>
#include <cstring>
#include <unistd.h>

#include "check.hpp"
#include "random_case.hpp"
#include "same_tree.hpp"

using namespace hornbeam;

namespace {

/// How a growth is done: nothing that a tree may depend on.
struct Way {
    Sharing sharing = Sharing::serial;
    std::size_t together = 1; // sets
    int threads = 1;
    bool accelerate = false, twigs = false, consume = false;
    CountValues counting = CountValues::never;
    std::string kernels = "plain";

    std::string describe() const {
        return "sharing " + std::to_string(static_cast<int>(sharing)) + ", " + std::to_string(together) +
               " sets together, " + std::to_string(threads) + " threads, kernels " + kernels +
               (accelerate ? "" : ", not accelerated") + (twigs ? "" : ", without twigs") + ", counting " +
               std::to_string(static_cast<int>(counting)) + (consume ? ", table used up" : "");
    }
};

Way drawn(Draws &draws, bool repeats) {
    Way way;
    way.sharing =
        draws.one_of({Sharing::automatic, Sharing::automatic, Sharing::overlapping, Sharing::serial});
    if (!repeats && draws.chance(0.2)) way.sharing = Sharing::folds;
    way.together = way.sharing == Sharing::serial ? 1 : draws.chance(0.2) ? draws.between(2, 64) : 64;
    way.threads = static_cast<int>(draws.between(1, 4));
    way.accelerate = draws.chance(0.9);
    way.twigs = draws.chance(0.7);
    way.counting = draws.one_of({CountValues::where_it_pays, CountValues::always, CountValues::never});
    const auto kernels = kernels_available();
    way.kernels = std::string(kernels[draws.below(kernels.size())]);
    way.consume = draws.chance(0.3);
    return way;
}

/// The trees of all sets under all settings.
std::vector<FlatTree> grow_by(const Case &given, const Way &way) {
    Cancel cancel;
    const EncodedTable table = given.encode(cancel);
    const GrowTarget target = given.target();
    GrowParameters parameters = given.parameters;
    parameters.sharing = way.sharing, parameters.threads = way.threads;
    parameters.accelerate = way.accelerate, parameters.twigs = way.twigs;
    parameters.counting = way.counting;
    parameters.kernels = kernels_named(way.kernels);
    GrowProgress progress;
    std::vector<FlatTree> trees;
    for (std::size_t begin = 0; begin < given.n_sets; begin += way.together) {
        const TrainingSets sets(given.row_times(), begin, std::min(begin + way.together, given.n_sets),
                                way.sharing);
        EncodedTable own = table;
        const Forest forest =
            grow(given.criterion, {own, target, sets, parameters, way.consume, progress, cancel});
        for (std::int32_t s = 0; s < sets.n_sets; ++s)
            for (std::uint32_t setting = 0; setting < parameters.settings.size(); ++setting)
                trees.push_back(forest.extract(s, setting, cancel));
    }
    CHECK(progress.settled == progress.all);
    return trees;
}

char now[160]; // which case runs, for whoever looks at a crash

extern "C" void name_the_case(int signal) {
    if (write(STDERR_FILENO, now, std::strlen(now)) < 0) _exit(1);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

void must_be_same(const Case &given, const Way &way, const std::vector<FlatTree> &trees,
                  const std::vector<FlatTree> &expected) {
    CHECK(trees.size() == expected.size());
    for (std::size_t i = 0; i < trees.size(); ++i) {
        if (same(trees[i], expected[i])) continue;
        const std::size_t settings = given.parameters.settings.size();
        std::fprintf(stderr, "%s%s\n%s\nset %zu, setting %zu: not the tree that the set grows alone\n", now,
                     given.describe().c_str(), way.describe().c_str(), i / settings, i % settings);
        std::exit(1);
    }
}

} // namespace

void random_growths_agree(std::uint64_t seed, std::uint64_t number) {
    std::snprintf(now, sizeof now, "hornbeam_native_tests --case %llu %llu\n",
                  static_cast<unsigned long long>(seed), static_cast<unsigned long long>(number));
    const Case given(seed, number);
    Draws draws(~seed, number);
    try {
        const std::vector<FlatTree> expected = grow_by(given, {});
        for (int i = 0; i < 3; ++i) {
            const Way way = drawn(draws, given.repeats());
            must_be_same(given, way, grow_by(given, way), expected);
        }
        const std::size_t set = draws.below(given.n_sets), settings = given.parameters.settings.size();
        const auto own = expected.begin() + static_cast<std::ptrdiff_t>(set * settings);
        const Case lone = given.lone(set);
        if (lone.n_rows > 200000) return;
        const Way way = drawn(draws, false);
        must_be_same(lone, way, grow_by(lone, way), {own, own + static_cast<std::ptrdiff_t>(settings)});
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s%s\n%s\n", now, given.describe().c_str(), error.what());
        std::exit(1);
    }
}

void random_growths_agree() {
    for (std::uint64_t number = 0; number < 60; ++number) random_growths_agree(1, number);
}

void random_growths_agree_for(double seconds, std::uint64_t seed) {
    for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS}) std::signal(signal, name_the_case);
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    const auto begin = std::chrono::steady_clock::now();
    std::uint64_t number = 0;
    while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds)
        random_growths_agree(seed, number++);
    std::printf("%llu random growths agreed\n", static_cast<unsigned long long>(number));
}
