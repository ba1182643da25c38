#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/log.h"
#include "base/text.h"
#include "cli/gpus.h"
#include "cli/invocation.h"
#include "cli/left_behind.h"
#include "cli/stale.h"
#include "guard/launch.h"
#include "guard/stale.h"
#include "report/render.h"
#include "report/value.h"

namespace rubato::cli {
namespace {

// Root's journals need root; said before anything else, so that "nothing to restore" is never a wrong answer.
// So is what cannot be looked at.
std::optional<Error> needs_root() {
  if (geteuid() == 0) return std::nullopt;
  const auto left = guard::journals_in(guard::kSystemFolder);
  if (left && left->empty()) return std::nullopt;
  if (!left && left.error().code != ErrorCode::no_permission) return std::nullopt;
  return Error{ErrorCode::no_permission,
               left ? cat("journals in ", guard::kSystemFolder, " belong to root")
                    : cat("whether journals lie in ", guard::kSystemFolder,
                          " only root can tell: ", left.error().what),
               "sudo rubato restore"};
}

Result<std::vector<RestorationReport>> restore_with(const std::string& spec) {
  guard::LaunchOptions options;
  options.backend_spec = spec;
  options.own_scope = false;
  return guard::launch_restore(options);
}

/// Every backend that something was left behind on, each asked for its own GPUs.
Result<std::vector<RestorationReport>> restore_everything() {
  std::vector<RestorationReport> all;
  const auto left = left_behind();
  std::set<std::string> specs;
  for (const auto& gpu : left) {
    if (gpu.held || gpu.uuid.empty()) continue;
    if (gpu.spec)
      specs.insert(*gpu.spec);
    else
      all.push_back({GpuId{gpu.uuid}, Restoration::failed, cat(gpu.what, "; ", gpu.hint)});
  }
  for (const auto& spec : specs) {
    auto reports = restore_with(spec);
    if (!reports) return fail(reports.error());
    // The guard of one simulated world reports the journals of the others as failed.
    std::erase_if(*reports, [&](const RestorationReport& report) {
      return std::none_of(left.begin(), left.end(), [&](const LeftBehind& gpu) {
        return gpu.uuid == report.gpu.uuid && gpu.spec == spec;
      });
    });
    std::move(reports->begin(), reports->end(), std::back_inserter(all));
  }
  return all;
}

Result<std::vector<RestorationReport>> restore_wanted(std::string_view gpu_list) {
  if (gpu_list.empty()) return restore_everything();
  const auto spec = backend_spec(gpu_list);
  if (!spec) return fail(spec.error());
  return restore_with(*spec);
}

report::Value json(const std::vector<RestorationReport>& reports, std::size_t failed) {
  report::Array gpus;
  for (const auto& report : reports)
    gpus.emplace_back(report::Object{
        {"uuid", report.gpu.uuid}, {"outcome", name_of(report.outcome)}, {"detail", report.detail}});
  return report::Object{{"schema", "rubato.restore/1"}, {"failed", failed}, {"gpus", std::move(gpus)}};
}

void restore(Invocation& invocation) {
  if (const auto needed = needs_root(); needed && !names_simulated(invocation.gpu)) {
    refuse(invocation, *needed, 1);
    return;
  }
  const auto reports = restore_wanted(invocation.gpu);
  if (!reports) {
    refuse(invocation, reports.error(), 1);
    return;
  }
  for (const auto& gpu : left_behind())
    if (gpu.held) log::warning(Error{ErrorCode::busy, gpu.what, gpu.hint});
  const auto failed = static_cast<std::size_t>(
      std::count_if(reports->begin(), reports->end(),
                    [](const RestorationReport& report) { return report.outcome == Restoration::failed; }));
  if (failed > 0) invocation.status = 1;
  if (invocation.json) {
    fmt::print("{}", report::render_json(json(*reports, failed)));
    return;
  }
  if (invocation.quiet) return;
  if (reports->empty()) fmt::print("nothing was left behind\n");
  for (const auto& report : *reports) fmt::print("{}\n", describe(report));
}

}  // namespace

void add_restore(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("restore", "put back whatever a dead run left behind");
  add_common(*command, invocation);
  command->callback([&invocation] { restore(invocation); });
}

}  // namespace rubato::cli
