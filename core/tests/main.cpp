// The native test driver: what the sanitizers must see without Python around it.
#include <cstdio>

void a_request_reaches_every_thread();

int main() {
    a_request_reaches_every_thread();
    std::puts("native tests passed");
    return 0;
}
