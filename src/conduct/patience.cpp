#include "conduct/patience.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>

#include "base/call_count.h"
#include "base/text.h"

namespace rubato::conduct {
namespace {

struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
};

}  // namespace

bool finishes(std::function<void()> work, Seconds patience) {
  const auto shared = std::make_shared<Shared>();
  // A thread left behind must not take signals that are meant for the one that waits for the job.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread thread([shared, work = std::move(work)] {
    work();
    const std::lock_guard lock(shared->mutex);
    shared->done = true;
    shared->changed.notify_one();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  using Wall = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kLook(100);
  const std::chrono::duration<double> silence(patience.value());
  std::unique_lock lock(shared->mutex);
  std::uint64_t seen = calls_begun();
  auto last_sign = Wall::now();
  while (!shared->changed.wait_for(lock, kLook, [&] { return shared->done; })) {
    if (const std::uint64_t begun = calls_begun(); begun != seen) {
      seen = begun;
      last_sign = Wall::now();
    } else if (Wall::now() - last_sign >= silence) {
      thread.detach();
      return false;
    }
  }
  lock.unlock();
  thread.join();
  return true;
}

Error stands_still() {
  return {ErrorCode::timeout,
          cat("the driver does not answer: a call into it has not come back for ", kDriverPatience),
          "look at dmesg and nvidia-smi; a GPU that fell off the bus needs a reset or a reboot"};
}

void leave_now(int status) {
  std::fflush(nullptr);
  ::_exit(status);
}

}  // namespace rubato::conduct
