// The native test driver: what the sanitizers must see without Python around it.
//
// Without arguments it runs all tests. `--soak SECONDS [SEED]` grows random forests for so long, and prints
// the seed; `--case SEED NUMBER` repeats one of them.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

void a_proof_finds_the_smallest_parity();
void a_request_reaches_every_thread();
void a_subtree_stands_elsewhere_as_it_stood();
void a_table_that_was_used_up_refuses_a_second_growth();
void a_tree_is_written_in_parts_as_a_whole();
void every_path_grows_the_same_forest();
void first_order_growth_stops_on_request();
void first_order_trees_are_the_same_on_every_path();
void growth_stops_on_request();
void looking_ahead_gives_one_tree_on_every_path();
void random_growths_agree();
void random_growths_agree(std::uint64_t seed, std::uint64_t number);
void random_growths_agree_for(double seconds, std::uint64_t seed);

int main(int n, char **given) {
    auto number = [&](int i) { return std::strtoull(given[i], nullptr, 10); };
    if (n >= 3 && std::strcmp(given[1], "--soak") == 0) {
        random_growths_agree_for(std::atof(given[2]), n > 3 ? number(3) : std::random_device()());
        return 0;
    }
    if (n == 4 && std::strcmp(given[1], "--case") == 0) {
        random_growths_agree(number(2), number(3));
        std::puts("the growths agreed");
        return 0;
    }
    if (n != 1) {
        std::fputs("usage: hornbeam_native_tests [--soak SECONDS [SEED] | --case SEED NUMBER]\n", stderr);
        return 2;
    }
    random_growths_agree();
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
