#include "cli/rank_group.h"

#include <filesystem>
#include <set>

#include "base/text.h"

namespace rubato::cli {
namespace {

using Environment = std::map<std::string, std::string>;

std::string value(const Environment& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

std::optional<std::int64_t> integer(const Environment& environment, const char* name) {
  return parse_integer(value(environment, name));
}

bool alone(std::optional<std::int64_t> size) {
  return size && *size <= 1;
}

// docs.pytorch.org/docs/stable/elastic/run.html, "Environment Variables". The run id is "none" for every
// single-node start, so the rendezvous port is what tells two of them apart.
std::optional<RankGroup> of_torchrun(const Environment& environment) {
  const auto rank = integer(environment, "LOCAL_RANK");
  const std::string run = value(environment, "TORCHELASTIC_RUN_ID");
  if (!rank || run.empty() || alone(integer(environment, "LOCAL_WORLD_SIZE"))) return std::nullopt;
  return RankGroup{
      "torchrun",
      cat("torchrun ", run, " ", value(environment, "MASTER_ADDR"), " ", value(environment, "MASTER_PORT")),
      *rank};
}

std::optional<RankGroup> of_open_mpi(const Environment& environment) {
  const auto rank = integer(environment, "OMPI_COMM_WORLD_LOCAL_RANK");
  std::string job = value(environment, "PMIX_NAMESPACE");
  if (job.empty()) job = value(environment, "OMPI_MCA_ess_base_jobid");
  if (!rank || job.empty() || alone(integer(environment, "OMPI_COMM_WORLD_LOCAL_SIZE"))) return std::nullopt;
  return RankGroup{"Open MPI", cat("mpi ", job), *rank};
}

// srun sets the number of tasks for the processes of a step; a batch script has a local id too, but no step
// of several tasks.
std::optional<RankGroup> of_srun(const Environment& environment) {
  const auto rank = integer(environment, "SLURM_LOCALID");
  const std::string job = value(environment, "SLURM_JOB_ID");
  const std::string step = value(environment, "SLURM_STEP_ID");
  const auto tasks = integer(environment, "SLURM_STEP_NUM_TASKS");
  if (!rank || job.empty() || step.empty() || !tasks || alone(tasks)) return std::nullopt;
  return RankGroup{"srun", cat("slurm ", job, ".", step), *rank};
}

std::optional<RankGroup> of_rendezvous(const Environment& environment) {
  const auto rank = integer(environment, "LOCAL_RANK");
  const std::string address = value(environment, "MASTER_ADDR");
  const std::string port = value(environment, "MASTER_PORT");
  auto size = integer(environment, "LOCAL_WORLD_SIZE");
  if (!size) size = integer(environment, "WORLD_SIZE");
  if (!rank || address.empty() || port.empty() || !size || alone(size)) return std::nullopt;
  return RankGroup{"the launcher", cat("rendezvous ", address, " ", port), *rank};
}

}  // namespace

std::optional<RankGroup> rank_group(const Environment& environment) {
  for (const auto of : {&of_torchrun, &of_open_mpi, &of_srun, &of_rendezvous})
    if (auto group = of(environment)) return group;
  return std::nullopt;
}

std::optional<RankGroup> rank_group_of(const std::vector<std::string>& entries) {
  Environment environment;
  for (const auto& entry : entries)
    if (const auto equals = entry.find('='); equals != std::string::npos)
      environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  return rank_group(environment);
}

std::size_t other_ranks_alive(const RankGroup& group, const FsRoot& root) {
  std::set<std::int64_t> ranks;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(root.path("/proc"), ignored)) {
    if (!parse_integer(entry.path().filename().string())) continue;
    const auto environment = read_small_file(entry.path() / "environ");
    if (!environment) continue;
    const auto of = rank_group_of(split(*environment, '\0'));
    if (of && of->key == group.key && of->local_rank != group.local_rank) ranks.insert(of->local_rank);
  }
  return ranks.size();
}

}  // namespace rubato::cli
