// Independent tasks on several threads, while the calling thread watches for a stop.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "hornbeam/cancel.hpp"

namespace hornbeam {

/// Runs work(task, worker) for all tasks on up to `threads` threads while the calling thread polls.
template <class Work> void share(std::size_t tasks, unsigned threads, Cancel &cancel, Work work) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::condition_variable finished;
    std::exception_ptr failure;
    unsigned running = static_cast<unsigned>(std::min<std::size_t>(threads, tasks));
    auto run = [&](unsigned worker) {
        try {
            for (std::size_t t; (t = next++) < tasks;) work(t, worker);
        } catch (...) {
            next = tasks;
            std::lock_guard lock(mutex);
            if (!failure) failure = std::current_exception();
        }
        std::lock_guard lock(mutex);
        --running;
        finished.notify_one();
    };
    {
        std::vector<std::jthread> workers;
        try {
            for (unsigned w = 0, n = running; w < n; ++w) workers.emplace_back(run, w);
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

/// Calls body(task) for each task once: here where one thread is asked for, else on workers.
template <class Body> void parallel_for(std::size_t tasks, int threads, Cancel &cancel, Body body) {
    if (threads > 1 && tasks > 1)
        return share(tasks, static_cast<unsigned>(threads), cancel, [&](std::size_t t, unsigned) {
            cancel.check();
            body(t);
        });
    for (std::size_t t = 0; t < tasks; ++t) {
        cancel.poll();
        body(t);
    }
}

} // namespace hornbeam
