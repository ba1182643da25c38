#include "node.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "energy_line.h"
#include "wire/connect.h"

namespace rubato::slurm {
namespace {

namespace fs = std::filesystem;

std::string value(const std::map<std::string, std::string>& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

std::map<std::string, std::string> environment_map() {
  std::map<std::string, std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (const char* equals = std::strchr(*entry, '='); equals != nullptr)
      environment.emplace(std::string(*entry, static_cast<std::size_t>(equals - *entry)), equals + 1);
  return environment;
}

/// Its exit status; nothing where it did not start or was killed.
std::optional<int> run(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t child = 0;
  if (::posix_spawnp(&child, pointers.front(), nullptr, nullptr, pointers.data(), environ) != 0)
    return std::nullopt;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return std::nullopt;
  return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
}

/// "Device Minor: 	 3" → 3. Nothing where the file has no such line.
std::string line_of(const std::string& information, std::string_view key) {
  for (const std::string& line : split(information, '\n'))
    if (line.starts_with(key)) return std::string(trim(std::string_view(line).substr(key.size())));
  return {};
}

/// Of the driver: docs of the NVIDIA driver's README, "/proc/driver/nvidia/gpus/BUS_ID/information".
std::map<unsigned, std::string> uuids_by_minor(const FsRoot& root) {
  std::map<unsigned, std::string> uuids;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root.path("/proc/driver/nvidia/gpus"), ignored)) {
    const auto information = read_small_file(entry.path() / "information");
    if (!information) continue;
    const auto minor = parse_integer(line_of(*information, "Device Minor:"));
    const std::string uuid = line_of(*information, "GPU UUID:");
    if (minor && *minor >= 0 && uuid.starts_with("GPU-")) uuids.emplace(static_cast<unsigned>(*minor), uuid);
  }
  return uuids;
}

void drain(const std::string& node, const std::string& why) {
  if (node.empty()) return;
  if (run({"scontrol", "update", "nodename=" + node, "state=drain", "reason=rubato: " + why}) != 0)
    log::error(Error{ErrorCode::unavailable, "scontrol cannot drain this node",
                     "scontrol update nodename=… state=drain"});
}

/// Where no rubatod runs: whatever a journal still says is put back by a process of its own.
std::string put_back_without_rubatod(const fs::path& journals) {
  bool any = false;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(journals, ignored)) {
    const std::string name = entry.path().filename().string();
    any = any || (name.starts_with("GPU-") && entry.path().extension().empty());
  }
  if (!any) return {};
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path beside = self.parent_path().parent_path().parent_path() / "bin" / "rubatod";
  const std::string program = !error && ::access(beside.c_str(), X_OK) == 0 ? beside.string() : "rubatod";
  if (run({program, "--restore-only"}) == 0) return {};
  return "no rubatod runs, and rubatod --restore-only cannot put back what a journal says";
}

/// Empty where every GPU is as it was found.
std::string not_restored(const wire::Cleared& cleared) {
  std::string why;
  for (const wire::ClearedGpu& gpu : cleared.gpus)
    if (gpu.report.outcome == Restoration::failed)
      why += cat(why.empty() ? "" : "; ", gpu.report.gpu.uuid, " is not restored: ", gpu.report.detail);
  return why;
}

void tell(const wire::Cleared& cleared) {
  for (const wire::ClearedGpu& gpu : cleared.gpus)
    if (gpu.report.outcome != Restoration::not_needed)
      log::info(cat(gpu.report.gpu.uuid, ": ", name_of(gpu.report.outcome), ": ", gpu.report.detail));
}

wire::Body message_for(Moment moment, const Job& job, std::vector<GpuId> gpus) {
  if (moment == Moment::prolog) return wire::JobBegin{job.id, job.user, std::move(gpus)};
  if (moment == Moment::epilog) return wire::JobEnd{job.id, std::move(gpus)};
  return wire::JobEnd{std::nullopt, std::move(gpus)};
}

/// Why this node must not get another job; empty where it may.
std::string settle(Moment moment, const Job& job, const NodeOptions& options) {
  auto daemon = wire::greet_daemon(options.socket, cat("rubato-slurm, process ", ::getpid()));
  if (!daemon && daemon.error().code == ErrorCode::not_found)
    return put_back_without_rubatod(options.journals);
  if (!daemon) return daemon.error().what;
  std::vector<GpuId> gpus;
  if (moment == Moment::clear || options.whole_node)
    for (const wire::ManagedGpu& gpu : daemon->status.gpus) gpus.push_back(gpu.gpu);
  else
    gpus = uuids_of(job.gpus, daemon->status, {});
  if (gpus.empty()) return {};
  const auto cleared = wire::tell_of_job(*daemon, message_for(moment, job, std::move(gpus)));
  if (!cleared) return cleared.error().what;
  tell(*cleared);
  if (moment == Moment::epilog && !options.energy_file.empty())
    if (const Status kept = append_energy(options.energy_file, job, *cleared); !kept)
      log::warning(kept.error());
  return not_restored(*cleared);
}

}  // namespace

std::optional<std::vector<unsigned>> parse_numbers(std::string_view text) {
  constexpr std::int64_t kMost = 255;  // minors of a character device of the driver
  std::vector<unsigned> numbers;
  for (const std::string& part : split(text, ',')) {
    const auto dash = part.find('-');
    const auto first = parse_integer(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_integer(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last > kMost || *first > *last) return std::nullopt;
    for (std::int64_t number = *first; number <= *last; ++number)
      numbers.push_back(static_cast<unsigned>(number));
  }
  return numbers;
}

Result<Job> job_of(const std::map<std::string, std::string>& environment) {
  const auto id = parse_integer(value(environment, "SLURM_JOB_ID"));
  const auto user = parse_integer(value(environment, "SLURM_JOB_UID"));
  if (!id || *id <= 0 || !user || *user < 0)
    return fail(ErrorCode::invalid_argument, "SLURM_JOB_ID and SLURM_JOB_UID are not set",
                "Slurm starts this as Prolog or Epilog (docs/slurm.md)");
  Job job{*id, *user, value(environment, "SLURMD_NODENAME"), {}};
  const std::string gpus = value(environment, "SLURM_JOB_GPUS");
  if (gpus.empty()) return job;
  auto numbers = parse_numbers(gpus);
  if (!numbers)
    return fail(ErrorCode::invalid_argument, cat("SLURM_JOB_GPUS=", gpus, " is no list of numbers"), {});
  job.gpus = std::move(*numbers);
  return job;
}

std::vector<GpuId> uuids_of(const std::vector<unsigned>& numbers, const wire::StatusReply& status,
                            const FsRoot& root) {
  const auto by_minor = uuids_by_minor(root);
  std::vector<GpuId> uuids;
  for (const unsigned number : numbers) {
    const auto known = by_minor.find(number);
    const auto managed =
        std::find_if(status.gpus.begin(), status.gpus.end(), [&](const wire::ManagedGpu& gpu) {
          return known != by_minor.end() ? gpu.gpu.uuid == known->second
                                         : by_minor.empty() && gpu.index == number;
        });
    if (managed != status.gpus.end()) uuids.push_back(managed->gpu);
  }
  return uuids;
}

int at(Moment moment, const NodeOptions& options) {
  Job job;
  if (moment != Moment::clear) {
    auto told = job_of(environment_map());
    if (!told) {
      log::error(told.error());
      return 2;
    }
    job = std::move(*told);
    if (job.gpus.empty() && !options.whole_node) return 0;
  } else {
    job.node = value(environment_map(), "SLURMD_NODENAME");
  }
  const std::string why = settle(moment, job, options);
  if (why.empty()) return 0;
  log::error(Error{ErrorCode::conflict, why, "rubato doctor, on this node"});
  if (options.drain) drain(job.node, why);
  return 1;
}

}  // namespace rubato::slurm
