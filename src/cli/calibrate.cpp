#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "cli/calibrate_campaign.h"
#include "cli/caller.h"
#include "cli/gpus.h"
#include "cli/guarding.h"
#include "cli/invocation.h"
#include "cli/managed.h"
#include "cli/output_file.h"
#include "cli/place.h"
#include "cli/scratch_world.h"
#include "cli/stale.h"
#include "cli/wanted.h"
#include "core/sweep_table_csv.h"
#include "experiment/calibrate/benchmarks.h"
#include "experiment/calibrate/settings.h"
#include "experiment/sweep_grid.h"
#include "plan/setting_of.h"
#include "record/location.h"
#include "report/format.h"
#include "report/render.h"

namespace rubato::cli {
namespace {

namespace fs = std::filesystem;
using experiment::Benchmark;

// A world of its own, at this many simulated seconds a second: faster, and rubato's readings come late.
constexpr double kSimulatedRate = 20;

Result<std::vector<const Benchmark*>> wanted_benchmarks(const std::vector<std::string>& names) {
  std::vector<const Benchmark*> out;
  for (const std::string& name : names) {
    const auto found = experiment::find_benchmark(name);
    if (!found) return fail(found.error());
    if (std::find(out.begin(), out.end(), *found) == out.end()) out.push_back(*found);
  }
  if (names.empty())
    for (const Benchmark& benchmark : experiment::benchmarks()) out.push_back(&benchmark);
  return out;
}

experiment::KnobRanges ranges_of(device::Gpu& gpu) {
  const Capabilities& can = gpu.capabilities();
  const auto could = [](const Capability& c) { return c.available || c.needs_right; };
  experiment::KnobRanges out;
  if (could(can.set_power_limit))
    if (const auto limits = gpu.power_limits()) out.limits = *limits;
  const auto clocks = gpu.supported_clocks();
  if (clocks && could(can.set_sm_clock)) out.sm = clocks->sm;
  if (clocks && could(can.set_memory_clock)) out.memory = clocks->memory;
  return out;
}

Result<std::vector<predict::KnobPoint>> wanted_settings(const CalibrateOptions& options,
                                                        const experiment::KnobRanges& ranges) {
  if (!options.values.empty()) {
    std::vector<experiment::KnobValues> knobs;
    for (const std::string& text : options.values) {
      const auto values = experiment::parse_knob_values(text);
      if (!values) return fail(values.error());
      knobs.push_back(*values);
    }
    return experiment::grid_of(knobs);
  }
  std::vector<Knob> knobs = experiment::usual_knobs(ranges);
  if (!options.knobs.empty()) knobs.clear();
  for (const std::string& name : options.knobs) {
    const auto knob = parse_knob(name);
    if (!knob) return fail(knob.error());
    knobs.push_back(*knob);
  }
  return experiment::calibration_settings(knobs, ranges, options.settings);
}

/// Everything is refused here or not at all: a calibration that measures nothing but defaults is none.
Status may_set(const std::vector<predict::KnobPoint>& settings, const CalibrateOptions& options,
               const OpenGpus& open, const std::string& gpu_list) {
  std::vector<Knob> knobs;
  for (const predict::KnobPoint& at : settings) {
    Wanted wanted{.setting = plan::setting_of(at)};
    if (Status fits = fit_to_gpus(wanted, open.gpus); !fits) return fits;
    for (const auto& [knob, moved] : {std::pair{Knob::power_limit, at.power_limit.has_value()},
                                      std::pair{Knob::sm_clock, at.sm_clock.has_value()},
                                      std::pair{Knob::memory_clock, at.memory_clock.has_value()}})
      if (moved && std::find(knobs.begin(), knobs.end(), knob) == knobs.end()) knobs.push_back(knob);
  }
  const auto managed = manager_grants(gpu_list, knobs);
  if (!managed) return fail(managed.error());
  if (*managed) return {};
  for (const predict::KnobPoint& at : settings) {
    const Wanted wanted{.setting = plan::setting_of(at)};
    std::optional<Error> why;
    const Place here = place(FsRoot{}, environment_map());
    if (open.selection.backend->name() == "nvml" && here.right != Right::here) why = missing_right_here(here);
    if (!options.sudo)
      if (const auto missing = missing_right(wanted, open.gpus, why)) return fail(*missing);
  }
  if (const auto lonely = nothing_outlives(*open.selection.backend, std::nullopt);
      lonely && !options.accept_unrestored)
    return fail(Error{lonely->code, lonely->what,
                      cat(lonely->hint, lonely->hint.empty() ? "" : "; or ", "--accept-unrestored")});
  return {};
}

void list_benchmarks(const Invocation& invocation) {
  if (invocation.json) {
    report::Array rows;
    for (const Benchmark& b : experiment::benchmarks())
      rows.emplace_back(report::Object{{"name", b.name}, {"description", b.description}});
    fmt::print("{}", report::render_json(report::Object{{"schema", "rubato.calibrate_list/1"},
                                                        {"benchmarks", std::move(rows)}}));
    return;
  }
  for (const Benchmark& b : experiment::benchmarks()) fmt::print("{:<12} {}\n", b.name, b.description);
}

std::string usual_name(const std::string& gpu) {
  std::string out = "calibration-";
  for (const char c : gpu)
    out += std::isalnum(static_cast<unsigned char>(c)) != 0
               ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
               : '-';
  return out + ".csv";
}

std::vector<std::string> comments_of(const CalibrationReport& report, const CalibrateOptions& options) {
  std::vector<std::string> out = {
      cat("micro-benchmarks on ", report.gpu.name, " by rubato calibrate, ", name_of(report.kind)),
      "time_s and energy_j are of one unit of work; a setting's are the default's mean times the quotient",
      "of the two within one run; features are those of the default setting",
      cat("order of settings: random, seed ", options.seed)};
  if (!report.complete) out.emplace_back("interrupted before all was measured");
  for (const auto& b : report.benchmarks) {
    if (b.time_scatter && b.energy_scatter)
      out.push_back(cat(b.benchmark->name, ": ", b.runs, " runs, default scatters by ",
                        report::percent(*b.time_scatter), " (time) and ", report::percent(*b.energy_scatter),
                        " (energy)"));
    for (const auto& l : b.lost)
      out.push_back(cat("not used: ", b.benchmark->name, " at ", experiment::describe(l.at), ": ", l.why));
  }
  return out;
}

Status write_table(CalibrationReport& report, const CalibrateOptions& options, const std::string& file,
                   const std::optional<PowerLimits>& limits) {
  if (report.benchmarks.empty()) return {};
  const bool by_limit = std::any_of(report.settings.begin(), report.settings.end(),
                                    [](const predict::KnobPoint& at) { return at.power_limit.has_value(); });
  std::optional<Watts> found;
  if (by_limit && limits) found = limits->requested;
  const auto text = write_sweep_table(
      experiment::table_of(report.benchmarks, {report.gpu.name, comments_of(report, options)}, found));
  if (!text) return fail(text.error());
  if (Status s = write_file(file, true, [&](report::Sink& to) { return to.write(*text); }); !s) return s;
  report.table = file;
  return {};
}

int calibrate(Invocation& invocation, const CalibrateOptions& options) {
  if (options.list) {
    list_benchmarks(invocation);
    return 0;
  }
  if (invocation.separated)
    return refuse(invocation,
                  Error{ErrorCode::invalid_argument, "calibrate runs kernels of its own and no command",
                        "rubato sweep measures a command"});
  const auto benchmarks = wanted_benchmarks(options.benchmarks);
  if (!benchmarks) return refuse(invocation, benchmarks.error());
  const auto caller = caller_behind_sudo();
  if (!caller) return refuse(invocation, caller.error());
  if (*caller)
    return refuse(invocation, Error{ErrorCode::invalid_argument,
                                    "calibrate makes many runs, each with a guard of its own",
                                    "rubato calibrate --sudo lets sudo start the guards, and only them"});
  put_back_stale(invocation.gpu);
  const auto world = ScratchWorld::make(invocation.gpu, kSimulatedRate);
  if (!world) return refuse(invocation, world.error());
  auto open = open_gpus(invocation.gpu);
  if (!open) return refuse(invocation, open.error());
  if (open->gpus.size() != 1)
    return refuse(invocation,
                  Error{ErrorCode::invalid_argument,
                        cat("one GPU is calibrated at a time, ", open->gpus.size(), " are chosen"),
                        "rubato calibrate --gpu 0"});
  device::Gpu& gpu = *open->gpus.front();
  if (gpu.kind() != Kind::measured && gpu.kind() != Kind::modelled)
    return refuse(invocation,
                  Error{ErrorCode::not_supported, "a replayed GPU runs no kernels: its table is all it knows",
                        "rubato calibrate --gpu sim:v100"});
  const experiment::KnobRanges ranges = ranges_of(gpu);
  const auto settings = wanted_settings(options, ranges);
  if (!settings) return refuse(invocation, settings.error());
  if (!options.dry_run) {
    if (settings->empty())
      return refuse(invocation, Error{ErrorCode::not_supported, "no knob of this GPU can be set",
                                      "rubato calibrate --dry-run measures at the present setting"});
    if (const Status allowed = may_set(*settings, options, *open, invocation.gpu); !allowed)
      return refuse(invocation, Error{allowed.error().code, allowed.error().what,
                                      cat(allowed.error().hint, allowed.error().hint.empty() ? "" : "; ",
                                          "--dry-run measures at the present setting")});
  }
  const std::string file = options.output.empty() ? usual_name(gpu.identity().name) : options.output;
  const bool writes = !options.dry_run || !options.output.empty();
  std::error_code ignored;
  if (writes && !options.force && fs::is_regular_file(file, ignored))
    return refuse(invocation, Error{ErrorCode::conflict, cat(file, " is there already"),
                                    "name another file with -o, or replace it with --force"});
  if (writes)
    if (const Status fine = OutputFile::check(file); !fine) return refuse(invocation, fine.error());
  CalibrationReport report = run_calibration(invocation, options, std::move(*open), *benchmarks, *settings);
  if (writes)
    if (const Status written = write_table(report, options, file, ranges.limits); !written)
      refuse(invocation, written.error(), 1);
  fmt::print("{}",
             invocation.json ? report::render_json(calibration_json(report)) : calibration_text(report));
  if (report.benchmarks.empty())
    return refuse(invocation, Error{ErrorCode::unavailable, "no micro-benchmark could be measured", {}}, 1);
  if (!report.complete) invocation.status = 130;
  return invocation.status;
}

}  // namespace

void add_calibrate(CLI::App& app, Invocation& invocation) {
  auto* command =
      app.add_subcommand("calibrate", "measure micro-benchmarks on this GPU, for models to learn from");
  static CalibrateOptions options;
  add_common(*command, invocation);
  auto* knobs = command
                    ->add_option("--knobs", options.knobs,
                                 "which knobs, each from end to end: power-limit, sm-clock, memory-clock "
                                 "(default: power limit and SM clock where the GPU has them)")
                    ->delimiter(',')
                    ->type_name("LIST");
  auto* values =
      command
          ->add_option(
              "--knob", options.values,
              "settings of your own choice instead, as in power-limit=100:250:25; several make a grid")
          ->type_name("SPEC")
          ->allow_extra_args(false)
          ->excludes(knobs);
  command->add_option("--settings", options.settings, "how many of each knob, with --knobs")
      ->excludes(values)
      ->check(CLI::Range(2, 64))
      ->capture_default_str();
  command->add_option("--benchmarks", options.benchmarks, "only these (see --list)")
      ->delimiter(',')
      ->type_name("LIST");
  command->add_option("-o,--output", options.output, "the sweep table (default: calibration-NAME.csv)")
      ->type_name("FILE");
  command->add_flag("--force", options.force, "replace FILE where it is there");
  command->add_flag("--dry-run", options.dry_run,
                    "set nothing: say what would be, measure at the present setting");
  command->add_flag("--list", options.list, "the micro-benchmarks there are");
  command
      ->add_option("--found-sm-clock", options.found_sm_clock,
                   "the SM clock lock that is in force now, to be put back at the end, or that there is none")
      ->type_name("MIN:MAX|none");
  command->add_option("--seed", options.seed, "of the order of settings")->capture_default_str();
  command->add_flag("--sudo", options.sudo, "start the guards, and only the guards, through sudo");
  command->add_flag("--accept-unrestored", options.accept_unrestored,
                    "set even where nothing could put it back after a kill");
  command->add_flag("--allow-shared", options.allow_shared,
                    "set even where other programs compute on the GPU");
  command->footer("rubato calibrate --gpu sim:v100 --knobs power-limit -o table.csv");
  command->callback([&invocation] { calibrate(invocation, options); });
}

}  // namespace rubato::cli
