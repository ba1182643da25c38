// A thread that makes slow calls one at a time, so that whoever asks can stop waiting. A management
// controller needs half a dozen exchanges to open a session and may take its time over each.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/units.h"

namespace rubato::meter::ipmi {

template <class Answer>
class Patient {
 public:
  explicit Patient(std::function<Answer()> call) : shared_(std::make_shared<Shared>()) {
    thread_ = std::thread([shared = shared_, work = std::move(call)] { run(*shared, work); });
  }
  Patient(const Patient&) = delete;
  Patient& operator=(const Patient&) = delete;
  /// Waits for a call under way for two seconds at most; then the thread ends by itself.
  ~Patient() {
    std::unique_lock lock(shared_->mutex);
    shared_->stop = true;
    shared_->changed.notify_all();
    const bool ended =
        shared_->changed.wait_for(lock, std::chrono::seconds(2), [&] { return shared_->ended; });
    lock.unlock();
    if (ended)
      thread_.join();
    else
      thread_.detach();
  }

  /// The answer to a call that began after this was called; nothing where it, or one before it, takes too
  /// long.
  [[nodiscard]] std::optional<Answer> call(Seconds at_most) {
    const auto deadline =
        std::chrono::steady_clock::now() +
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(at_most.value()));
    std::unique_lock lock(shared_->mutex);
    const auto idle = [&] { return !shared_->busy; };
    if (!shared_->changed.wait_until(lock, deadline, idle)) return std::nullopt;
    shared_->answer.reset();
    shared_->busy = true;
    shared_->changed.notify_all();
    if (!shared_->changed.wait_until(lock, deadline, idle)) return std::nullopt;
    return std::exchange(shared_->answer, std::nullopt);
  }

 private:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    bool busy = false;
    bool stop = false;
    bool ended = false;
    std::optional<Answer> answer;
  };

  static void run(Shared& shared, const std::function<Answer()>& work) {
    std::unique_lock lock(shared.mutex);
    for (;;) {
      shared.changed.wait(lock, [&] { return shared.busy || shared.stop; });
      if (shared.stop) break;
      lock.unlock();
      Answer answer = work();
      lock.lock();
      shared.answer.emplace(std::move(answer));
      shared.busy = false;
      shared.changed.notify_all();
    }
    shared.ended = true;
    shared.changed.notify_all();
  }

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace rubato::meter::ipmi
