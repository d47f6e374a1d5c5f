// Independent tasks on several threads, while the calling thread watches for a stop.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "hornbeam/cancel.hpp"

namespace hornbeam {

/// Runs work(task, worker) for all tasks on up to `threads` threads while the calling thread polls. Where the
/// system gives fewer threads the work is done by those; where it gives none, by the caller.
template <class Work> void share(std::size_t tasks, unsigned threads, Cancel &cancel, Work work) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::condition_variable finished;
    std::exception_ptr failure;
    unsigned running = 0;
    auto count = [&](int change) {
        std::lock_guard lock(mutex);
        running += static_cast<unsigned>(change);
        if (running == 0) finished.notify_one();
    };
    auto run = [&](unsigned worker) {
        try {
            for (std::size_t t; (t = next++) < tasks;) work(t, worker);
        } catch (...) {
            next = tasks;
            std::lock_guard lock(mutex);
            if (!failure) failure = std::current_exception();
        }
        count(-1);
    };
    {
        std::vector<std::jthread> workers;
        try {
            for (unsigned w = 0; w < std::min<std::size_t>(threads, tasks); ++w) {
                count(1);
                try {
                    workers.emplace_back(run, w);
                } catch (const std::system_error &) {
                    count(-1);
                    break;
                }
            }
            if (workers.empty()) {
                count(1);
                run(0);
            }
            std::unique_lock lock(mutex);
            while (!finished.wait_for(lock, std::chrono::milliseconds(10), [&] { return running == 0; })) {
                lock.unlock();
                cancel.poll();
                lock.lock();
            }
        } catch (...) {
            cancel.request();
            throw;
        }
    }
    if (failure) std::rethrow_exception(failure);
}

/// Calls body(task, worker) for each task once: here where one thread is asked for, else on workers numbered
/// from 0, fewer than `threads`.
template <class Body> void parallel_for(std::size_t tasks, int threads, Cancel &cancel, Body body) {
    if (threads > 1 && tasks > 1)
        return share(tasks, static_cast<unsigned>(threads), cancel, [&](std::size_t t, unsigned w) {
            cancel.check();
            body(t, w);
        });
    for (std::size_t t = 0; t < tasks; ++t) {
        cancel.poll();
        body(t, 0u);
    }
}

} // namespace hornbeam
