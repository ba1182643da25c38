// The dashboard without its sockets: what each address answers, and what every second brings.
//
//   /  /runs/ID        the page; what it shows it asks for
//   /runs/ID/report    the report of the run, as `rubato export` makes it
//   /api/node  /api/runs  /api/history   documents (docs/formats.md)
//   /events            server-sent events: `node` every second, `runs` when the list changed; first, both
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "exporter/access.h"
#include "exporter/event_hub.h"
#include "exporter/exporter.h"
#include "exporter/history.h"
#include "exporter/node_json.h"
#include "exporter/report_maker.h"
#include "exporter/run_book.h"

namespace rubato::exporter {

struct DashboardOptions {
  std::string host;
  double clock_rate = 1;                 // of the GPUs' clock
  std::filesystem::path runtime_folder;  // of the runs that go on; empty: none are shown
  FsRoot root{};
  std::size_t most_viewers = 32;
  std::size_t most_waiting = 8;  // seconds that a viewer may lag behind
};

/// The moment of a step on the clocks that there are.
struct Moment {
  TimePoint now;                  // on the GPUs' clock
  double unix_s = 0;              // seconds since 1970
  std::int64_t monotonic_ns = 0;  // CLOCK_MONOTONIC
  OwnCost own;
};

class Dashboard {
 public:
  /// All of them must outlive it. `clock`: that of Moment::monotonic_ns.
  Dashboard(DashboardOptions options, Access access, Exporter& exporter, RunBook& book, ReportMaker& reports,
            const Clock& clock);

  /// Once a second, by the thread that steps the exporter: it may ask the driver who computes.
  void step(const Moment& at);

  /// From any thread.
  [[nodiscard]] HttpAnswer answer(const HttpRequest& request);
  [[nodiscard]] std::size_t viewers() { return hub_.clients(); }

 private:
  [[nodiscard]] HttpAnswer page_for(const HttpRequest& request);
  [[nodiscard]] HttpAnswer report_of(const std::string& run_id);
  [[nodiscard]] HttpAnswer node_document();
  [[nodiscard]] HttpAnswer events();
  [[nodiscard]] std::string node_now() const;
  [[nodiscard]] std::string runs_document();
  void look_at_processes(const std::vector<record::RunState>& runs);
  [[nodiscard]] bool somebody_looks();

  DashboardOptions options_;
  Access access_;
  Exporter& exporter_;
  RunBook& book_;
  ReportMaker& reports_;
  const Clock& clock_;
  EventHub hub_;
  History history_;
  std::string policy_;  // of the page

  // Of the thread that steps.
  std::shared_ptr<const RunBookState> announced_;
  std::vector<std::string> announced_running_;
  std::vector<ProcessEntry> processes_;
  std::string processes_unknown_ = "not asked yet";
  unsigned steps_ = 0;

  std::mutex mutex_;    // of what follows
  std::string node_;    // empty: nothing was seen yet
  TimePoint node_at_;   // on `clock_`
  unsigned asked_ = 0;  // steps for which a program that asked for the node counts as somebody who looks
  std::vector<std::string> running_;  // ids
};

}  // namespace rubato::exporter
