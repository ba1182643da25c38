// Reports of runs for whoever asks, one after the other on a thread of its own; the last few are kept, so
// that a page that is loaded again costs nothing.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "exporter/http_message.h"

namespace rubato::exporter {

class ReportMaker {
 public:
  /// Called on the maker's thread, with what becomes true where it has to end early.
  using Make = std::function<Result<std::string>(const std::filesystem::path&, const std::atomic<bool>&)>;

  explicit ReportMaker(Make make);
  ~ReportMaker() { end(); }
  ReportMaker(const ReportMaker&) = delete;

  /// From then on nothing is made, and whoever waits is told nothing more: to be called before the server of
  /// those who wait is gone.
  void end();

  /// The page of the record, or what went wrong; 503 where too many wait already. `headers` go with a page.
  [[nodiscard]] HttpAnswer ask(const std::filesystem::path& record,
                               std::vector<std::pair<std::string, std::string>> headers);

 private:
  struct Wanted {
    std::filesystem::path record;
    std::vector<std::pair<std::string, std::string>> headers;
    std::shared_ptr<HttpLater> later;
  };
  struct Kept {
    std::filesystem::path record;
    std::string as_of;  // of the file and its log
    std::shared_ptr<const std::string> page;
  };
  void work();
  [[nodiscard]] HttpAnswer made(const Wanted& wanted);

  Make make_;
  std::deque<Kept> kept_;  // of the thread alone

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<Wanted> wanted_;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace rubato::exporter
