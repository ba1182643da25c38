#include <fmt/format.h>

#include <ctime>

#include "base/log.h"
#include "base/text.h"
#include "cli/caller.h"
#include "cli/invocation.h"
#include "cli/latency_conductor.h"
#include "cli/latency_report.h"
#include "cli/run.h"
#include "cli/scratch_world.h"
#include "cli/stale.h"
#include "experiment/calibrate/benchmarks.h"

namespace rubato::cli {
namespace {

// A world of its own, at this many simulated seconds a second: faster, and readings lie too far apart.
constexpr double kSimulatedRate = 10;

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[11];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d", &utc)};
}

/// What is asked for is looked at before anything is set.
Status check_words(const Invocation& invocation, const LatencyOptions& options) {
  if (invocation.separated)
    return fail(ErrorCode::invalid_argument, "latency runs a kernel of its own and no command",
                "rubato latency --gpu 0");
  if (const auto found = parse_wanted({{}, {}, {}, options.found_sm_clock}); !found)
    return fail(found.error());
  const auto load = experiment::find_benchmark(options.load);
  if (!load) return fail(load.error());
  return {};
}

Status check_gpus(const OpenGpus& open, const LatencyOptions& options, const std::optional<bool>& own_scope) {
  if (open.gpus.size() != 1)
    return fail(ErrorCode::invalid_argument,
                cat("one GPU is timed at a time, ", open.gpus.size(), " are chosen"),
                "rubato latency --gpu 0");
  device::Gpu& gpu = *open.gpus.front();
  if (gpu.kind() != Kind::measured && gpu.kind() != Kind::modelled)
    return fail(ErrorCode::not_supported,
                "a replayed GPU has no clocks that change: its table is all it knows",
                "rubato latency --gpu sim:rtxa4000");
  const auto benchmark = experiment::find_benchmark(options.load);
  if (gpu.kind() == Kind::modelled && benchmark && !(*benchmark)->simulated)
    return fail(ErrorCode::not_supported, cat("the simulated GPU has no load ", options.load), "--load fp32");
  if (options.dry_run) return {};
  const auto others = gpu.compute_processes();
  if (!others) return fail(others.error());
  if (!others->empty())
    return fail(ErrorCode::busy,
                cat(gpu.identity().id.uuid, ": process ", others->front().pid, " computes on it"),
                "rubato latency needs the GPU for itself");
  const auto here = latency_target(gpu, options.memory_clocks);
  if (!here) return fail(here.error());
  Wanted wanted{.setting = {.sm_clock = ClockRange{here->at.sm, here->at.sm}}};
  if (options.memory_clocks) wanted.setting.memory_clock = ClockRange{here->at.memory, here->at.memory};
  if (!options.sudo)
    if (const auto missing = missing_right_of(wanted, open)) return fail(*missing);
  if (const auto lonely = nothing_outlives(*open.selection.backend, own_scope);
      lonely && !options.accept_unrestored)
    return fail(*lonely);
  return {};
}

int dry_run(Invocation& invocation, const LatencyOptions& options, const OpenGpus& open,
            const LatencyTarget& target, const std::string& uuid) {
  device::Gpu& gpu = *open.gpus.front();
  auto plan = study_plan(options, target, target.table.sm.back(), known_sensor(*open.selection.backend, gpu));
  if (!plan) return refuse(invocation, plan.error());
  const LatencyDryRun dry{uuid, gpu.identity().name, std::move(*plan), options.load};
  fmt::print("{}", invocation.json ? latency_dry_run_json(dry) : latency_dry_run_text(dry));
  return 0;
}

int conclude(Invocation& invocation, LatencyEnd end, const std::optional<std::string>& keep_as, int signal) {
  bool failed = false;
  for (const RestorationReport& report : end.restored) {
    failed = failed || report.outcome == Restoration::failed;
    if (report.outcome == Restoration::failed)
      log::error(Error{ErrorCode::unavailable, describe(report), "rubato restore"});
    else
      log::debug(describe(report));
  }
  for (const std::string& note : end.notes) log::info(note);
  if (signal != 0) {
    log::warning(failed ? "interrupted: nothing is stored"
                        : "interrupted: nothing is stored; the clocks are as they were found");
    return invocation.status = 128 + signal;
  }
  if (!end.table) return refuse(invocation, end.table.error(), 1);
  end.table->measured_on = today();
  if (keep_as) end.table->uuid = *keep_as;
  const auto file = experiment::save_latency(*end.table);
  if (!file) refuse(invocation, file.error(), 1);
  fmt::print("{}", invocation.json ? experiment::write_latency(*end.table) : latency_text(*end.table));
  if (file && !invocation.json) fmt::print("stored: {}\n", file->string());
  if (failed) invocation.status = 1;
  return invocation.status;
}

int latency(Invocation& invocation, const LatencyOptions& options) {
  if (const Status fine = check_words(invocation, options); !fine) return refuse(invocation, fine.error());
  const auto caller = caller_behind_sudo();
  if (!caller) return refuse(invocation, caller.error());
  const bool simulated = names_simulated(invocation.gpu);
  if (*caller && simulated)
    if (const auto became = become(**caller); !became) return refuse(invocation, became.error());
  put_back_stale(invocation.gpu);

  // A world of its own stands for the one that others who name this GPU see: what is found is kept for that.
  std::optional<std::string> keep_as;
  if (simulated) {
    const auto named = open_gpus(invocation.gpu);
    if (!named) return refuse(invocation, named.error());
    if (named->gpus.size() == 1) keep_as = named->gpus.front()->identity().id.uuid;
  }
  const auto world = ScratchWorld::make(invocation.gpu, kSimulatedRate);
  if (!world) return refuse(invocation, world.error());

  // The order matters: the guard before any driver call of ours, rights dropped before any file of ours.
  GuardedRun guarded;
  if (!options.dry_run) guarded = start_guard(invocation.gpu, {options.sudo && !simulated});
  if (guarded.fatal) return refuse(invocation, guarded.why_not);
  if (guarded.observes) return refuse(invocation, only_observes());
  if (*caller && !simulated)
    if (const auto became = become(**caller); !became) return refuse(invocation, became.error());
  auto open = open_gpus(invocation.gpu);
  if (!open) return refuse(invocation, open.error());
  // Rights that a guard through sudo has are not this process's.
  LatencyOptions judged = options;
  judged.sudo = ((options.sudo || *caller) && !simulated) || guarded.managed;
  judged.accept_unrestored = options.accept_unrestored || guarded.managed;
  if (const Status fine = check_gpus(*open, judged, guarded.own_scope); !fine)
    return refuse(invocation, fine.error());
  const auto target = latency_target(*open->gpus.front(), options.memory_clocks);
  if (!target) return refuse(invocation, target.error());
  if (options.dry_run) {
    const std::string uuid = keep_as.value_or(open->gpus.front()->identity().id.uuid);
    return dry_run(invocation, options, *open, *target, uuid);
  }
  if (const auto plan = study_plan(options, *target, target->table.sm.back(), {}); !plan)
    return refuse(invocation, plan.error());
  if (!guarded.channel) return refuse(invocation, guarded.why_not);

  Interrupts interrupts;
  LatencyEnd end = conduct_latency(options, *target, *open, std::move(guarded.channel),
                                   rescue_for(invocation.gpu, guarded.managed), interrupts, invocation.quiet);
  interrupts.take(0);  // what came at the very end
  return conclude(invocation, std::move(end), keep_as, interrupts.asked_to_end());
}

}  // namespace

void add_latency(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("latency", "time how long clock changes take on this GPU");
  static LatencyOptions options;
  add_common(*command, invocation);
  command
      ->add_option("--pairs", options.pairs,
                   "how many pairs of SM clocks (default: 12), or which, as in 900:1500,1500:900")
      ->type_name("N|LIST");
  command->add_option("--repeats", options.repeats, "changes of each pair")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--memory-clocks", options.memory_clocks, "changes of the memory clock as well");
  command
      ->add_option("--load", options.load,
                   "the micro-benchmark that runs meanwhile (rubato calibrate --list)")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_flag("--dry-run", options.dry_run, "set nothing: say what would be");
  command
      ->add_option("--found-sm-clock", options.found_sm_clock,
                   "the SM clock lock that is in force now, to be put back at the end, or that there is none")
      ->type_name("MIN:MAX|none");
  command->add_option("--seed", options.seed, "of the order of changes")->capture_default_str();
  command->add_flag("--sudo", options.sudo, "start the guard, and only the guard, through sudo");
  command->add_flag("--accept-unrestored", options.accept_unrestored,
                    "set even where nothing could put it back after a kill");
  command->footer("rubato latency --gpu sim:rtxa4000");
  command->callback([&invocation] { latency(invocation, options); });
}

}  // namespace rubato::cli
