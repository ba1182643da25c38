#include "cli/guarding.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "base/log.h"
#include "base/runtime_folder.h"
#include "base/text.h"
#include "cli/caller.h"
#include "cli/gpus.h"
#include "cli/managed.h"
#include "guard/files.h"
#include "guard/launch.h"
#include "guard/survival.h"

namespace rubato::cli {
namespace {

Result<guard::LaunchOptions> launch_options(std::string_view gpu_list) {
  const auto spec = backend_spec(gpu_list);
  if (!spec) return fail(spec.error());
  guard::LaunchOptions options;
  options.backend_spec = *spec;
  options.own_scope = !names_simulated(gpu_list);
  return options;
}

GuardedRun managed_by(wire::Greeted manager, const GuardChoice& choice) {
  if (choice.through_sudo) log::info(cat(manager.welcome.server, " sets these GPUs: --sudo changes nothing"));
  GuardedRun run;
  run.observes = manager.welcome.mode == wire::kObserve;
  if (run.observes)
    log::info(cat(manager.welcome.server,
                  " only observes here: nothing will be set, and its log says what would be"));
  run.channel = std::move(manager.channel);
  run.managed = true;
  run.more_rights_than_us = true;
  return run;
}

std::filesystem::path journal_folder(const device::Backend& backend) {
  if (!backend.simulated()) return guard::kSystemFolder;
  const auto folder = runtime_folder();
  return folder ? *folder : std::filesystem::path();
}

}  // namespace

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
  if (auto manager = manager_of(gpu_list); !manager) {
    run.why_not = manager.error();
    return run;
  } else if (*manager) {
    return managed_by(std::move(**manager), choice);
  }
  auto options = launch_options(gpu_list);
  if (!options) {
    run.fatal = true;
    run.why_not = options.error();
    return run;
  }
  if (choice.through_sudo) {
    const auto folder = runtime_folder();
    if (!folder) {
      run.fatal = true;
      run.why_not = folder.error();
      return run;
    }
    options->sudo_folder = *folder;
    run.more_rights_than_us = true;
  }
  // Under `sudo rubato` this process gives up its rights later.
  const auto caller = caller_behind_sudo();
  options->successor = choice.through_sudo || (caller && *caller);
  auto launched = guard::launch_guard(*options);
  if (!launched) {
    run.why_not = launched.error();
    return run;
  }
  run.channel = std::move(launched->channel);
  run.own_scope = launched->own_scope;
  return run;
}

Error only_observes() {
  return {ErrorCode::unavailable,
          "rubatod only observes on this machine, and an experiment needs its settings",
          "mode = \"manage\" in rubatod's configuration, by an administrator"};
}

std::optional<Error> nothing_outlives(const device::Backend& backend, std::optional<bool> own_scope) {
  const std::string remedy =
      "--accept-unrestored sets it all the same; a kill of everything at once may then leave the setting "
      "behind";
  const auto survival = guard::survival(FsRoot{}, environment_map());
  if (const auto told = backend.outlives_job()) {
    if (*told) return std::nullopt;
    return Error{ErrorCode::unavailable,
                 cat("nothing outlives the job here: ",
                     survival.possible() ? "the simulated world's scenario says so" : survival.why),
                 survival.possible() ? remedy : survival.hint};
  }
  const bool scope = own_scope.value_or(true);
  if (survival.means == guard::Outliving::plain || (survival.means == guard::Outliving::scope && scope))
    return std::nullopt;
  return Error{ErrorCode::unavailable,
               cat("nothing outlives the job here: ",
                   survival.possible() ? "the guard got no systemd scope of its own" : survival.why),
               survival.hint.empty() ? remedy : survival.hint};
}

std::string after_a_kill(const device::Backend& backend) {
  const auto folder = journal_folder(backend);
  if (guard::is_lent_by_host(FsRoot{}, folder))
    return cat("the next rubato that sees ", folder.string(), ", which the host lends, puts it back");
  return cat("nothing can put it back once ", folder.string(),
             " is gone; until then the next rubato that sees that folder does");
}

conduct::Rescue rescue_for(std::string_view gpu_list, bool managed) {
  conduct::Rescue by_guard = [options =
                                  launch_options(gpu_list)]() -> Result<std::vector<RestorationReport>> {
    if (!options) return fail(options.error());
    return guard::launch_restore(*options);
  };
  return managed ? rescue_by_manager(gpu_list, std::move(by_guard)) : by_guard;
}

}  // namespace rubato::cli
