// Random growths: whatever is shared, counted, vectorised or threaded, every forest has the trees that each
// set grows alone by plain scans.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.hpp"
#include "same_tree.hpp"
#include "shrinking.hpp"
#include "ways.hpp"

using namespace hornbeam;

namespace {

/// The ways that a case is grown, and the set that is grown alone.
struct Trial {
    std::vector<Way> ways;
    Way alone;
    std::size_t set = 0;
};

Trial trial_of(std::uint64_t seed, std::uint64_t number, const Case &given) {
    Draws draws(~seed, number);
    Trial trial;
    for (int i = 0; i < 3; ++i) trial.ways.push_back(Way::drawn(draws, given.repeats()));
    trial.set = draws.below(given.n_sets);
    trial.alone = Way::drawn(draws, false);
    return trial;
}

/// What differs; empty where nothing does.
std::string difference(const Case &given, const Way &way, const std::vector<FlatTree> &expected) {
    const std::vector<FlatTree> trees = grow_by(given, way);
    CHECK(trees.size() == expected.size());
    const std::size_t settings = given.parameters.settings.size();
    for (std::size_t i = 0; i < trees.size(); ++i)
        if (!same(trees[i], expected[i]))
            return given.describe() + "\n" + way.describe() + "\nset " + std::to_string(i / settings) +
                   ", setting " + std::to_string(i % settings) + ": not the tree that the set grows alone";
    return {};
}

std::string difference(const Case &given, const Trial &trial) {
    try {
        const std::vector<FlatTree> expected = grow_by(given, {});
        for (const Way &way : trial.ways)
            if (std::string found = difference(given, way, expected); !found.empty()) return found;
        const std::size_t set = std::min(trial.set, given.n_sets - 1);
        const std::size_t settings = given.parameters.settings.size();
        const auto own = expected.begin() + static_cast<std::ptrdiff_t>(set * settings);
        const Case lone = given.lone(set);
        if (lone.n_rows > 200000) return {};
        return difference(lone, trial.alone, {own, own + static_cast<std::ptrdiff_t>(settings)});
    } catch (const std::exception &error) {
        return given.describe() + "\n" + error.what();
    }
}

/// Whether the growths differ, or crash, or go on for minutes; in a process of its own.
bool fails_apart(const Case &given, const Trial &trial) {
    std::fflush(nullptr);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(300);
        _exit(difference(given, trial).empty() ? 0 : 1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    return status != 0;
}

/// Finds a smaller case that fails as the case does, and writes down how to repeat it.
void report(std::uint64_t seed, std::uint64_t number, const std::string &folder) {
    Case given(seed, number);
    const Trial trial = trial_of(seed, number, given);
    std::string command =
        "hornbeam_native_tests --case " + std::to_string(seed) + " " + std::to_string(number);
    for (const Step &step : shrink(given, [&](const Case &smaller) { return fails_apart(smaller, trial); })) {
        take_out(given, step);
        command += " " + step.text();
    }
    std::filesystem::create_directories(folder);
    const std::string path =
        folder + "/growth-" + std::to_string(seed) + "-" + std::to_string(number) + ".txt";
    std::ofstream(path) << command << "\n" << given.describe() << "\n";
    std::fprintf(stderr, "%s\n%s\nwritten to %s\n", command.c_str(), given.describe().c_str(), path.c_str());
}

} // namespace

void random_growths_agree(std::uint64_t seed, std::uint64_t number, const std::vector<Step> &steps) {
    Case given(seed, number);
    const Trial trial = trial_of(seed, number, given);
    for (const Step &step : steps) CHECK(take_out(given, step));
    const std::string found = difference(given, trial);
    if (found.empty()) return;
    std::fprintf(stderr, "hornbeam_native_tests --case %llu %llu\n%s\n",
                 static_cast<unsigned long long>(seed), static_cast<unsigned long long>(number),
                 found.c_str());
    std::exit(1);
}

void random_growths_agree() {
    for (std::uint64_t number = 0; number < 60; ++number) random_growths_agree(1, number, {});
}

/// The cases run in a process of their own, so that one that crashes can be made smaller too.
void random_growths_agree_for(double seconds, std::uint64_t seed, const std::string &folder) {
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    void *shared =
        mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    auto &number = *static_cast<volatile std::uint64_t *>(shared);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        const auto begin = std::chrono::steady_clock::now();
        while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds) {
            random_growths_agree(seed, number, {});
            number = number + 1;
        }
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    if (status != 0) {
        report(seed, number, folder);
        std::exit(1);
    }
    std::printf("%llu random growths agreed\n", static_cast<unsigned long long>(number));
}

/// A search for the smallest case stops where every further step would lose what fails.
void cases_shrink_to_what_fails() {
    std::size_t shrunk = 0;
    for (std::uint64_t number = 0; number < 40; ++number) {
        Case given(3, number);
        auto fails = [](const Case &c) { return c.n_sets >= 2 && c.n_rows >= 5; };
        if (!fails(given) || given.n_rows > 3000) continue;
        for (const Step &step : shrink(given, fails)) {
            const auto read = Step::read(step.text());
            CHECK(read && read->what == step.what && read->from == step.from && read->to == step.to);
            CHECK(take_out(given, step));
        }
        CHECK(fails(given) && given.n_sets == 2 && given.columns.size() == 1);
        CHECK(given.parameters.settings.size() == 1 && given.parameters.competitors == 0);
        CHECK(given.n_rows == 5 && given.times.size() == 10 && given.parameters.max_depth == 1);
        ++shrunk;
    }
    CHECK(shrunk > 10);
    CHECK(!Step::read("row=1") && !Step::read("set="));
}
