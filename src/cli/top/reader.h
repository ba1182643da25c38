// Gathers on a thread of its own, so that a driver call that hangs never keeps a key or a signal waiting.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/fd.h"
#include "cli/top/gather.h"

namespace rubato::cli::top {

class Reader {
 public:
  /// Signals must be blocked before: the thread takes none.
  explicit Reader(Sources sources);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// Readable while there is news; take() makes it unreadable again.
  [[nodiscard]] int fd() const;
  /// The latest; null before the first.
  [[nodiscard]] std::shared_ptr<const State> take();
  /// How long the driver has kept the thread waiting beyond what is usual; absent: it does not.
  [[nodiscard]] std::optional<Seconds> stuck(TimePoint now) const;
  /// False where the thread hangs in the driver: it is left behind, and the process has to leave by
  /// conduct::leave_now().
  [[nodiscard]] bool stop();

 private:
  // Outlives a Reader whose thread hangs.
  struct Shared {
    explicit Shared(Sources sources);
    Seconds interval;
    Gatherer gatherer;
    ScopedFd news;
    std::mutex mutex;
    std::condition_variable changed;
    std::shared_ptr<const State> latest;
    TimePoint began;  // the reading that is on, or the latest
    bool reading = false;
    bool stop = false;
    bool ended = false;
  };
  static void loop(Shared& shared);

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace rubato::cli::top
