#include "agent/bootstrap.h"

#include <algorithm>

#include "base/text.h"

namespace rubato::agent {
namespace {

using Environment = std::map<std::string, std::string>;

constexpr std::int64_t kMostRanks = 1 << 20;

std::string value(const Environment& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

std::optional<std::int64_t> count(const Environment& environment, const char* name) {
  const auto number = parse_integer(value(environment, name));
  return number && *number >= 0 && *number <= kMostRanks ? number : std::nullopt;
}

std::optional<JobPlace> sensible(JobPlace place) {
  place.local_world = std::max<std::int64_t>(1, place.local_world);
  place.nodes = std::max<std::int64_t>(1, place.nodes);
  if (place.world < 2 || place.rank >= place.world || place.local_rank >= place.local_world)
    return std::nullopt;
  return place;
}

// docs.pytorch.org/docs/stable/elastic/run.html, "Environment Variables". The run id is "none" for every
// start without a rendezvous service, so address and port tell two of them apart.
std::optional<JobPlace> of_torchrun(const Environment& environment) {
  const auto rank = count(environment, "RANK");
  const auto local = count(environment, "LOCAL_RANK");
  const auto world = count(environment, "WORLD_SIZE");
  const std::string address = value(environment, "MASTER_ADDR");
  const std::string port = value(environment, "MASTER_PORT");
  if (!rank || !local || !world || address.empty() || port.empty()) return std::nullopt;
  const auto local_world = count(environment, "LOCAL_WORLD_SIZE").value_or(1);
  const auto groups = count(environment, "GROUP_WORLD_SIZE");
  const std::string run = value(environment, "TORCHELASTIC_RUN_ID");
  JobPlace place{
      .launcher = run.empty() ? "the launcher" : "torchrun",
      .job =
          cat("torch ", run, " ", address, " ", port, " ", value(environment, "TORCHELASTIC_RESTART_COUNT")),
      .rank = *rank,
      .world = *world,
      .local_rank = *local,
      .local_world = local_world,
      .nodes = groups.value_or((*world + local_world - 1) / std::max<std::int64_t>(1, local_world)),
      .host = address};
  return sensible(std::move(place));
}

// docs.open-mpi.org, "Environment variables"; the namespace is PMIx's (PMIX_NAMESPACE).
std::optional<JobPlace> of_open_mpi(const Environment& environment) {
  const auto rank = count(environment, "OMPI_COMM_WORLD_RANK");
  const auto world = count(environment, "OMPI_COMM_WORLD_SIZE");
  const auto local = count(environment, "OMPI_COMM_WORLD_LOCAL_RANK");
  const auto local_world = count(environment, "OMPI_COMM_WORLD_LOCAL_SIZE");
  std::string job = value(environment, "PMIX_NAMESPACE");
  if (job.empty()) job = value(environment, "OMPI_MCA_ess_base_jobid");
  if (!rank || !world || !local || !local_world || *local_world < 1 || job.empty()) return std::nullopt;
  return sensible({.launcher = "Open MPI",
                   .job = cat("mpi ", job),
                   .rank = *rank,
                   .world = *world,
                   .local_rank = *local,
                   .local_world = *local_world,
                   .nodes = (*world + *local_world - 1) / *local_world});
}

// slurm.schedmd.com/srun.html, "OUTPUT ENVIRONMENT VARIABLES". Task 0 runs on the first node of the step.
std::optional<JobPlace> of_srun(const Environment& environment) {
  const auto rank = count(environment, "SLURM_PROCID");
  const auto world = count(environment, "SLURM_STEP_NUM_TASKS");
  const auto local = count(environment, "SLURM_LOCALID");
  const std::string job = value(environment, "SLURM_JOB_ID");
  const std::string step = value(environment, "SLURM_STEP_ID");
  if (!rank || !world || !local || job.empty() || step.empty()) return std::nullopt;
  const auto node = count(environment, "SLURM_NODEID").value_or(0);
  std::string tasks = value(environment, "SLURM_STEP_TASKS_PER_NODE");
  if (tasks.empty()) tasks = value(environment, "SLURM_TASKS_PER_NODE");
  return sensible({.launcher = "srun",
                   .job = cat("slurm ", job, ".", step, " ", value(environment, "SLURM_RESTART_COUNT")),
                   .rank = *rank,
                   .world = *world,
                   .local_rank = *local,
                   .local_world = tasks_on_node(tasks, node).value_or(*local + 1),
                   .nodes = count(environment, "SLURM_STEP_NUM_NODES").value_or(1),
                   .host = first_host(value(environment, "SLURM_STEP_NODELIST"))});
}

}  // namespace

std::string first_host(std::string_view list) {
  const std::size_t end = list.find_first_of("[,");
  std::string host(list.substr(0, end));
  if (end == std::string_view::npos || list[end] == ',') return host;
  const std::string_view inside = list.substr(end + 1);
  host += inside.substr(0, inside.find_first_of("-,]"));
  const std::size_t close = inside.find(']');
  if (close == std::string_view::npos) return {};
  const std::string_view rest = inside.substr(close + 1);
  // More brackets: "r[1-2]n[3-4]".
  const std::size_t more = rest.find_first_of("[,");
  host += rest.substr(0, more);
  if (more != std::string_view::npos && rest[more] == '[') {
    const std::string_view second = rest.substr(more + 1);
    host += second.substr(0, second.find_first_of("-,]"));
  }
  return host;
}

std::optional<std::int64_t> tasks_on_node(std::string_view list, std::int64_t node) {
  std::int64_t seen = 0;
  for (const std::string& part : split(list, ',')) {
    const std::size_t bracket = part.find('(');
    const auto tasks = parse_integer(std::string_view(part).substr(0, bracket));
    std::optional<std::int64_t> times = 1;
    if (bracket != std::string::npos) {
      const std::string_view repeat = std::string_view(part).substr(bracket);
      if (!repeat.starts_with("(x") || !repeat.ends_with(")")) return std::nullopt;
      times = parse_integer(repeat.substr(2, repeat.size() - 3));
    }
    if (!tasks || !times || *times < 1 || *times > kMostRanks) return std::nullopt;
    seen += *times;
    if (node < seen) return tasks;
  }
  return std::nullopt;
}

std::optional<JobPlace> job_place(const Environment& environment) {
  // torchrun inside srun or mpirun: the innermost launcher counts the ranks.
  for (const auto of : {&of_torchrun, &of_open_mpi, &of_srun})
    if (auto place = of(environment)) return place;
  return std::nullopt;
}

Result<JobPlace> parse_job_place(const std::string& text) {
  const auto wrong = [&text] {
    return fail(
        ErrorCode::invalid_argument, cat("--agents ", text, " is no RANK/SIZE@HOST:PORT"),
        "as in --agents 0/2@node0:29401 on the first of two nodes and --agents 1/2@node0:29401 on the "
        "other; or auto, job, off");
  };
  const std::size_t slash = text.find('/');
  const std::size_t at = text.find('@');
  const std::size_t colon = text.rfind(':');
  if (slash == std::string::npos || at == std::string::npos || colon == std::string::npos || slash > at ||
      at + 1 >= colon)
    return wrong();
  const auto rank = parse_integer(text.substr(0, slash));
  const auto world = parse_integer(text.substr(slash + 1, at - slash - 1));
  const auto port = parse_integer(text.substr(colon + 1));
  if (!rank || !world || !port || *rank < 0 || *world < 1 || *world > kMostRanks || *rank >= *world ||
      *port < 1 || *port > 65535)
    return wrong();
  return JobPlace{.launcher = "--agents",
                  .job = cat("agents ", *world, " ", text.substr(at + 1)),
                  .rank = *rank,
                  .world = *world,
                  .local_rank = 0,
                  .local_world = 1,
                  .nodes = *world,
                  .host = text.substr(at + 1, colon - at - 1),
                  .port = static_cast<std::uint16_t>(*port)};
}

}  // namespace rubato::agent
