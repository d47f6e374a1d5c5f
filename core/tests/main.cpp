// The native test driver: what the sanitizers must see without Python around it.
//
// Without arguments it runs all tests. `--soak SECONDS [SEED [FOLDER]]` grows random forests for so long, and
// prints the seed; where one differs or crashes it looks for a smaller one, and writes to FOLDER how `--case
// SEED NUMBER` repeats it, and by which steps it got smaller.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "shrinking.hpp"

void a_proof_finds_the_smallest_parity();
void a_request_reaches_every_thread();
void a_subtree_stands_elsewhere_as_it_stood();
void a_table_that_was_used_up_refuses_a_second_growth();
void a_tree_is_written_in_parts_as_a_whole();
void cases_shrink_to_what_fails();
void every_path_grows_the_same_forest();
void first_order_growth_stops_on_request();
void first_order_trees_are_the_same_on_every_path();
void growth_stops_on_request();
void looking_ahead_gives_one_tree_on_every_path();
void lanes_find_the_cuts_of_plain_scans();
void memory_that_runs_out_ends_a_growth_and_nothing_else();
void random_growths_agree();
void random_growths_agree(std::uint64_t seed, std::uint64_t number, const std::vector<Step> &steps);
void random_growths_agree_for(double seconds, std::uint64_t seed, const std::string &folder);

int main(int n, char **given) {
    auto number = [&](int i) { return std::strtoull(given[i], nullptr, 10); };
    if (n >= 3 && std::strcmp(given[1], "--soak") == 0) {
        random_growths_agree_for(std::atof(given[2]), n > 3 ? number(3) : std::random_device()(),
                                 n > 4 ? given[4] : ".");
        return 0;
    }
    if (n >= 4 && std::strcmp(given[1], "--case") == 0) {
        std::vector<Step> steps;
        for (int i = 4; i < n; ++i)
            if (const auto step = Step::read(given[i])) steps.push_back(*step);
        if (steps.size() + 4 == static_cast<std::size_t>(n)) {
            random_growths_agree(number(2), number(3), steps);
            std::puts("the growths agreed");
            return 0;
        }
    }
    if (n != 1) {
        std::fputs(
            "usage: hornbeam_native_tests [--soak SECONDS [SEED [FOLDER]] | --case SEED NUMBER [STEP...]]\n",
            stderr);
        return 2;
    }
    lanes_find_the_cuts_of_plain_scans();
    random_growths_agree();
    cases_shrink_to_what_fails();
    memory_that_runs_out_ends_a_growth_and_nothing_else();
    a_request_reaches_every_thread();
    every_path_grows_the_same_forest();
    a_table_that_was_used_up_refuses_a_second_growth();
    growth_stops_on_request();
    looking_ahead_gives_one_tree_on_every_path();
    a_proof_finds_the_smallest_parity();
    first_order_trees_are_the_same_on_every_path();
    first_order_growth_stops_on_request();
    a_tree_is_written_in_parts_as_a_whole();
    a_subtree_stands_elsewhere_as_it_stood();
    std::puts("native tests passed");
    return 0;
}
