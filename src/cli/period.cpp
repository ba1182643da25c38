#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "cli/invocation.h"
#include "cli/print_run.h"
#include "cli/records.h"
#include "cli/report/file_page.h"
#include "cli/report/period_report.h"
#include "cli/report/telemetry_points.h"
#include "progress/detectors.h"
#include "report/render.h"

namespace rubato::cli {
namespace {

using report::Object;

struct Options {
  std::string run;
  std::string trace;
  std::string detector{progress::detectors().front().name};
  std::string gpu;
};

Status print(const Invocation& invocation, Object&& document, Page&& page) {
  fmt::print("{}", invocation.json ? report::render_json(std::move(document)) : page.take());
  return {};
}

Status of_trace(const Invocation& invocation, const Options& options, const progress::DetectorKind& kind) {
  auto trace = read_telemetry(options.trace);
  if (!trace) return fail(trace.error());
  const auto points = points_of(*trace);
  PeriodFinding finding = find_period(*kind.make({}), points);
  finding.source = options.trace;
  finding.columns = std::move(trace->columns);
  finding.ignored_columns = std::move(trace->ignored);
  finding.dropped_cells = trace->dropped_cells;
  finding.dropped_rows = trace->dropped_rows;
  finding.first_drops = std::move(trace->first_drops);
  Object document{{"schema", "rubato.period/1"}};
  set_period(document, finding);
  Page page(text_options(STDOUT_FILENO));
  say_period(page, finding);
  return print(invocation, std::move(document), std::move(page));
}

/// By index or the beginning of a UUID; all of them where nothing was typed.
Result<std::vector<const record::DeviceRecord*>> chosen(const record::RunRecord& run,
                                                        const std::string& typed) {
  std::vector<const record::DeviceRecord*> devices;
  std::string there;
  for (const record::DeviceRecord& device : run.devices) {
    const GpuIdentity& identity = device.info.identity;
    there += cat(there.empty() ? "" : ", ", identity.index, " (", identity.id.uuid, ")");
    if (typed.empty() || typed == std::to_string(identity.index) || identity.id.uuid.starts_with(typed))
      devices.push_back(&device);
  }
  if (there.empty())
    return fail(ErrorCode::not_found, cat("run ", run.info.run_id, " recorded no GPU"),
                run.end ? "" : "if it has only begun, ask again in a second");
  if (devices.empty())
    return fail(ErrorCode::not_found, cat("run ", run.info.run_id, " recorded no GPU ", typed),
                cat("there are: ", there));
  return devices;
}

/// Telemetry typed where a run is named is the likeliest slip.
Error unread(const std::filesystem::path& file, Error error) {
  const auto source = page_source(file);
  if (error.code != ErrorCode::corrupt || !source || *source == PageSource::record) return error;
  return {ErrorCode::invalid_argument, cat(file.string(), " is no record of a run"),
          cat("if it is telemetry as CSV: rubato period --trace ", file.string())};
}

Status of_run(const Invocation& invocation, const Options& options, const progress::DetectorKind& kind) {
  const auto file = find_record(options.run.empty() ? "last" : options.run);
  if (!file) return fail(file.error());
  const auto run = record::read_run(*file);
  if (!run) return fail(unread(*file, run.error()));
  const auto devices = chosen(*run, options.gpu);
  if (!devices) return fail(devices.error());
  report::Array gpus;
  Page page(text_options(STDOUT_FILENO));
  for (const record::DeviceRecord* device : *devices) {
    const record::DeviceInfo& info = device->info;
    const auto points = points_of(*device);
    PeriodFinding finding =
        find_period(*kind.make({info.sensor.update_period, info.sensor.averaging_window}), points);
    finding.source = cat("GPU ", info.identity.index, ", ", info.identity.name, " · ", run->info.run_id,
                         " · ", name_of(info.kind));
    finding.columns = columns_of(points);
    Object gpu{{"uuid", info.identity.id.uuid},
               {"index", info.identity.index},
               {"name", info.identity.name},
               {"kind", name_of(info.kind)}};
    set_period(gpu, finding);
    if (!gpus.empty()) page.gap();
    say_period(page, finding);
    gpus.emplace_back(std::move(gpu));
  }
  return print(invocation,
               {{"schema", "rubato.period/1"}, {"run_id", run->info.run_id}, {"gpus", std::move(gpus)}},
               std::move(page));
}

int period(Invocation& invocation, const Options& options) {
  const auto wrong = [&](std::string what, std::string hint) {
    return refuse(invocation, Error{ErrorCode::invalid_argument, std::move(what), std::move(hint)});
  };
  if (!options.trace.empty() && !options.run.empty())
    return wrong("a trace and a run were named; one at a time is looked at",
                 cat("rubato period --trace ", options.trace));
  if (!options.trace.empty() && !options.gpu.empty())
    return wrong("--gpu chooses a GPU of a run; a trace is of one", "leave --gpu out");
  const auto kind = progress::find_detector(options.detector);
  if (!kind) return refuse(invocation, kind.error());
  const Status done =
      options.trace.empty() ? of_run(invocation, options, **kind) : of_trace(invocation, options, **kind);
  return done ? 0 : refuse(invocation, done.error(), 1);
}

}  // namespace

void add_period(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("period", "the iteration in recorded telemetry, of a run or a trace");
  static Options options;
  command
      ->add_option("run", options.run,
                   "a run id, the beginning of one, `last` (the default), or a record file")
      ->type_name("RUN");
  command->add_option("--trace", options.trace, "telemetry as CSV instead of a run")->type_name("FILE");
  std::vector<std::string> names;
  for (const auto& kind : progress::detectors()) names.emplace_back(kind.name);
  command->add_option("--detector", options.detector, "which detector looks")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(CLI::IsMember(names));
  command->add_option("--gpu", options.gpu, "of a run, only this one: index or UUID")->type_name("GPU");
  command->add_flag("--json", invocation.json, "machine-readable output (rubato.period/1)");
  command->callback([&invocation] { period(invocation, options); });
}

}  // namespace rubato::cli
