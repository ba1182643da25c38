#include "cli/stale.h"

#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "base/runtime_folder.h"
#include "base/text.h"
#include "cli/caller.h"
#include "cli/gpus.h"
#include "cli/left_behind.h"
#include "guard/launch.h"
#include "guard/stale.h"

namespace rubato::cli {

std::vector<std::filesystem::path> journal_folders() {
  std::vector<std::filesystem::path> folders = {guard::kSystemFolder};
  if (runtime_folder_is_anothers()) return folders;
  if (const auto own = runtime_folder()) folders.push_back(*own);
  return folders;
}

std::string describe(const RestorationReport& report) {
  return cat(report.gpu.uuid, ": ", name_of(report.outcome), report.detail.empty() ? "" : ": ",
             report.detail);
}

void put_back_stale(std::string_view gpu_list) {
  const auto lie_there = [](bool held_too) {
    const auto folders = journal_folders();
    return std::any_of(folders.begin(), folders.end(), [held_too](const auto& folder) {
      if (folder == guard::kSystemFolder && geteuid() != 0) return false;  // `rubato doctor` names them
      const auto left = guard::journals_in(folder);
      return left && std::any_of(left->begin(), left->end(), [&](const GpuId& gpu) {
               return held_too || !held_by_a_guard(folder, gpu.uuid).value_or(false);
             });
    });
  };
  // Also where a guard seems to hold them: one that was just killed does until it is gone.
  if (!lie_there(true)) return;
  const auto spec = backend_spec(gpu_list);
  if (!spec) return;  // opening the GPUs says what is wrong with the list
  guard::LaunchOptions options;
  options.backend_spec = *spec;
  options.own_scope = false;
  const auto reports = guard::launch_restore(options);
  if (!reports) {
    // What a living run holds was not left behind.
    if (!lie_there(false)) return;
    log::warning(Error{reports.error().code,
                       cat("what an earlier run left behind could not be put back: ", reports.error().what),
                       "rubato restore"});
    return;
  }
  for (const auto& report : *reports) {
    if (report.outcome == Restoration::restored)
      log::info(cat("left behind by an earlier run, now put back: ", describe(report)));
    else if (report.outcome == Restoration::failed && names_simulated(gpu_list))
      log::debug(describe(report));  // most likely of another simulated world; `rubato doctor` says which
    else if (report.outcome != Restoration::not_needed)
      log::warning(Error{ErrorCode::conflict, cat("left behind by an earlier run: ", describe(report)),
                         "rubato restore"});
  }
}

}  // namespace rubato::cli
