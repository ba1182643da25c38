#include "daemon/owner_thread.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/call_count.h"
#include "guard/timed_gpu.h"

namespace rubato::daemon {
namespace {

thread_local std::atomic<std::uint64_t>* t_calls = nullptr;

class Counter final : public CallWatcher {
 public:
  void call_begins() noexcept override {
    if (t_calls != nullptr) t_calls->fetch_add(1, std::memory_order_relaxed);
  }
};

OwnerOptions timed(OwnerOptions options, CallCost& driver, CallCost& journal) {
  options.files = guard::timed(std::move(options.files), journal);
  options.open = guard::timed(std::move(options.open), driver);
  options.driver_version = guard::timed(std::move(options.driver_version), driver);
  return options;
}

}  // namespace

void watch_driver_calls() {
  static Counter counter;
  set_call_watcher(&counter);
}

Mailbox::Mailbox() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Mailbox::put(Answered answer) {
  {
    const std::lock_guard lock(mutex_);
    answers_.push_back(std::move(answer));
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof one);
}

std::vector<Answered> Mailbox::take() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(event_.get(), &count, sizeof count);
  const std::lock_guard lock(mutex_);
  return std::exchange(answers_, {});
}

OwnerThread::OwnerThread(OwnerOptions options, std::shared_ptr<Mailbox> mailbox)
    : owner_(timed(std::move(options), driver_, journal_)),
      mailbox_(std::move(mailbox)),
      thread_([this] { loop(); }) {}

OwnerThread::~OwnerThread() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void OwnerThread::post(Ticket ticket, Task task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back({ticket, std::move(task), wall_.now()});
  }
  changed_.notify_one();
}

void OwnerThread::loop() {
  t_calls = &calls_;
  TimePoint free_since{};  // nothing was before the first
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return over_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const Posted next = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    driver_ = {};
    journal_ = {};
    const TimePoint could_begin = std::max(next.at, free_since);
    const TimePoint begun = wall_.now();
    Outcome outcome = owner_.run(next.task);
    free_since = wall_.now();
    mailbox_->put({next.ticket,
                   std::move(outcome),
                   {.driver = driver_.inside,
                    .journal = journal_.inside,
                    .behind = could_begin - next.at,
                    .hand_over = begun - could_begin,
                    .done = free_since}});
  }
}

}  // namespace rubato::daemon
