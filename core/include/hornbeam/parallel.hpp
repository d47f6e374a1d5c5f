// A loop over independent items on several threads; the caller's thread takes part and watches for a stop.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "hornbeam/cancel.hpp"

namespace hornbeam {

/// Calls body(item) for each item once, in no particular order. The first exception stops the rest and is rethrown here.
template <class Body> void parallel_for(std::size_t items, int threads, Cancel &cancel, Body body) {
    if (threads <= 1 || items <= 1) {
        for (std::size_t i = 0; i < items; ++i) {
            cancel.poll();
            body(i);
        }
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr error;
    std::mutex guard;
    auto stop = [&] {
        std::lock_guard lock(guard);
        if (!error) error = std::current_exception();
        next.store(items);
    };
    auto work = [&] {
        try {
            for (std::size_t i; (i = next.fetch_add(1)) < items;) {
                cancel.poll();
                body(i);
            }
        } catch (...) {
            stop();
        }
    };
    {
        std::vector<std::jthread> workers;
        std::size_t extra = std::min(static_cast<std::size_t>(threads), items) - 1;
        for (std::size_t t = 0; t < extra; ++t) workers.emplace_back(work);
        work();
    }
    if (error) std::rethrow_exception(error);
}

} // namespace hornbeam
