#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace tribo {

/// Hands items to one background thread, which writes them in the order they came. At most `most` are unfinished, so
/// that a slow disk slows the simulation down instead of filling the memory. The first error ends the writing: what was
/// waiting is dropped, for nothing may be on disk behind a gap, and from then on every call throws that error.
template <class Item>
class FrameQueue {
 public:
  FrameQueue(std::size_t most, std::function<void(Item&)> write)
      : most_(most), write_(std::move(write)), thread_([this](const std::stop_token& stop) { work(stop); }) {}
  FrameQueue(const FrameQueue&) = delete;
  FrameQueue& operator=(const FrameQueue&) = delete;
  /// Whatever ends a run, frames that are complete are written.
  ~FrameQueue() {
    thread_.request_stop();
    thread_.join();
  }

  /// Waits while there is no room.
  void push(Item item) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return error_ || items_.size() < most_; });
      rethrow();
      items_.push_back(std::move(item));
    }
    changed_.notify_all();
  }
  /// Waits until everything is written.
  void drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return items_.empty(); });
    rethrow();
  }
  /// Throws when writing has failed; never waits for it.
  void check() const {
    const std::lock_guard lock(mutex_);
    rethrow();
  }

 private:
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return !items_.empty(); })) {
      Item& item = items_.front();  // a deque's items stay in place while others join
      lock.unlock();
      std::exception_ptr error;
      try {
        write_(item);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      items_.pop_front();
      if (error) {
        items_.clear();
        error_ = error;
      }
      changed_.notify_all();
    }
  }

  std::size_t most_;
  std::function<void(Item&)> write_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Item> items_;  ///< unfinished; the first is being written
  std::exception_ptr error_;
  std::jthread thread_;  ///< last: it uses all of the above
};

}  // namespace tribo
