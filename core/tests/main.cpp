// The native test driver: what the sanitizers must see without Python around it.
#include <cstdio>

void a_proof_finds_the_smallest_parity();
void a_request_reaches_every_thread();
void a_subtree_stands_elsewhere_as_it_stood();
void a_tree_is_written_in_parts_as_a_whole();
void every_path_grows_the_same_forest();
void first_order_growth_stops_on_request();
void first_order_trees_are_the_same_on_every_path();
void growth_stops_on_request();
void looking_ahead_gives_one_tree_on_every_path();

int main() {
    a_request_reaches_every_thread();
    every_path_grows_the_same_forest();
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
