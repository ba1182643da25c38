// Suites whose jobs do the same from beginning to end.
#include <algorithm>

#include "base/fnv1a.h"
#include "base/random.h"
#include "lab/suites/board_job.h"
#include "lab/suites/network.h"
#include "lab/suites/server_training.h"
#include "lab/suites/suite_table.h"

namespace rubato::lab {
namespace {

Jobs jobs_on(std::string_view name, const std::vector<Training>& trainings, double loader,
             std::span<const Knob> knobs) {
  const auto board = device::sim::find_profile(name);
  if (!board) return fail(board.error());
  const auto space = space_of(**board, knobs);
  if (!space) return fail(space.error());
  std::vector<Job> jobs;
  for (const Training& training : trainings) {
    Job job = empty_job(*space);
    job.name = name_of(training);
    job.group = training.network->family;
    const Derived derived = derive(training, **board, loader);
    job.programs.push_back(truth_of(**board, job, derived, steps_per_iteration(derived)));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace

Training on_server(Training training, const device::sim::Profile& board) {
  constexpr std::uint64_t kTableBytes = 16ULL << 30U;
  training.batch *= static_cast<unsigned>(std::max<std::uint64_t>(1, board.memory_bytes / kTableBytes));
  return training;
}

Jobs desktop_suite(std::span<const Knob> knobs) {
  return jobs_on("rtx3080ti", desktop_trainings(), kDesktopLoader, knobs);
}

Jobs server_suite(std::string_view board, std::span<const Knob> knobs) {
  const auto profile = device::sim::find_profile(board);
  if (!profile) return fail(profile.error());
  std::vector<Training> trainings;
  for (const Training& one : server_trainings()) trainings.push_back(on_server(one, **profile));
  return jobs_on(board, trainings, kServerLoader, knobs);
}

Jobs uneven_boards_suite(std::span<const Knob> knobs) {
  constexpr std::size_t kBoards = 8;
  constexpr double kSpread = 0.04;
  Jobs jobs = server_suite("a100-sxm", knobs);
  if (!jobs) return jobs;
  for (Job& job : *jobs) {
    Random random(fnv1a(job.name));
    job.board_efficiency.clear();
    for (std::size_t i = 0; i < kBoards; ++i)
      job.board_efficiency.push_back(random.uniform(1 - kSpread, 1 + kSpread));
  }
  return jobs;
}

}  // namespace rubato::lab
