// Where the time of rubatod's requests goes, as rubatod itself counts it: asked every ten seconds by a thread
// of its own, so that one that hangs holds up no page.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "wire/message.h"

namespace rubato::exporter {

class DaemonWatch {
 public:
  /// Asks nobody yet.
  explicit DaemonWatch(std::filesystem::path socket) : socket_(std::move(socket)) {}
  ~DaemonWatch();
  DaemonWatch(const DaemonWatch&) = delete;
  DaemonWatch& operator=(const DaemonWatch&) = delete;

  /// Once, and waits for it: seconds where rubatod hangs.
  void ask();
  /// From now on, until this object goes.
  void start();

  /// What was told last, of requests that have come at all; nothing where no rubatod answers. From any
  /// thread.
  [[nodiscard]] std::vector<wire::Timed> times();

 private:
  void loop();

  std::filesystem::path socket_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::vector<wire::Timed> times_;
  bool over_ = false;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace rubato::exporter
