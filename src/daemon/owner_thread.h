// A thread for each GPU, so that a driver that hangs on one of them stops no other.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "daemon/gpu_owner.h"
#include "daemon/request_times.h"

namespace rubato::daemon {

/// Which task an answer belongs to.
using Ticket = std::uint64_t;

/// Where tasks are handed in; answers come back by another way.
class Owner {
 public:
  virtual ~Owner() = default;
  virtual void post(Ticket ticket, Task task) = 0;
  /// Driver calls begun so far: one that is only slow goes on counting.
  [[nodiscard]] virtual std::uint64_t calls() const = 0;
};

struct Answered {
  Ticket ticket = 0;
  Outcome outcome;
  Spent spent;
};

/// What the threads have answered; its descriptor is readable while there is something.
class Mailbox {
 public:
  Mailbox();
  [[nodiscard]] int fd() const { return event_.get(); }
  void put(Answered answer);
  [[nodiscard]] std::vector<Answered> take();

 private:
  ScopedFd event_;
  std::mutex mutex_;
  std::vector<Answered> answers_;
};

class OwnerThread final : public Owner {
 public:
  OwnerThread(OwnerOptions options, std::shared_ptr<Mailbox> mailbox);
  /// Waits for the task under way: a process whose driver hangs leaves without destroying it.
  ~OwnerThread() override;
  OwnerThread(const OwnerThread&) = delete;
  OwnerThread& operator=(const OwnerThread&) = delete;

  void post(Ticket ticket, Task task) override;
  [[nodiscard]] std::uint64_t calls() const override { return calls_.load(std::memory_order_relaxed); }

 private:
  struct Posted {
    Ticket ticket;
    Task task;
    TimePoint at;
  };
  void loop();

  RealClock wall_;
  CallCost driver_;  // of the task under way, as is the next
  CallCost journal_;
  GpuOwner owner_;
  std::shared_ptr<Mailbox> mailbox_;
  std::atomic<std::uint64_t> calls_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Posted> tasks_;
  bool over_ = false;
  std::thread thread_;  // last: it uses everything above
};

/// Counts each thread's driver calls for it; before the first thread.
void watch_driver_calls();

}  // namespace rubato::daemon
