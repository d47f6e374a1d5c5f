// A stop asked for by one thread is seen by all, and by the caller as an exception.
#include <thread>
#include <vector>

#include "check.hpp"
#include "running/cancel.hpp"

void a_request_reaches_every_thread() {
    hornbeam::Cancel cancel;
    std::atomic<int> stopped{0};
    std::vector<std::thread> workers;
    for (int i = 0; i < 4; ++i)
        workers.emplace_back([&] {
            while (!cancel.requested()) std::this_thread::yield();
            ++stopped;
        });
    cancel.request();
    for (auto &worker : workers) worker.join();
    CHECK(stopped == 4);
    bool thrown = false;
    try {
        cancel.poll();
    } catch (const hornbeam::Cancelled &) {
        thrown = true;
    }
    CHECK(thrown);
}
