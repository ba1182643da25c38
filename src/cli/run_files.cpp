#include "cli/run_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <random>

#include "base/fs_root.h"
#include "base/log.h"
#include "base/runtime_folder.h"
#include "base/text.h"
#include "cli/version.h"

namespace rubato::cli {
namespace {

std::string wall_time(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::string text(64, '\0');
  text.resize(std::strftime(text.data(), text.size(), format, &local));
  return text;
}

}  // namespace

std::string new_run_id() {
  std::random_device entropy;
  return cat(wall_time("%Y%m%d-%H%M%S"), "-", hex(entropy() & 0xffffU, 4));
}

record::RunInfo describe_run(std::string mode, const std::vector<std::string>& command) {
  record::RunInfo run;
  run.run_id = new_run_id();
  run.mode = std::move(mode);
  run.command = command;
  std::error_code ignored;
  run.working_directory = std::filesystem::current_path(ignored).string();
  std::string host(256, '\0');
  if (gethostname(host.data(), host.size() - 1) == 0) run.host = host.c_str();
  run.rubato_version = kVersion;
  if (const auto boot = FsRoot().read("/proc/sys/kernel/random/boot_id")) run.boot_id = trim(*boot);
  run.started_at = wall_time("%Y-%m-%dT%H:%M:%S%z");
  return run;
}

std::unique_ptr<record::Writer> open_record(const record::RunInfo& run) {
  const auto home = record::default_directory();
  auto writer = home ? record::Writer::create(*home, run) : Result<std::unique_ptr<record::Writer>>(fail(home.error()));
  if (writer) return std::move(*writer);

  const Error first = writer.error();
  if (const auto folder = runtime_folder()) {
    if (auto second = record::Writer::create(*folder / "runs", run)) {
      log::warning(Error{first.code, cat(first.what, "; this run's record goes to ", (*folder / "runs").string(), " instead"),
                         cat("`rubato show ", (*folder / "runs" / (run.run_id + ".sqlite")).string(), "` reads it; it may be gone after a reboot")});
      return std::move(*second);
    }
  }
  log::warning(Error{first.code, cat(first.what, "; the run goes on without a record"), first.hint});
  return nullptr;
}

Result<MarkFolder> MarkFolder::create(const std::string& run_id) {
  const auto folder = runtime_folder();
  if (!folder) return fail(folder.error());
  const auto path = *folder / ("marks-" + run_id);
  if (mkdir(path.c_str(), 0700) != 0) return fail(from_errno(errno, cat("cannot make ", path.string())));
  return MarkFolder(path);
}

MarkFolder::~MarkFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace rubato::cli
