#include "exporter/dashboard_server.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/runtime_folder.h"
#include "base/text.h"
#include "exporter/access_token.h"
#include "exporter/dashboard.h"
#include "exporter/http_server.h"
#include "exporter/own_cost.h"
#include "exporter/report_program.h"

namespace rubato::exporter {
namespace {

constexpr Seconds kPeriod{1.0};
constexpr std::size_t kMostRuns = 200;
// Looking at a folder of some hundred records takes a few milliseconds.
constexpr std::chrono::seconds kLookPeriod{5};
// While records wait to be read: one after the other, with room for the job between them.
constexpr std::chrono::milliseconds kReadingPause{200};
constexpr const char* kTokenFile = "dashboard-token";
// A browser holds six connections.
constexpr HttpLimits kLimits{.connections = 128, .idle_s = 20};

std::string host_name() {
  std::array<char, 256> host{};
  return gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "localhost";
}

Result<std::filesystem::path> token_file_of(const DashboardServerOptions& options) {
  if (options.token_file) return *options.token_file;
  const auto folder = runtime_folder();
  if (!folder) return fail(folder.error());
  return *folder / kTokenFile;
}

Result<ListenAddress> dashboard_address(const DashboardServerOptions& options) {
  auto address = parse_listen_address(options.listen);
  if (!address) return fail(ErrorCode::invalid_argument, address.error().what, "--http 127.0.0.1:9838");
  if (!address->loopback && !options.unencrypted)
    return fail(
        ErrorCode::invalid_argument,
        cat("--http ", options.listen, " would send the token and all it opens over the network as ",
            "plain text"),
        "--http 127.0.0.1:9838 here and `ssh -L 9838:127.0.0.1:9838 HOST` there, or --http-unencrypted");
  return address;
}

// The token itself goes to a terminal alone: a service's log is read by others.
void tell(const ListenAddress& address, std::uint16_t port, const std::filesystem::path& file,
          const std::string& token) {
  const std::string url = root_url_of(address, port);
  log::info(cat("dashboard ", url, " (token in ", file.string(), ")"));
  if (isatty(STDERR_FILENO) == 1) log::info(cat("open it by ", url, "?token=", token));
  if (!address.loopback)
    log::warning("the dashboard is served without encryption: whoever sees the traffic has its token");
}

/// A thread that does something again and again until it is destroyed.
class Worker {
 public:
  /// `work` returns true where there is more to do soon.
  explicit Worker(std::function<bool()> work)
      : thread_([this, work = std::move(work)] {
          std::unique_lock lock(mutex_);
          while (!ending_) {
            lock.unlock();
            const bool more = work();
            lock.lock();
            changed_.wait_for(lock, more ? kReadingPause : kLookPeriod, [this] { return ending_; });
          }
        }) {}
  Worker(const Worker&) = delete;
  ~Worker() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace

class DashboardServer::Impl {
 public:
  Impl(std::vector<std::filesystem::path> runs, Access access, DashboardOptions shown, Exporter& exporter,
       const Clock& clock, std::mutex& records)
      : clock_(clock),
        book_(std::move(runs), kMostRuns, records),
        reports_([program = rubato_program()](const std::filesystem::path& record,
                                              const std::atomic<bool>& ending) {
          return exported_report(program, record, ending);
        }),
        dashboard_(std::move(shown), std::move(access), exporter, book_, reports_, real_clock_) {}
  Impl(const Impl&) = delete;
  ~Impl() {
    reports_.end();  // while those who wait for one are still there
  }

  Status serve(const ListenAddress& address) {
    auto server = HttpServer::start(
        address, [this](const HttpRequest& request) { return dashboard_.answer(request); }, kLimits,
        "--http");
    if (!server) return fail(server.error());
    server_ = std::move(*server);
    reader_ = std::make_unique<Worker>([this] { return book_.step(); });
    return {};
  }

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  [[nodiscard]] TimePoint next_due() const { return due_; }
  void step(TimePoint real_now, double unix_s, double started_unix_s) {
    if (real_now < due_) return;
    due_ = real_now + kPeriod;
    dashboard_.step({clock_.now(), unix_s, real_now.ns, {own_cpu_time(), own_memory(), started_unix_s}});
  }

 private:
  const Clock& clock_;
  RealClock real_clock_;
  RunBook book_;
  ReportMaker reports_;
  Dashboard dashboard_;
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<Worker> reader_;
  TimePoint due_{};
};

DashboardServer::DashboardServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DashboardServer::~DashboardServer() = default;

TimePoint DashboardServer::next_due() const {
  return impl_->next_due();
}

void DashboardServer::step(TimePoint real_now, double unix_s, double started_unix_s) {
  impl_->step(real_now, unix_s, started_unix_s);
}

Result<std::unique_ptr<DashboardServer>> DashboardServer::start(DashboardServerOptions options,
                                                                Exporter& exporter, const Clock& clock,
                                                                std::mutex& records) {
  const auto address = dashboard_address(options);
  if (!address) return fail(address.error());
  const auto file = token_file_of(options);
  if (!file) return fail(file.error());
  auto token = access_token(*file, !options.token_file);
  if (!token) return fail(token.error());
  DashboardOptions shown{.host = host_name(), .clock_rate = 1.0 / clock.wall(Seconds(1)).value()};
  if (const auto runtime = runtime_folder())
    shown.runtime_folder = *runtime;
  else
    log::warning(runtime.error());
  options.names.push_back(shown.host);
  Access access({.token = *token,
                 .names = std::move(options.names),
                 .where_token = address->loopback ? cat("the file ", file->string())
                                                  : "the file that rubato-exporter named when it started"});
  auto impl = std::make_unique<Impl>(std::move(options.runs), std::move(access), std::move(shown), exporter,
                                     clock, records);
  if (const Status served = impl->serve(*address); !served) return fail(served.error());
  tell(*address, impl->port(), *file, *token);
  return std::unique_ptr<DashboardServer>(new DashboardServer(std::move(impl)));
}

}  // namespace rubato::exporter
