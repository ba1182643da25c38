#include "cli/words/completion.h"

#include <fmt/format.h>

#include "cli/invocation.h"
#include "device/sim/profile.h"
#include "device/sim/work.h"

namespace rubato::cli {

void add_completion(CLI::App& app, Invocation& /*invocation*/) {
  auto* command = app.add_subcommand("completion", "a completion script for your shell");
  static std::string shell;
  command->add_option("shell", shell, "which shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&app] {
    KnownValues known;
    for (const auto& profile : device::sim::list_profiles())
      known.profiles.push_back(profile.alias.empty() ? profile.name : profile.alias);
    for (const auto& workload : device::sim::list_workloads()) known.workloads.push_back(workload.name);
    const auto make = shell == "bash"  ? &bash_completion
                      : shell == "zsh" ? &zsh_completion
                                       : &fish_completion;
    fmt::print("{}", make(app, known));
  });
}

}  // namespace rubato::cli
