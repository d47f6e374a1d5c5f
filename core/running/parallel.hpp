// Independent tasks on several threads, while the calling thread watches for a stop.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "running/cancel.hpp"
#include "running/throwing.hpp"

namespace hornbeam {

/// Threads that wait for tasks. They are started at once, before the work takes its memory: where the system
/// gives fewer than asked for, the work is done by those; where it gives none, by the caller.
class Workers {
  public:
    /// Below two threads none is started.
    Workers(unsigned threads, Cancel &cancel) : cancel_(cancel) {
        if (threads < 2) return;
        std::unique_lock lock(mutex_); // holds the new threads back until all are made
        try {
            threads_.reserve(threads);
            for (unsigned w = 0; w < threads; ++w, ++running_) threads_.emplace_back([this, w] { serve(w); });
        } catch (const std::system_error &) {
        } catch (const std::bad_alloc &) {
        }
        finished_.wait(lock, [this] { return running_ == 0; });
    }
    Workers(const Workers &) = delete;
    Workers &operator=(const Workers &) = delete;
    ~Workers() {
        {
            std::lock_guard lock(mutex_);
            stop_ = true;
        }
        wake_.notify_all();
        for (std::thread &thread : threads_) thread.join();
    }

    /// Whether tasks are shared at all.
    bool several() const { return ready_ > 0; }
    /// More than any worker's number.
    std::size_t places() const { return threads_.empty() ? 1 : threads_.size(); }

    /// Calls work(task, worker) once for each task, and returns when all are done. The calling thread polls;
    /// the first exception of a worker ends the others' work and is thrown here.
    template <class Work> void share(std::size_t tasks, Work work) {
        if (!several() || tasks < 2) {
            for (std::size_t t = 0; t < tasks; ++t) {
                cancel_.poll();
                work(t, 0u);
            }
            return;
        }
        {
            std::lock_guard lock(mutex_);
            context_ = &work;
            call_ = [](void *context, std::size_t t, unsigned w) { (*static_cast<Work *>(context))(t, w); };
            tasks_ = tasks;
            next_ = 0;
            failure_ = nullptr;
            running_ = ready_;
            ++round_;
        }
        wake_.notify_all();
        wait_for_all();
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

  private:
    Cancel &cancel_;
    std::mutex mutex_;
    std::condition_variable wake_, finished_;
    std::vector<std::thread> threads_;
    bool stop_ = false;
    unsigned ready_ = 0;   // threads that take tasks
    unsigned running_ = 0; // threads that have not finished the round
    std::uint64_t round_ = 0;
    void *context_ = nullptr;
    void (*call_)(void *context, std::size_t task, unsigned worker) = nullptr;
    std::size_t tasks_ = 0;
    std::atomic<std::size_t> next_{0};
    std::exception_ptr failure_;

    void serve(unsigned worker) {
        std::unique_lock lock(mutex_); // one after the other: each has the memory to itself
        const bool able = try_to_prepare_to_throw();
        ready_ += able;
        leave();
        for (std::uint64_t seen = 0; able;) {
            wake_.wait(lock, [&] { return stop_ || round_ != seen; });
            if (stop_) return;
            seen = round_;
            lock.unlock();
            run(worker);
            lock.lock();
            leave();
        }
    }
    void leave() {
        if (--running_ == 0) finished_.notify_one();
    }
    void run(unsigned worker) {
        try {
            for (std::size_t t; (t = next_++) < tasks_;) {
                cancel_.check();
                call_(context_, t, worker);
            }
        } catch (...) {
            next_ = tasks_;
            std::lock_guard lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
        }
    }
    void wait_for_all() {
        auto done = [this] { return running_ == 0; };
        std::unique_lock lock(mutex_);
        while (!finished_.wait_for(lock, std::chrono::milliseconds(10), done)) {
            lock.unlock();
            try {
                cancel_.poll();
            } catch (...) {
                cancel_.request();
                lock.lock();
                finished_.wait(lock, done); // the tasks refer to the caller's frames
                throw;
            }
            lock.lock();
        }
    }
};

} // namespace hornbeam
