#include "cli/calibrate_campaign.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "cli/calibrate_child.h"
#include "cli/progress_line.h"
#include "device/registry.h"
#include "device/sim/profile.h"
#include "device/sim/work.h"
#include "experiment/calibrate/point.h"
#include "experiment/sweep_grid.h"

namespace rubato::cli {
namespace {

using experiment::Benchmark;
using experiment::CalibrationPoint;

// What FixedStrategy waits for: warm-up, a baseline of 250 sensor updates (longer where a clock is to be
// locked), draining; then as long at the setting.
constexpr Seconds kWarmup{4};
constexpr Seconds kShortestBaseline{4};
constexpr Seconds kBaselineForClocks{15};
constexpr double kBaselineUpdates = 250;
// Boards take a minute or so to warm up, and a warm one draws more at the same clocks.
constexpr Seconds kWarmUp{60};
constexpr unsigned kTries = 3;  // of a run that was disturbed

Seconds length_of_run(const predict::KnobPoint& at, Seconds sensor_period, bool clock_stated) {
  Seconds baseline = std::max(kShortestBaseline, sensor_period * kBaselineUpdates);
  if ((at.sm_clock || at.memory_clock) && !clock_stated) baseline = std::max(baseline, kBaselineForClocks);
  return kWarmup + baseline + std::max(kShortestBaseline, sensor_period * kBaselineUpdates);
}

/// A micro-benchmark on a simulated board at its reference clocks: one segment, whose times are a V100's.
struct SimulatedUnit {
  Seconds compute;
  Seconds memory;
  Seconds fixed;
  predict::Clocks at;

  [[nodiscard]] Seconds length() const { return std::max(compute, memory) + fixed; }
  [[nodiscard]] predict::Position position(std::optional<predict::Pipe> pipe) const {
    const Seconds longer = std::max(compute, memory);
    return {.at = at, .pipe = pipe, .compute = compute / longer, .memory = memory / longer};
  }
};

std::optional<SimulatedUnit> simulated_unit(const std::string& work, std::string_view board) {
  const auto found = device::sim::find_workload(work);
  const device::sim::Profile* profile = device::sim::find_board(board);
  if (!found || profile == nullptr) return std::nullopt;
  const device::sim::Segment& s = (*found)->segments.front();
  return SimulatedUnit{Seconds(s.compute_s / profile->compute_rate),
                       Seconds(s.memory_s / profile->memory_rate),
                       Seconds(s.fixed_s),
                       {profile->sm_reference, profile->memory_reference}};
}

class Progress {
 public:
  Progress(std::size_t runs, bool quiet) : runs_(runs), line_(quiet) {}
  void next(std::string_view what) { line_.show(done_++, runs_, cat("runs; now ", what)); }

 private:
  std::size_t runs_;
  std::size_t done_ = 0;
  ProgressLine line_;
};

/// One GPU being calibrated.
class Calibration {
 public:
  Calibration(const Invocation& invocation, const CalibrateOptions& options, OpenGpus open)
      : invocation_(invocation), options_(options), open_(std::move(open)), gpu_(*open_.gpus.front()) {
    if (const auto known = known_sensor(*open_.selection.backend, gpu_).update_period) period_ = *known;
  }

  CalibrationReport run(const std::vector<const Benchmark*>& benchmarks,
                        const std::vector<predict::KnobPoint>& settings) {
    report_.gpu = gpu_.identity();
    report_.kind = gpu_.kind();
    report_.settings = settings;
    report_.dry_run = options_.dry_run;
    auto to_measure = options_.dry_run || settings.empty() ? std::vector<predict::KnobPoint>(1) : settings;
    const auto figures = device::figures_of_board(report_.gpu.name);
    if (figures) rates_ = predict::peak_rates(*figures);
    Progress progress(benchmarks.size() * (to_measure.size() + (options_.dry_run ? 0 : 1)),
                      invocation_.quiet);
    Random random(options_.seed);
    for (const Benchmark* benchmark : benchmarks) {
      if (std::string why = why_left_out(*benchmark, figures); !why.empty()) {
        report_.skipped.push_back({std::string(benchmark->name), std::move(why)});
        continue;
      }
      // In an order that nothing which drifts can follow.
      for (std::size_t i = to_measure.size(); i > 1; --i)
        std::swap(to_measure[i - 1], to_measure[random.next() % i]);
      measure(*benchmark, to_measure, progress);
      if (!report_.complete) break;
    }
    report_.ceilings = experiment::ceilings_of(report_.benchmarks);
    return std::move(report_);
  }

 private:
  [[nodiscard]] bool simulated() const { return gpu_.kind() == Kind::modelled; }

  [[nodiscard]] std::string why_left_out(const Benchmark& benchmark,
                                         const std::optional<GpuFigures>& figures) const {
    if (simulated() && !benchmark.simulated) return "the simulated GPU has one kind of tensor product only";
    return figures && !simulated() ? experiment::why_not_on(benchmark, *figures) : std::string();
  }

  [[nodiscard]] std::vector<std::string> job(const Benchmark& benchmark, Seconds length) const {
    if (!simulated())
      return {own_program(),           "calibrate-kernel", std::string(benchmark.name), "--uuid",
              gpu_.identity().id.uuid, "--seconds",        number(length.value(), 1)};
    const std::string work = cat("calibrate-", benchmark.name);
    const auto unit = simulated_unit(work, gpu_.identity().name);
    const double units = std::ceil(length / (unit ? unit->length() : Seconds(0.1)));
    return {own_program(), "sim", "train", work, "--iterations", number(units, 0)};
  }

  [[nodiscard]] std::vector<std::string> words(const predict::KnobPoint& at) const {
    const bool sets = at != predict::KnobPoint{};
    std::vector<std::string> out = {sets ? "run" : "measure", "--gpu",
                                    simulated() ? invocation_.gpu : gpu_.identity().id.uuid};
    const auto add = [&out](const char* option, const auto& value) {
      if (!value) return;
      out.emplace_back(option);
      out.push_back(number(value->value(), 1));
    };
    add("--power-limit", at.power_limit);
    add("--sm-clock", at.sm_clock);
    add("--memory-clock", at.memory_clock);
    if (!sets) return out;
    if (!options_.found_sm_clock.empty())
      out.insert(out.end(), {"--found-sm-clock", options_.found_sm_clock});
    if (options_.sudo) out.emplace_back("--sudo");
    if (options_.accept_unrestored) out.emplace_back("--accept-unrestored");
    if (options_.allow_shared) out.emplace_back("--allow-shared");
    return out;
  }

  /// The clocks of the first run that shows them at the found setting: the same for every benchmark.
  void see_clocks(const record::RunRecord& run) {
    if (report_.clocks || run.devices.empty()) return;
    for (const record::Block& block : run.blocks) {
      if (block.role != BlockRole::baseline) continue;
      for (const SlowReading& reading : run.devices.front().slow)
        if (reading.at >= block.begin && reading.at <= block.end && reading.sm_clock &&
            reading.memory_clock) {
          report_.clocks = predict::Clocks{*reading.sm_clock, *reading.memory_clock};
          return;
        }
    }
  }

  void measure(const Benchmark& benchmark, const std::vector<predict::KnobPoint>& settings,
               Progress& progress) {
    std::vector<CalibrationPoint> points;
    experiment::UnitWork work;
    std::string why_none = "nothing was measured";
    if (!options_.dry_run) {
      progress.next(cat(benchmark.name, ", warming up"));
      const auto warm = run_measured(words({}), job(benchmark, kWarmUp));
      if (warm && warm->interrupted) report_.complete = false;
      if (!report_.complete) return;
    }
    bool go_on = true;
    for (const predict::KnobPoint& at : settings) {
      progress.next(cat(benchmark.name, ", ", experiment::describe(at)));
      std::optional<CalibrationPoint> point;
      for (unsigned tries = 0; tries < kTries && go_on && !(point && point->disturbed.empty()); ++tries)
        if (auto got = run_once(benchmark, at, work, why_none, go_on)) point = std::move(got);
      if (point) points.push_back(std::move(*point));
      if (!go_on) break;
    }
    const auto steady = std::find_if(points.begin(), points.end(),
                                     [](const CalibrationPoint& p) { return p.disturbed.empty(); });
    if (steady == points.end()) {
      if (!points.empty()) why_none = points.back().disturbed;
      report_.skipped.push_back({std::string(benchmark.name), why_none});
      return;
    }
    report_.benchmarks.push_back(
        experiment::summarise_benchmark(benchmark, work, points, report_.clocks, rates_));
    // A simulated GPU has one compute rate for all pipes, and its workload says what of it a unit takes.
    if (const auto unit = simulated_unit(cat("calibrate-", benchmark.name), gpu_.identity().name);
        unit && simulated() && benchmark.pipe)
      report_.benchmarks.back().position = unit->position(benchmark.pipe);
  }

  /// Nothing where the run told nothing, and `why_none` says why; `go_on` turns false where no other would.
  std::optional<CalibrationPoint> run_once(const Benchmark& benchmark, const predict::KnobPoint& at,
                                           experiment::UnitWork& work, std::string& why_none, bool& go_on) {
    const auto child =
        run_measured(words(at), job(benchmark, length_of_run(at, period_, !options_.found_sm_clock.empty())));
    if (!child) {
      why_none = child.error().what;
      go_on = false;
      return std::nullopt;
    }
    if (child->interrupted) {
      report_.complete = go_on = false;
      return std::nullopt;
    }
    if (child->status != 0) {
      why_none = cat("it ended with status ", child->status, ": ", trim(child->messages));
      go_on = false;
      return std::nullopt;
    }
    take_work(child->output, work);
    auto point = child->record ? experiment::point_of(*child->record, std::string(benchmark.name), at)
                               : Result<CalibrationPoint>(fail(child->record.error()));
    if (!point) {
      why_none = point.error().what;
      log::debug(cat(benchmark.name, " at ", experiment::describe(at), ": ", why_none));
      return std::nullopt;
    }
    see_clocks(*child->record);
    return std::move(*point);
  }

  static void take_work(const std::string& output, experiment::UnitWork& work) {
    const auto said = nlohmann::json::parse(output, nullptr, false);
    if (!said.is_object() || !said.contains("operations") || !said.contains("bytes")) return;
    if (said["operations"].is_number()) work.operations = said["operations"].get<double>();
    if (said["bytes"].is_number()) work.bytes = said["bytes"].get<double>();
  }

  const Invocation& invocation_;
  const CalibrateOptions& options_;
  OpenGpus open_;
  device::Gpu& gpu_;
  Seconds period_{0.1};
  std::optional<predict::PeakRates> rates_;
  CalibrationReport report_;
};

}  // namespace

CalibrationReport run_calibration(const Invocation& invocation, const CalibrateOptions& options,
                                  OpenGpus open, const std::vector<const Benchmark*>& benchmarks,
                                  const std::vector<predict::KnobPoint>& settings) {
  return Calibration(invocation, options, std::move(open)).run(benchmarks, settings);
}

}  // namespace rubato::cli
