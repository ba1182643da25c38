#include "daemon/owner_thread.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/call_count.h"

namespace rubato::daemon {
namespace {

thread_local std::atomic<std::uint64_t>* t_calls = nullptr;

class Counter final : public CallWatcher {
 public:
  void call_begins() noexcept override {
    if (t_calls != nullptr) t_calls->fetch_add(1, std::memory_order_relaxed);
  }
};

}  // namespace

void watch_driver_calls() {
  static Counter counter;
  set_call_watcher(&counter);
}

Mailbox::Mailbox() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Mailbox::put(Ticket ticket, Outcome outcome) {
  {
    const std::lock_guard lock(mutex_);
    answers_.emplace_back(ticket, std::move(outcome));
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof one);
}

std::vector<std::pair<Ticket, Outcome>> Mailbox::take() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(event_.get(), &count, sizeof count);
  const std::lock_guard lock(mutex_);
  return std::exchange(answers_, {});
}

OwnerThread::OwnerThread(OwnerOptions options, std::shared_ptr<Mailbox> mailbox)
    : owner_(std::move(options)), mailbox_(std::move(mailbox)), thread_([this] { loop(); }) {}

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
    tasks_.emplace_back(ticket, std::move(task));
  }
  changed_.notify_one();
}

void OwnerThread::loop() {
  t_calls = &calls_;
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return over_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    auto [ticket, task] = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    mailbox_->put(ticket, owner_.run(task));
  }
}

}  // namespace rubato::daemon
