// The dashboard on its address, with the threads it needs: the server's own, one that makes reports, one that
// reads records.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "exporter/exporter.h"

namespace rubato::exporter {

struct DashboardServerOptions {
  std::string listen;                               // "127.0.0.1:9838"
  bool unencrypted = false;                         // other machines may reach it, with nothing encrypted
  std::vector<std::string> names;                   // it may be asked for by, besides its address
  std::optional<std::filesystem::path> token_file;  // absent: one in the runtime folder, made where missing
  std::vector<std::filesystem::path> runs;          // folders of records
};

class DashboardServer {
 public:
  /// Serves from its return until it is destroyed. The exporter and the clock must outlive it. `records`: see
  /// RunBook. Errors: invalid_argument where the address is nobody's but not allowed; those of access_token()
  /// and HttpServer::start().
  [[nodiscard]] static Result<std::unique_ptr<DashboardServer>> start(DashboardServerOptions options,
                                                                      Exporter& exporter, const Clock& clock,
                                                                      std::mutex& records);
  ~DashboardServer();
  DashboardServer(const DashboardServer&) = delete;

  /// On the real clock.
  [[nodiscard]] TimePoint next_due() const;
  /// Tells the viewers what is new. By the thread that steps the exporter.
  void step(TimePoint real_now, double unix_s, double started_unix_s);

 private:
  class Impl;
  explicit DashboardServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rubato::exporter
