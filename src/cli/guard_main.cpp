// `rubato guard --backend SPEC (--socket-fd N | --connect PATH --token-stdin) [--restore] [--successor]`:
// started by guard/launch.cpp, never by hand. Opens the driver once and keeps it open for the guard's whole
// life.
#include <cstdlib>
#include <string>
#include <vector>

#include "base/runtime_folder.h"
#include "base/text.h"
#include "cli/caller.h"
#include "cli/invocation.h"
#include "cli/stale.h"
#include "device/registry.h"
#include "guard/process.h"

namespace rubato::cli {
namespace {

Result<guard::GuardOptions> prepare(const std::string& spec) {
  auto opened = device::open_backend(spec);
  if (!opened) return fail(opened.error());
  const std::shared_ptr<device::Backend> backend = std::move(*opened);
  guard::GuardOptions options;
  options.clock = backend->clock();
  options.driver_version = backend->driver_version();
  if (backend->simulated()) {
    if (runtime_folder_is_anothers()) unsetenv("XDG_RUNTIME_DIR");
    const auto folder = runtime_folder();
    if (!folder) return fail(folder.error());
    options.folder = *folder;
  } else {
    options.folder = guard::kSystemFolder;
    options.folder_mode = guard::kSystemFolderMode;
  }
  options.open = [backend](const GpuId& id) -> Result<guard::OpenedGpu> {
    auto gpu = backend->open(id);
    if (!gpu) return fail(gpu.error());
    auto control = backend->open_control(id);
    if (!control) return fail(control.error());
    return guard::OpenedGpu{std::move(*gpu), std::move(*control)};
  };
  return options;
}

}  // namespace

int guard_main(int argc, char** argv) {
  guard::ProcessOptions options;
  std::string spec;
  bool restore = false;
  const std::vector<std::string> words(argv + 2, argv + argc);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool has_value = i + 1 < words.size();
    if (words[i] == "--backend" && has_value)
      spec = words[++i];
    else if (words[i] == "--socket-fd" && has_value)
      options.socket_fd = static_cast<int>(parse_integer(words[++i]).value_or(-1));
    else if (words[i] == "--connect" && has_value)
      options.connect_path = words[++i];
    else if (words[i] == "--restore")
      restore = true;
    else if (words[i] == "--successor")
      options.successor = true;
    else if (words[i] != "--token-stdin")
      return kRefused;
  }
  if (spec.empty() || (options.socket_fd < 0 && options.connect_path.empty())) return kRefused;
  options.prepare = [spec] { return prepare(spec); };
  return restore ? guard::run_restore_process(options) : guard::run_guard_process(options);
}

}  // namespace rubato::cli
