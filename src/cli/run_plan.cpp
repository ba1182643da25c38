#include "cli/run_plan.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/percent.h"
#include "base/text.h"
#include "cli/rank_group.h"

namespace rubato::cli {
namespace {

constexpr double kSameBound = 1e-9;
constexpr double kSameClock = 1;  // MHz; drivers tell whole ones, and cut or round
constexpr std::uintmax_t kLargestPlan = 16 << 20;

Error in_plan(const AskedPlan& asked, const std::string& what, std::string hint) {
  return {ErrorCode::invalid_argument, cat("--plan ", asked.file, ": ", what), std::move(hint)};
}

std::string plan_again(const AskedPlan& asked) {
  return cat("make one for this GPU: rubato layers plan ", asked.plan.network, " --batch ", asked.plan.batch,
             " --gpu …");
}

/// What was typed beside --plan that sets or chooses a setting itself.
std::optional<std::string> rival_of(const WantedText& wanted, const GoverningText& governing) {
  if (wanted.power_limit_w) return "--power-limit";
  if (wanted.sm_clock_mhz) return "--sm-clock";
  if (wanted.memory_clock_mhz) return "--memory-clock";
  if (!governing.strategy.empty()) return "--strategy";
  if (!governing.knobs.empty()) return "--knobs";
  if (!governing.objective.empty()) return "--objective";
  if (!governing.power_budget.empty()) return "--power-budget";
  return std::nullopt;
}

Result<std::string> contents_of(const std::string& file) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(file, failed);
  if (failed)
    return fail(ErrorCode::not_found, cat("--plan ", file, ": ", failed.message()),
                "rubato layers plan resnet50 --batch 64 -o plan.json makes one");
  if (size > kLargestPlan)
    return fail(ErrorCode::invalid_argument,
                cat("--plan ", file, " has ", size, " bytes, and a plan has a few thousand"));
  std::ifstream in(file, std::ios::binary);
  if (!in) return fail(ErrorCode::io, cat("--plan ", file, " cannot be read"));
  return std::string(std::istreambuf_iterator<char>(in), {});
}

bool holds(const std::vector<Megahertz>& clocks, Megahertz wanted) {
  return clocks.empty() || std::any_of(clocks.begin(), clocks.end(), [&](Megahertz clock) {
           return std::abs((clock - wanted).value()) <= kSameClock;
         });
}

}  // namespace

Result<AskedPlan> read_asked_plan(const std::string& file, const WantedText& wanted,
                                  const GoverningText& governing) {
  if (const auto rival = rival_of(wanted, governing))
    return fail(ErrorCode::invalid_argument,
                cat("--plan sets the clocks itself, and ", *rival, " was given too"),
                cat("leave out --plan or ", *rival));
  const auto bound = parse_max_slowdown(governing.max_slowdown);
  if (!bound) return fail(bound.error());
  const auto text = contents_of(file);
  if (!text) return fail(text.error());
  auto plan = plan::read_layer_plan(*text);
  if (!plan) {
    Error error = plan.error();
    error.what = cat("--plan ", file, ": ", error.what);
    return fail(std::move(error));
  }
  AskedPlan asked{file, std::move(*plan), 0, Watts(governing.second.host_watts.value_or(0))};
  asked.max_slowdown = asked.plan.max_slowdown;
  if (asked.plan.at_single.time <= Seconds(0))
    return fail(in_plan(asked, "at_single.time_s is 0, and an iteration takes time", plan_again(asked)));
  if (*bound && asked.plan.max_slowdown > **bound + kSameBound)
    return fail(in_plan(asked,
                        cat("it was made for at most ", short_percent(asked.plan.max_slowdown, 2),
                            " slower, and ", short_percent(**bound, 2), " is asked for"),
                        cat("make it anew with --max-slowdown ", number(100 * **bound, 2), "%")));
  return asked;
}

Wanted wanted_by(const AskedPlan& asked, Wanted wanted) {
  wanted.setting = govern::setting_of(asked.plan.single, asked.plan.memory_clock);
  wanted.knobs = {Knob::sm_clock};
  if (asked.plan.memory_clock) wanted.knobs.push_back(Knob::memory_clock);
  return wanted;
}

Status plan_fits(const AskedPlan& asked, const OpenGpus& open) {
  const plan::LayerPlan& plan = asked.plan;
  for (const auto& gpu : open.gpus) {
    const auto& identity = gpu->identity();
    if (identity.name != plan.board)
      return fail(in_plan(asked,
                          cat("it is for ", plan.board, ", and ", identity.id.uuid, " is ", identity.name),
                          plan_again(asked)));
    if (plan.uuid && *plan.uuid != identity.id.uuid)
      return fail(in_plan(
          asked, cat("it holds switching times of ", *plan.uuid, ", and this GPU is ", identity.id.uuid),
          plan_again(asked)));
    const auto table = gpu->supported_clocks();
    if (!table) continue;  // the guard asks again, and refuses what is not inside
    std::vector<predict::Clocks> all{plan.single};
    for (const auto& phase : plan.phases) all.push_back(phase.clocks);
    for (const auto& clocks : all) {
      if (!holds(table->sm, clocks.sm))
        return fail(
            in_plan(asked, cat("SM ", clocks.sm, " is no clock of ", identity.name), plan_again(asked)));
      if (plan.memory_clock && !holds(table->memory, clocks.memory))
        return fail(in_plan(asked, cat("memory ", clocks.memory, " is no clock of ", identity.name),
                            plan_again(asked)));
    }
  }
  return {};
}

AskedPlan at_clocks_of(AskedPlan asked, const OpenGpus& open) {
  if (open.gpus.empty()) return asked;
  const auto table = open.gpus.front()->supported_clocks();
  if (!table) return asked;
  const auto nearest = [](const std::vector<Megahertz>& clocks, Megahertz& clock) {
    for (const Megahertz legal : clocks)
      if (abs(legal - clock).value() <= kSameClock) {
        clock = legal;
        return;
      }
  };
  const auto snap = [&](predict::Clocks& clocks) {
    nearest(table->sm, clocks.sm);
    nearest(table->memory, clocks.memory);
  };
  snap(asked.plan.single);
  for (auto& phase : asked.plan.phases) snap(phase.clocks);
  return asked;
}

std::string describe(const AskedPlan& asked) {
  const plan::LayerPlan& plan = asked.plan;
  const auto changes = govern::changes_in(plan);
  return cat("the plan ", asked.file, " (", plan.strategy, ") for ", plan.network, " at batch ", plan.batch,
             ", ", name_of(plan.precision), ", at most ", short_percent(asked.max_slowdown, 2),
             " slower: ", plan.phases.size(), plan.phases.size() == 1 ? " phase, " : " phases, ", changes,
             changes == 1 ? " change" : " changes", " of clocks an iteration, against ",
             describe(govern::setting_of(plan.single, plan.memory_clock)));
}

std::string why_single_only(const AskedPlan& asked, std::size_t gpus,
                            const std::map<std::string, std::string>& environment) {
  if (govern::changes_in(asked.plan) == 0) return "the plan has the same clocks all along";
  if (gpus > 1) return cat("this run has ", gpus, " GPUs, which wait for each other, and a plan is for one");
  if (const auto group = rank_group(environment))
    return cat("this is local rank ", group->local_rank, " of ", group->launcher,
               ": ranks wait for each other, and a plan is for one GPU");
  for (const char* variable : {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"}) {
    const auto found = environment.find(variable);
    if (found == environment.end()) continue;
    if (const auto ranks = parse_integer(found->second); ranks && *ranks > 1)
      return cat(variable, " says ", *ranks, " ranks, which wait for each other, and a plan is for one GPU");
  }
  return {};
}

std::unique_ptr<govern::Strategy> plan_strategy(const AskedPlan& asked, std::string never,
                                                bool found_clock_stated, std::uint64_t seed) {
  govern::PlanOptions options{
      .plan = asked.plan, .rules = {}, .found_clock_stated = found_clock_stated, .never = std::move(never)};
  options.rules.max_slowdown = asked.max_slowdown;
  options.rules.host = asked.host;
  return std::make_unique<govern::PlanStrategy>(std::move(options), Random(seed));
}

govern::SwitchLimits limits_of(const plan::LayerPlan& plan) {
  return {.dwell = plan.dwell};
}

std::string kernel_cycle_for(const plan::LayerPlan& plan) {
  const double on = std::max(1.0, std::ceil(3 * plan.at_single.time.value()));
  return cat(number(1000 * on, 0), "ms/", number(1000 * on + 100, 0), "ms");
}

}  // namespace rubato::cli
