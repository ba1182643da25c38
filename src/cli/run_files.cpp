#include "cli/run_files.h"

#include <unistd.h>

#include <array>
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

struct WallTime {
  std::string compact;   // "20261121-081500-123": runs of one second still sort by their start
  std::string iso_8601;  // "2026-11-21T08:15:00.123+0000"
};

WallTime wall_time() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::tm local{};
  localtime_r(&now.tv_sec, &local);
  const auto formatted = [&local](const char* format) {
    std::string text(64, '\0');
    text.resize(std::strftime(text.data(), text.size(), format, &local));
    return text;
  };
  std::string milliseconds = std::to_string(now.tv_nsec / 1'000'000);
  milliseconds.insert(0, 3 - milliseconds.size(), '0');
  return {cat(formatted("%Y%m%d-%H%M%S-"), milliseconds),
          cat(formatted("%Y-%m-%dT%H:%M:%S."), milliseconds, formatted("%z"))};
}

}  // namespace

record::RunInfo describe_run(std::string mode, const std::vector<std::string>& command) {
  record::RunInfo run;
  const WallTime started = wall_time();
  std::random_device entropy;
  run.run_id = cat(started.compact, "-", hex(entropy() & 0xffffU, 4));
  run.started_at = started.iso_8601;
  run.mode = std::move(mode);
  run.command = command;
  std::error_code ignored;
  run.working_directory = std::filesystem::current_path(ignored).string();
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) run.host = host.data();
  run.rubato_version = kVersion;
  if (const auto boot = FsRoot().read("/proc/sys/kernel/random/boot_id")) run.boot_id = trim(*boot);
  return run;
}

std::unique_ptr<record::Writer> open_record(const record::RunInfo& run) {
  const auto home = record::default_directory();
  auto writer =
      home ? record::Writer::create(*home, run) : Result<std::unique_ptr<record::Writer>>(fail(home.error()));
  if (writer) return std::move(*writer);

  const Error first = writer.error();
  if (const auto folder = runtime_folder()) {
    if (auto second = record::Writer::create(*folder / "runs", run)) {
      log::warning(
          Error{first.code,
                cat(first.what, "; this run's record goes to ", (*folder / "runs").string(), " instead"),
                cat("`rubato show ", (*folder / "runs" / (run.run_id + ".sqlite")).string(),
                    "` reads it; it may be gone after a reboot")});
      return std::move(*second);
    }
  }
  log::warning(Error{first.code, cat(first.what, "; the run goes on without a record"), first.hint});
  return nullptr;
}

Result<MarkFolder> MarkFolder::create(const std::string& run_id) {
  const auto folder = runtime_folder();
  if (!folder) return fail(folder.error());
  conduct::sweep_mark_folders(*folder);
  auto made = conduct::MarkFolder::create(*folder, run_id);
  if (!made) return fail(made.error());
  return MarkFolder(std::move(*made));
}

}  // namespace rubato::cli
