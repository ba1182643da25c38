#include "guard/survival.h"

#include <array>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace rubato::guard {
namespace {

using Names = std::pair<std::string_view, std::string_view>;  // what shows it, what it is

constexpr std::array<Names, 4> kSchedulerVariables = {
    {{"SLURM_JOB_ID", "Slurm"}, {"PBS_JOBID", "PBS"}, {"LSB_JOBID", "LSF"}, {"FLUX_JOB_ID", "Flux"}}};
constexpr std::array<Names, 4> kSchedulerCgroups = {
    {{"slurm", "Slurm"}, {"pbs", "PBS"}, {"lsf", "LSF"}, {"htcondor", "HTCondor"}}};
constexpr std::array<Names, 5> kContainerCgroups = {{{"kubepods", "Kubernetes"},
                                                     {"docker", "Docker"},
                                                     {"libpod", "Podman"},
                                                     {"containerd", "containerd"},
                                                     {"lxc", "LXC"}}};
constexpr std::array<Names, 2> kContainerFiles = {
    {{"/.dockerenv", "Docker"}, {"/run/.containerenv", "Podman"}}};

/// Part of the cgroup path of this process, on word borders: "docker-1f.scope" is one, "mydockers" is none.
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0;
    const std::size_t end = at + word.size();
    const bool ends = end == text.size() || std::isalpha(static_cast<unsigned char>(text[end])) == 0;
    if (begins && ends) return true;
  }
  return false;
}

template <std::size_t N>
std::optional<std::string_view> name_in(const std::array<Names, N>& known, std::string_view text) {
  for (const auto& [word, name] : known) {
    if (has_word(text, word)) return name;
  }
  return std::nullopt;
}

/// slurmd itself is a service of that name on every compute node: only its job steps count.
std::optional<std::string_view> scheduler_cgroup(std::string_view cgroups) {
  if (cgroups.find("slurm") != std::string_view::npos && cgroups.find("job_") != std::string_view::npos)
    return "Slurm";
  return name_in(kSchedulerCgroups, cgroups);
}

std::optional<std::string_view> scheduler(const std::map<std::string, std::string>& environment,
                                          std::string_view cgroups) {
  for (const auto& [variable, name] : kSchedulerVariables) {
    if (environment.contains(std::string(variable))) return name;
  }
  // JOB_ID alone is anybody's variable; with SGE's own it is a Grid Engine job.
  if (environment.contains("JOB_ID") && environment.contains("SGE_ROOT")) return "Grid Engine";
  return scheduler_cgroup(cgroups);
}

std::optional<std::string_view> container(const FsRoot& root,
                                          const std::map<std::string, std::string>& environment,
                                          std::string_view cgroups) {
  for (const auto& [file, name] : kContainerFiles) {
    if (root.exists(file)) return name;
  }
  if (environment.contains("KUBERNETES_SERVICE_HOST")) return "Kubernetes";
  // Set for the first process of systemd-nspawn, Podman and LXC containers, and inherited from there.
  if (environment.contains("container")) return "container";
  return name_in(kContainerCgroups, cgroups);
}

Survival judge(const FsRoot& root, std::string_view scheduler, std::string_view container) {
  if (!scheduler.empty()) {
    return {Outliving::none, cat("this is a ", scheduler, " job: everything in it ends with it"),
            "run rubato outside the scheduler, or accept that a killed job leaves the GPU changed: "
            "--accept-unrestored"};
  }
  if (!container.empty()) {
    return {Outliving::none,
            cat("this is a ", container, container == "container" ? "" : " container",
                ": everything in it ends with its first process"),
            "run rubato on the host, or accept that a killed container leaves the GPU changed: "
            "--accept-unrestored"};
  }
  if (root.exists("/run/systemd/system")) {
    return {Outliving::scope, "systemd runs this machine: the guard gets a scope of its own", {}};
  }
  return {Outliving::plain, "nothing on this machine ends a process with its session", {}};
}

}  // namespace

Survival survival(const FsRoot& root, const std::map<std::string, std::string>& environment) {
  const std::string cgroups = root.read("/proc/self/cgroup").value_or("");
  const std::string scheduler_name(scheduler(environment, cgroups).value_or(""));
  const std::string container_name(container(root, environment, cgroups).value_or(""));
  Survival answer = judge(root, scheduler_name, container_name);
  answer.scheduler = scheduler_name;
  answer.container = container_name;
  return answer;
}

// Field 5 of a line of mountinfo is where it is mounted (proc(5)).
bool is_lent_by_host(const FsRoot& root, const std::filesystem::path& folder) {
  const auto mounts = root.read("/proc/self/mountinfo");
  if (!mounts) return false;
  for (const auto& line : split(*mounts, '\n')) {
    const auto fields = split(line, ' ');
    if (fields.size() > 4 && fields[4] == folder.string()) return true;
  }
  return false;
}

}  // namespace rubato::guard
