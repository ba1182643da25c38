// rubato-exporter: the figures of this machine's GPUs and of rubato's runs, for Prometheus, and a dashboard
// for browsers. Needs no right and sets nothing.
#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/runtime_folder.h"
#include "base/standard_streams.h"
#include "base/text.h"
#include "device/registry.h"
#include "exporter/catalogue.h"
#include "exporter/daemon_watch.h"
#include "exporter/dashboard_server.h"
#include "exporter/exporter.h"
#include "exporter/http_server.h"
#include "exporter/own_cost.h"
#include "record/live.h"
#include "record/sensor_store.h"
#include "record/writer.h"
#include "wire/connect.h"

namespace rubato::exporter {
namespace {

// As rubato itself (docs/exit-codes.md).
constexpr int kRefused = 125;
// Where the guard keeps the journals of real GPUs (docs/design.md).
constexpr const char* kSystemJournals = "/run/rubato";

struct Options {
  std::string gpu;
  std::string listen = "127.0.0.1:9836";
  std::vector<std::string> runs;
  std::size_t jobs = JobOptions{}.most;
  std::string http;
  bool http_unencrypted = false;
  std::vector<std::string> http_names;
  std::string http_token;
  bool once = false;
  bool list = false;
  bool quiet = false;
};

struct OpenGpus {
  device::Selection selection;
  std::vector<std::unique_ptr<device::Gpu>> gpus;
};

double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// All of them, whatever CUDA_VISIBLE_DEVICES says: the page is about the machine.
Result<OpenGpus> open_gpus(const std::string& list) {
  auto selection = device::select_gpus(list, std::nullopt);
  if (!selection) return fail(selection.error());
  OpenGpus open{std::move(*selection), {}};
  std::optional<Error> lost;
  for (const GpuIdentity& identity : open.selection.chosen) {
    auto gpu = open.selection.backend->open(identity.id);
    if (gpu) {
      open.gpus.push_back(std::move(*gpu));
      continue;
    }
    if (!list.empty()) return fail(gpu.error());
    log::warning(gpu.error());
    lost = gpu.error();
  }
  if (open.gpus.empty() && lost) return fail(*lost);
  return open;
}

std::vector<WatchedGpu> watched(const OpenGpus& open) {
  const auto folder = record::default_sensor_folder();
  std::vector<WatchedGpu> out;
  for (const auto& gpu : open.gpus) {
    WatchedGpu& one = out.emplace_back(WatchedGpu{gpu.get(), gpu->sensor()});
    if (!folder) continue;
    const auto found =
        record::load_sensor_facts(*folder, gpu->identity().id, open.selection.backend->driver_version());
    if (found) one.sensor = record::with_found(one.sensor, *found);
  }
  return out;
}

ExporterOptions exporter_options(const Options& options, const device::Backend& backend) {
  ExporterOptions out;
  out.version = RUBATO_VERSION;
  out.backend = backend.name();
  out.driver_version = backend.driver_version();
  out.journals = kSystemJournals;
  if (backend.simulated())
    if (const auto own = runtime_folder()) out.journals = *own;
  out.jobs.most = options.jobs;
  if (options.jobs == 0) return out;
  out.jobs.folders.assign(options.runs.begin(), options.runs.end());
  std::error_code ignored;
  for (const auto& folder : out.jobs.folders)
    if (!std::filesystem::is_directory(folder, ignored))
      log::warning(Error{ErrorCode::not_found,
                         cat("no folder ", folder.string(), " that can be read: its runs are not shown"),
                         "it is looked for again every ten seconds"});
  if (!options.runs.empty()) return out;
  if (const auto own = record::default_directory())
    out.jobs.folders.push_back(*own);
  else
    log::warning(
        Error{own.error().code, cat(own.error().what, ": no runs are shown"), "--runs FOLDER, or --jobs 0"});
  return out;
}

HttpAnswer answer(Exporter& exporter, const Clock& clock, double started, const HttpRequest& request) {
  static const auto kWelcome = std::make_shared<const std::string>(
      "<!doctype html><title>rubato-exporter</title><p>rubato's figures for Prometheus: <a "
      "href=\"/metrics\">/metrics</a>\n");
  static const auto kNothing = std::make_shared<const std::string>("nothing here; the page is /metrics\n");
  if (request.path == "/") return {200, "text/html; charset=utf-8", kWelcome};
  if (request.path != "/metrics") return {404, "text/plain; charset=utf-8", kNothing};
  const auto format = report::metrics_format_for(request.header("accept"));
  const OwnCost own{own_cpu_time(), own_memory(), started};
  return {200, report::content_type(format), exporter.page(format, clock.now(), own)};
}

int print_once(Exporter& exporter, const Clock& clock, double started) {
  while (!exporter.complete()) {
    sleep_until(clock, exporter.next_due());
    exporter.step(clock.now(), unix_now());
  }
  const OwnCost own{own_cpu_time(), own_memory(), started};
  const auto page = exporter.page(report::MetricsFormat::prometheus_text, clock.now(), own);
  const bool written = std::fwrite(page->data(), 1, page->size(), stdout) == page->size();
  if (written && std::fflush(stdout) == 0) return 0;
  log::error(Error{ErrorCode::io, "the page could not be written: is the disk full?", {}});
  return 1;
}

/// Until the next of the two that is due; `dashboard` may be null.
timespec wall_until(const Clock& clock, TimePoint due, const DashboardServer* dashboard) {
  double seconds = clock.wall(due - clock.now()).value();
  if (dashboard != nullptr) seconds = std::min(seconds, (dashboard->next_due() - RealClock().now()).value());
  seconds = std::max(0.0, seconds);
  const auto whole = static_cast<time_t>(seconds);
  return {whole, static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
}

/// Null: none was asked for.
Result<std::unique_ptr<DashboardServer>> dashboard_of(const Options& options, Exporter& exporter,
                                                      const Clock& clock,
                                                      const std::vector<std::filesystem::path>& runs,
                                                      std::mutex& records) {
  if (options.http.empty()) return nullptr;
  DashboardServerOptions wanted{.listen = options.http,
                                .unencrypted = options.http_unencrypted,
                                .names = options.http_names,
                                .token_file = {},
                                .runs = runs};
  if (!options.http_token.empty()) wanted.token_file = options.http_token;
  return DashboardServer::start(std::move(wanted), exporter, clock, records);
}

// This thread steps, the servers' own answer. A step that hangs in the driver leaves the pages with readings
// that grow old, and the process to whoever ends it.
int serve(const Options& options, Exporter& exporter, const Clock& clock, const ListenAddress& address,
          const std::vector<std::filesystem::path>& runs, std::mutex& records, double started) {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  const auto server = HttpServer::start(address, [&exporter, &clock, started](const HttpRequest& request) {
    return answer(exporter, clock, started, request);
  });
  if (!server) {
    log::error(server.error());
    return kRefused;
  }
  const auto dashboard = dashboard_of(options, exporter, clock, runs, records);
  if (!dashboard) {
    log::error(dashboard.error());
    return kRefused;
  }
  log::info(cat("serving ", url_of(address, (*server)->port()),
                address.loopback ? "" : " to whoever can reach this address"));
  for (;;) {
    exporter.step(clock.now(), unix_now());
    if (*dashboard) (*dashboard)->step(RealClock().now(), unix_now(), started);
    const timespec wait = wall_until(clock, exporter.next_due(), dashboard->get());
    if (sigtimedwait(&ending, nullptr, &wait) > 0) return 0;
  }
}

int run(const Options& options) {
  const auto address = parse_listen_address(options.listen);
  if (!address) {
    log::error(address.error());
    return kRefused;
  }
  const double started = unix_now();
  const auto open = open_gpus(options.gpu);
  if (!open) {
    log::error(open.error());
    return kRefused;
  }
  const auto clock = open->selection.backend->clock();
  ExporterOptions wanted = exporter_options(options, *open->selection.backend);
  const std::vector<std::filesystem::path> runs = wanted.jobs.folders;
  std::mutex records;  // the dashboard reads records in a thread of its own: see RunBook
  wanted.jobs.writer_of = [&records](const std::filesystem::path& file) {
    const std::lock_guard lock(records);
    return record::writer_of(file);
  };
  const char* socket = std::getenv("RUBATO_SOCKET");
  DaemonWatch daemon(socket != nullptr && *socket != '\0' ? std::filesystem::path(socket)
                                                          : wanted.journals / wire::kSocketName);
  wanted.request_times = [&daemon] { return daemon.times(); };
  if (options.once)
    daemon.ask();
  else
    daemon.start();
  Exporter exporter(std::move(wanted), watched(*open), clock->now());
  return options.once ? print_once(exporter, *clock, started)
                      : serve(options, exporter, *clock, *address, runs, records, started);
}

int list_metrics() {
  for (const MetricInfo& metric : catalogue()) {
    const char* type = metric.type == report::MetricType::counter ? "counter" : "gauge";
    std::fputs(cat(metric.name, "\t", type, "\t", metric.unit, "\t", metric.help, "\n").c_str(), stdout);
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app("figures of this machine's GPUs and of rubato's runs, for Prometheus", "rubato-exporter");
  app.set_help_flag("-h,--help", "this page");
  app.set_version_flag("--version", cat("rubato-exporter ", RUBATO_VERSION), "the version");
  app.add_option("--gpu", options.gpu, "which GPUs: 0,1 or UUIDs or sim:v100 (default: all)")
      ->type_name("LIST");
  app.add_option("--listen", options.listen, "address and port to serve on")
      ->type_name("ADDRESS:PORT")
      ->capture_default_str();
  app.add_option("--runs", options.runs,
                 "folder of run records, may be given again (default: the caller's own)")
      ->type_name("FOLDER");
  app.add_option("--jobs", options.jobs, "how many runs to show at most; 0: none")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000));
  auto* http =
      app.add_option("--http", options.http, "serve the dashboard too, for browsers (default: not at all)")
          ->type_name("ADDRESS:PORT");
  app.add_option(
         "--http-token", options.http_token,
         "file with the dashboard's token (default: one in the runtime folder, made at the first start)")
      ->needs(http)
      ->type_name("FILE");
  app.add_option("--http-name", options.http_names,
                 "a name by which browsers may ask for the dashboard, may be given again")
      ->needs(http)
      ->type_name("NAME");
  app.add_flag("--http-unencrypted", options.http_unencrypted,
               "serve the dashboard to other machines, token and all as plain text")
      ->needs(http);
  app.add_flag("--once", options.once, "print the page and end")->excludes(http);
  app.add_flag("--list-metrics", options.list, "print every metric: name, type, unit, meaning; and end");
  app.add_flag("--quiet,-q", options.quiet, "errors only");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    log::error(Error{ErrorCode::invalid_argument, error.what(), "rubato-exporter --help"});
    return kRefused;
  }
  if (options.quiet) log::set_level(log::Level::error);
  return options.list ? list_metrics() : run(options);
}

}  // namespace
}  // namespace rubato::exporter

int main(int argc, char** argv) {
  rubato::keep_standard_streams();
  return rubato::exporter::main_of(argc, argv);
}
