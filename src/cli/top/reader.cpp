#include "cli/top/reader.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>

namespace rubato::cli::top {
namespace {

using WallTime = std::chrono::duration<double>;

// Opening a GPU and its first reading take longer than any later one.
constexpr Seconds kPatience{3};
constexpr WallTime kPatienceAtTheEnd{1.0};

}  // namespace

Reader::Shared::Shared(Sources sources)
    : interval(sources.interval),
      gatherer(std::move(sources)),
      news(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Reader::Reader(Sources sources) : shared_(std::make_shared<Shared>(std::move(sources))) {
  shared_->began = RealClock().now();
  shared_->reading = true;
  thread_ = std::thread([shared = shared_] { loop(*shared); });
}

Reader::~Reader() {
  static_cast<void>(stop());
}

int Reader::fd() const {
  return shared_->news.get();
}

void Reader::loop(Shared& shared) {
  const RealClock clock;
  TimePoint due = clock.now();
  std::unique_lock lock(shared.mutex);
  while (!shared.stop) {
    shared.began = clock.now();
    shared.reading = true;
    lock.unlock();
    auto state = std::make_shared<const State>(shared.gatherer.read(clock.now()));
    lock.lock();
    shared.reading = false;
    shared.latest = std::move(state);
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(shared.news.get(), &one, sizeof one);
    due = due + shared.interval;
    // What came too late is not made up for.
    if (due < clock.now()) due = clock.now();
    shared.changed.wait_for(lock, WallTime((due - clock.now()).value()), [&shared] { return shared.stop; });
  }
  shared.ended = true;
  shared.changed.notify_all();
}

std::shared_ptr<const State> Reader::take() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = read(shared_->news.get(), &count, sizeof count);
  const std::lock_guard lock(shared_->mutex);
  return shared_->latest;
}

std::optional<Seconds> Reader::stuck(TimePoint now) const {
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->reading || now - shared_->began < kPatience) return std::nullopt;
  return now - shared_->began;
}

bool Reader::stop() {
  if (!thread_.joinable()) return true;
  {
    std::unique_lock lock(shared_->mutex);
    shared_->stop = true;
    shared_->changed.notify_all();
    if (!shared_->changed.wait_for(lock, kPatienceAtTheEnd, [this] { return shared_->ended; })) {
      thread_.detach();
      return false;
    }
  }
  thread_.join();
  return true;
}

}  // namespace rubato::cli::top
