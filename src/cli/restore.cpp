#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/gpus.h"
#include "cli/guarding.h"
#include "cli/invocation.h"
#include "cli/stale.h"
#include "guard/launch.h"
#include "guard/stale.h"

namespace rubato::cli {
namespace {

// Root's journals need root; said before anything else, so that "nothing to restore" is never a wrong answer.
bool needs_root() {
  if (geteuid() == 0) return false;
  const auto left = guard::journals_in(guard::kSystemFolder);
  return left && !left->empty();
}

void restore(Invocation& invocation) {
  if (needs_root() && !names_simulated(invocation.gpu)) {
    refuse(invocation,
           Error{ErrorCode::no_permission, cat("journals in ", guard::kSystemFolder, " belong to root"),
                 "sudo rubato restore"},
           1);
    return;
  }
  guard::LaunchOptions options;
  options.backend_spec = backend_of(invocation.gpu);
  options.own_scope = false;
  const auto reports = guard::launch_restore(options);
  if (!reports) {
    refuse(invocation, reports.error(), 1);
    return;
  }
  if (reports->empty() && !invocation.quiet) fmt::print("nothing was left behind\n");
  for (const auto& report : *reports) {
    if (!invocation.quiet) fmt::print("{}\n", describe(report));
    if (report.outcome == Restoration::failed) invocation.status = 1;
  }
}

}  // namespace

void add_restore(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("restore", "put back whatever a dead run left behind");
  add_common(*command, invocation);
  command->callback([&invocation] { restore(invocation); });
}

}  // namespace rubato::cli
