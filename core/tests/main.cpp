// The native test driver: what the sanitizers must see without Python around it.
#include <cstdio>

void a_request_reaches_every_thread();
void every_path_grows_the_same_forest();
void growth_stops_on_request();

int main() {
    a_request_reaches_every_thread();
    every_path_grows_the_same_forest();
    growth_stops_on_request();
    std::puts("native tests passed");
    return 0;
}
