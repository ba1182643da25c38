#include "exporter/dashboard.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/text.h"
#include "exporter/dashboard_page.h"
#include "record/run_state.h"

namespace rubato::exporter {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

// Listing processes is one of the slow driver calls, and people do not see them change faster.
constexpr unsigned kProcessesEvery = 2;
// Steps. A program that asks less often is told to ask again.
constexpr unsigned kAskedLasts = 60;
constexpr const char* kNobodyLooked = "nobody has looked for a while; ask again in a second";
constexpr std::string_view kRuns = "/runs/";
constexpr std::string_view kReport = "/report";
// A report brings a stricter one inside it, by the hash of its script.
constexpr const char* kReportPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; worker-src blob:; img-src "
    "data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What the page says of itself, and that no other page may hold it, which only a header can say.
std::string policy_of(std::string_view page) {
  constexpr std::string_view kMark = "Content-Security-Policy\" content=\"";
  const std::size_t begin = page.find(kMark) + kMark.size();
  return cat(page.substr(begin, page.find('"', begin) - begin), "; frame-ancestors 'none'");
}

void add_common(Headers& headers) {
  headers.emplace_back("Cache-Control", "no-store");
  headers.emplace_back("X-Content-Type-Options", "nosniff");
  headers.emplace_back("X-Frame-Options", "DENY");
  headers.emplace_back("Referrer-Policy", "no-referrer");
  headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
}

HttpAnswer document(std::string json) {
  return {200, "application/json", std::make_shared<const std::string>(std::move(json))};
}

/// A step that hangs in the driver makes a document old, and who reads it may have another clock than `at_s`.
std::string with_age(std::string_view json, Seconds age) {
  return cat(json.substr(0, json.size() - 1), R"(,"age_s":)", number(age.value(), 3), "}");
}

bool is_run_page(std::string_view path) {
  return path.starts_with(kRuns) && path.size() > kRuns.size() &&
         path.find('/', kRuns.size()) == std::string_view::npos;
}

std::vector<std::string> running_ids(const std::vector<record::RunState>& runs, const PageState& seen) {
  std::vector<std::string> out;
  out.reserve(runs.size() + seen.jobs.size());
  for (const record::RunState& run : runs) out.push_back(run.run_id);
  for (const JobState& job : seen.jobs)
    if (job.running && std::ranges::count(out, job.run_id) == 0) out.push_back(job.run_id);
  return out;
}

}  // namespace

Dashboard::Dashboard(DashboardOptions options, Access access, Exporter& exporter, RunBook& book,
                     ReportMaker& reports, const Clock& clock)
    : options_(std::move(options)),
      access_(std::move(access)),
      exporter_(exporter),
      book_(book),
      reports_(reports),
      clock_(clock),
      hub_(options_.most_viewers, options_.most_waiting),
      policy_(policy_of(dashboard_page())),
      announced_(book.state()) {}

bool Dashboard::somebody_looks() {
  const std::lock_guard lock(mutex_);
  if (asked_ > 0) --asked_;
  return asked_ > 0 || hub_.clients() > 0;
}

void Dashboard::look_at_processes(const std::vector<record::RunState>& runs) {
  if (!somebody_looks()) {
    processes_.clear();
    processes_unknown_ = kNobodyLooked;
    return;
  }
  if (processes_unknown_ != kNobodyLooked && steps_ % kProcessesEvery != 0) return;
  const auto by_gpu = exporter_.processes();
  processes_ = processes_of(options_.root, by_gpu, runs);
  processes_unknown_.clear();
  for (const auto& one : by_gpu)
    if (!one) processes_unknown_ = one.error().what;
}

void Dashboard::step(const Moment& at) {
  ++steps_;
  const auto seen = exporter_.state();
  NodeState node{.host = options_.host,
                 .unix_s = at.unix_s,
                 .monotonic_ns = at.monotonic_ns,
                 .now = at.now,
                 .clock_rate = options_.clock_rate,
                 .seen = seen.get(),
                 .own = at.own};
  if (!options_.runtime_folder.empty()) node.runs = record::living_run_states(options_.runtime_folder);
  node.viewers = hub_.clients();
  look_at_processes(node.runs);
  node.processes = processes_;
  node.processes_unknown = processes_unknown_;
  node.up = Seconds(std::max(0.0, at.unix_s - at.own.started_unix_s));
  history_.add(at.unix_s, *seen, at.now, node.runs);
  const std::string text = node_json(node);
  auto running = running_ids(node.runs, *seen);
  {
    const std::lock_guard lock(mutex_);
    node_ = text;
    node_at_ = TimePoint{at.monotonic_ns};
    running_ = running;
    hub_.publish({"node", with_age(text, Seconds(0))});
  }
  const auto book = book_.state();
  if (book == announced_ && running == announced_running_) return;
  announced_ = book;
  announced_running_ = std::move(running);
  hub_.publish({"runs", "{}"});
}

/// Under the mutex, and not empty.
std::string Dashboard::node_now() const {
  return with_age(node_, clock_.now() - node_at_);
}

HttpAnswer Dashboard::node_document() {
  const std::lock_guard lock(mutex_);
  asked_ = kAskedLasts;
  if (!node_.empty()) return document(node_now());
  HttpAnswer out = text_answer(503, "The GPUs have not been read yet. Ask again in a second.\n");
  out.headers.emplace_back("Retry-After", "1");
  return out;
}

HttpAnswer Dashboard::events() {
  HttpAnswer out{200, "text/event-stream", nullptr};
  {
    // What is published after what it begins with is for it too.
    const std::lock_guard lock(mutex_);
    const std::string node = node_.empty() ? std::string() : node_now();
    const std::array<EventHub::Event, 2> first{{{"node", node}, {"runs", "{}"}}};
    out.stream = hub_.subscribe(std::span(first).subspan(node.empty() ? 1 : 0));
  }
  // A proxy that gathers them would make news old.
  out.headers.emplace_back("X-Accel-Buffering", "no");
  if (out.stream) return out;
  out = text_answer(503, cat(options_.most_viewers, " pages are being kept up to date already; close one\n"));
  out.headers.emplace_back("Retry-After", "10");
  return out;
}

std::string Dashboard::runs_document() {
  std::vector<std::string> running;
  {
    const std::lock_guard lock(mutex_);
    running = running_;
  }
  return runs_json(*book_.state(), running);
}

HttpAnswer Dashboard::report_of(const std::string& run_id) {
  const auto file = book_.file_of(run_id);
  if (!file) return text_answer(404, cat("There is no record of a run '", run_id, "' here: rubato runs\n"));
  Headers headers{{"Content-Security-Policy", kReportPolicy}};
  add_common(headers);
  return reports_.ask(*file, std::move(headers));
}

HttpAnswer Dashboard::page_for(const HttpRequest& request) {
  const std::string_view path = request.path;
  if (path == "/" || is_run_page(path)) {
    // The same for everybody, and never changed: no copy of it.
    static const auto kPage = std::make_shared<const std::string>(dashboard_page());
    return {200, "text/html; charset=utf-8", kPage, {{"Content-Security-Policy", policy_}}};
  }
  if (path == "/api/node") return node_document();
  if (path == "/api/runs") return document(runs_document());
  if (path == "/api/history") return document(history_.json());
  if (path == "/events") return events();
  if (path.starts_with(kRuns) && path.ends_with(kReport) && path.size() > kRuns.size() + kReport.size())
    return report_of(std::string(path.substr(kRuns.size(), path.size() - kRuns.size() - kReport.size())));
  return text_answer(404, "nothing here; the dashboard is /\n");
}

HttpAnswer Dashboard::answer(const HttpRequest& request) {
  auto refused = access_.answer(request);
  HttpAnswer out = refused ? std::move(*refused) : page_for(request);
  if (!out.later) add_common(out.headers);
  return out;
}

}  // namespace rubato::exporter
