#include "tribo/run/frame_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "tribo/core/errors.h"

namespace tribo {
namespace {

/// Holds the background thread at its first item until opened.
class Gate {
 public:
  void pass() {
    reached_ = true;
    reached_.notify_all();
    open_.wait(false);
  }
  void wait_until_reached() { reached_.wait(false); }
  void open() {
    open_ = true;
    open_.notify_all();
  }

 private:
  std::atomic<bool> reached_ = false;
  std::atomic<bool> open_ = false;
};

std::vector<int> first_numbers(int n) {
  std::vector<int> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(FrameQueue, WritesInOrderInAnotherThread) {
  std::vector<int> written;
  std::thread::id writer;
  FrameQueue<int> queue(2, [&](int& item) {
    writer = std::this_thread::get_id();
    written.push_back(item);
  });
  for (int i = 0; i < 1000; ++i) queue.push(i);
  queue.drain();
  EXPECT_EQ(written, first_numbers(1000));
  EXPECT_NE(writer, std::this_thread::get_id());
  queue.push(1000);
  queue.drain();
  EXPECT_EQ(written, first_numbers(1001));
}

TEST(FrameQueue, GoesOnWithoutWaitingForTheWriter) {
  Gate gate;
  std::atomic<int> written = 0;
  FrameQueue<int> queue(2, [&](int&) {
    gate.pass();
    ++written;
  });
  queue.push(0);
  queue.push(1);
  queue.check();
  EXPECT_EQ(written, 0);
  gate.open();
  queue.drain();
  EXPECT_EQ(written, 2);
}

TEST(FrameQueue, HoldsNoMoreThanItMay) {
  std::atomic<int> alive = 0;
  std::atomic<int> most = 0;
  struct Counted {
    explicit Counted(std::atomic<int>& count) : count_(&count) { ++*count_; }
    Counted(Counted&& other) noexcept : count_(other.count_) { ++*count_; }
    ~Counted() { --*count_; }
    std::atomic<int>* count_;
  };
  FrameQueue<Counted> queue(2, [&](Counted&) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    most = std::max(most.load(), alive.load());
  });
  for (int i = 0; i < 100; ++i) queue.push(Counted(alive));
  queue.drain();
  EXPECT_EQ(alive, 0);
  EXPECT_LE(most, 2 + 2);  // the one that waits for room, in the hands of the caller and of push
}

TEST(FrameQueue, ErrorEndsTheWritingAndReachesTheCaller) {
  Gate gate;
  std::vector<int> written;
  FrameQueue<int> queue(3, [&](int& item) {
    if (item == 1) {
      gate.pass();
      throw IoError("disk full");
    }
    written.push_back(item);
  });
  for (int i = 0; i < 3; ++i) queue.push(i);
  gate.wait_until_reached();
  queue.check();
  gate.open();
  const auto told = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const IoError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(told([&] { queue.drain(); }), "disk full");
  EXPECT_EQ(told([&] { queue.check(); }), "disk full");
  EXPECT_EQ(told([&] { queue.push(3); }), "disk full");
  EXPECT_EQ(told([&] { queue.drain(); }), "disk full");  // still
  EXPECT_EQ(written, std::vector<int>{0});               // nothing behind the gap
}

TEST(FrameQueue, ErrorWakesWhoWaitsForRoom) {
  Gate gate;
  FrameQueue<int> queue(1, [&](int&) {
    gate.pass();
    throw IoError("disk full");
  });
  queue.push(0);
  gate.wait_until_reached();
  const std::jthread opener([&] { gate.open(); });
  EXPECT_THROW(queue.push(1), IoError);
}

TEST(FrameQueue, DestructorWritesWhatWaits) {
  std::vector<int> written;
  {
    FrameQueue<int> queue(5, [&](int& item) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      written.push_back(item);
    });
    for (int i = 0; i < 5; ++i) queue.push(i);
  }
  EXPECT_EQ(written, first_numbers(5));
  {
    const FrameQueue<int> idle(1, [](int&) {});
  }
}

}  // namespace
}  // namespace tribo
