#include "cli/guarding.h"

#include <unistd.h>

#include <cstring>

#include "base/log.h"
#include "base/runtime_folder.h"
#include "base/text.h"
#include "cli/gpus.h"
#include "guard/launch.h"
#include "guard/survival.h"

namespace rubato::cli {
namespace {

guard::LaunchOptions launch_options(std::string_view gpu_list) {
  guard::LaunchOptions options;
  options.backend_spec = backend_of(gpu_list);
  options.own_scope = !names_simulated(gpu_list);
  return options;
}

}  // namespace

std::string backend_of(std::string_view gpu_list) {
  if (!names_simulated(gpu_list)) return "nvml";
  std::string profiles;
  for (const auto& item : split(gpu_list, ',')) {
    const auto name = item.starts_with("sim:") ? item.substr(4) : item;
    profiles += (profiles.empty() ? "" : ",") + name;
  }
  return "sim:" + profiles;
}

std::map<std::string, std::string> environment_map() {
  std::map<std::string, std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const char* equals = std::strchr(*entry, '=');
    if (equals != nullptr)
      environment.emplace(std::string(*entry, static_cast<std::size_t>(equals - *entry)), equals + 1);
  }
  return environment;
}

GuardedRun start_guard(std::string_view gpu_list, const GuardChoice& choice) {
  GuardedRun run;
  guard::LaunchOptions options = launch_options(gpu_list);
  if (choice.through_sudo) {
    const auto folder = runtime_folder();
    if (!folder) {
      run.fatal = true;
      run.why_not = folder.error();
      return run;
    }
    options.sudo_folder = *folder;
    run.more_rights_than_us = true;
  }
  auto launched = guard::launch_guard(options);
  if (!launched) {
    run.why_not = launched.error();
    return run;
  }
  run.channel = std::move(launched->channel);
  run.own_scope = launched->own_scope;
  return run;
}

std::optional<Error> nothing_outlives(const device::Backend& backend, bool own_scope) {
  const std::string remedy =
      "an administrator can run the guard outside the job (rubatod, planned); --accept-unrestored sets it "
      "all the same, "
      "and a kill of everything at once may then leave the setting behind";
  if (const auto told = backend.outlives_job()) {
    if (*told) return std::nullopt;
    return Error{ErrorCode::unavailable,
                 "nothing outlives the job here (the simulated world's scenario says so)", remedy};
  }
  const auto survival = guard::survival(FsRoot{}, environment_map());
  if (survival.means == guard::Outliving::plain || (survival.means == guard::Outliving::scope && own_scope))
    return std::nullopt;
  return Error{ErrorCode::unavailable,
               cat("nothing outlives the job here: ",
                   survival.possible() ? "the guard got no systemd scope of its own" : survival.why),
               survival.hint.empty() ? remedy : survival.hint};
}

conduct::Rescue rescue_for(std::string_view gpu_list) {
  return [options = launch_options(gpu_list)] { return guard::launch_restore(options); };
}

}  // namespace rubato::cli
