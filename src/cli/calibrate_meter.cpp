// `rubato calibrate-meter`: learns a GPU board's gain against another meter, and keeps it beside what is
// known of the board's sensor.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/log.h"
#include "base/text.h"
#include "cli/caller.h"
#include "cli/invocation.h"
#include "cli/job_gpus.h"
#include "cli/job_options.h"
#include "cli/no_nan.h"
#include "cli/run_files.h"
#include "cli/stale.h"
#include "cli/wrap.h"
#include "conduct/board_calibration.h"
#include "govern/measure_only_strategy.h"
#include "record/reader.h"
#include "record/sensor_store.h"
#include "report/render.h"
#include "report/value.h"

namespace rubato::cli {
namespace {

// Enough for a dozen windows of a meter that updates every second, with its lag.
constexpr double kUsualSeconds = 120;
constexpr int kNotCalibrated = 1;

struct Options {
  JobOptions job;
  std::string channel;
  double seconds = 0;
};

constexpr const char* kMeaning =
    "The gain is the board as this meter sees it. A meter at the wall sees the losses of the power supply as "
    "well, "
    "and those do not grow in a straight line.";

Result<const record::ChannelRecord*> chosen_channel(const record::RunRecord& run, const std::string& name) {
  std::string names;
  const record::ChannelRecord* only = nullptr;
  std::size_t fitting = 0;
  for (const auto& channel : run.channels) {
    const MeterChannel& c = channel.info.channel;
    names += cat(names.empty() ? "" : ", ", c.name);
    if (!name.empty() && c.name == name) return &channel;
    const bool holds_gpu =
        c.scope == Scope::node || c.scope == Scope::module || c.scope == Scope::gpu || c.scope == Scope::rail;
    if (holds_gpu) {
      only = &channel;
      ++fitting;
    }
  }
  if (run.channels.empty()) return fail(ErrorCode::unavailable, "the meter told nothing", "rubato devices");
  if (!name.empty())
    return fail(ErrorCode::invalid_argument, cat("the meter has no channel ", name, "; it has ", names));
  if (fitting == 0)
    return fail(ErrorCode::invalid_argument, cat("no channel of this meter has a GPU behind it: ", names),
                "use one at the wall or on the board");
  if (fitting > 1)
    return fail(ErrorCode::invalid_argument, cat("the meter has several channels: ", names),
                "say which one feeds the GPU, as in --channel outlet-7");
  return only;
}

std::vector<measure::PowerAt> power_of(const std::vector<FastReading>& readings) {
  std::vector<measure::PowerAt> power;
  for (const FastReading& r : readings)
    if (r.power) power.push_back({r.at, *r.power});
  if (!power.empty()) return power;
  std::vector<measure::EnergyAt> counter;
  for (const FastReading& r : readings)
    if (r.energy_counter) counter.push_back({r.at, *r.energy_counter});
  return measure::differentiate(counter);
}

record::FoundGain gain_of(const conduct::BoardFit& fit, const record::ChannelInfo& channel) {
  record::FoundGain gain;
  gain.gain = fit.gain();
  // The rest of a machine stands on the meter too, and cannot be told from an offset of the board.
  const bool board_alone = channel.channel.scope == Scope::gpu || channel.channel.scope == Scope::rail;
  if (board_alone) gain.offset = -fit.base;
  const double slope = fit.slope_band / fit.slope;
  const double meter = channel.channel.sensor.calibration_band;
  gain.band = std::sqrt(slope * slope + meter * meter);
  gain.against = cat(channel.meter, ", ", channel.channel.name);
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  gain.on.resize(16);
  gain.on.resize(std::strftime(gain.on.data(), gain.on.size(), "%Y-%m-%d", &local));
  return gain;
}

Status keep(const record::DeviceInfo& device, const record::FoundGain& gain) {
  const auto folder = record::default_sensor_folder();
  if (!folder) return fail(folder.error());
  auto known = record::load_sensor_facts(*folder, device.identity.id, device.driver_version);
  record::FoundSensor found;
  if (known) found = std::move(*known);
  found.gpu = device.identity.id;
  found.driver_version = device.driver_version;
  found.calibration = gain;
  return record::save_sensor_facts(*folder, found);
}

void print(const conduct::BoardFit& fit, const record::FoundGain& gain, const record::DeviceInfo& device) {
  fmt::print("{} ({}) against {}\n", device.identity.id.uuid, device.identity.name, gain.against);
  fmt::print("  meter = {} + {} x board; the slope is {} to {} (95 %)\n", cat(fit.base), number(fit.slope, 4),
             number(fit.slope - fit.slope_band, 4), number(fit.slope + fit.slope_band, 4));
  fmt::print("  R^2 {}, scatter {}, {} windows of {}, board from {} to {}\n", number(fit.r_squared, 4),
             cat(fit.residual), fit.windows, cat(fit.window), cat(fit.lowest), cat(fit.highest));
  fmt::print("  the meter tells {} later (correlation {})\n", cat(fit.lag.lag),
             number(fit.lag.correlation, 2));
  fmt::print("  the board tells {} W for each watt this meter sees, +-{} %\n", number(gain.gain, 4),
             number(gain.band * 100, 1));
  fmt::print("Kept for this board; later runs correct its energy by it and say so.\n{}\n", kMeaning);
}

report::Value json(const conduct::BoardFit& fit, const record::FoundGain& gain,
                   const record::DeviceInfo& device) {
  using report::Amount;
  using report::Missing;
  using report::Object;
  report::Value offset = Missing{"the meter sees more than the board"};
  if (gain.offset) offset = Amount{gain.offset->value(), "W", 2};
  return Object{{"schema", "rubato.calibration/1"},
                {"uuid", device.identity.id.uuid},
                {"against", gain.against},
                {"gain", Amount{gain.gain, "", 5}},
                {"offset_w", std::move(offset)},
                {"band_fraction", Amount{gain.band, "", 4}},
                {"slope", Amount{fit.slope, "", 5}},
                {"slope_band_95", Amount{fit.slope_band, "", 5}},
                {"base_w", Amount{fit.base.value(), "W", 2}},
                {"r_squared", Amount{fit.r_squared, "", 5}},
                {"residual_w", Amount{fit.residual.value(), "W", 2}},
                {"windows", fit.windows},
                {"window_s", Amount{fit.window.value(), "s", 2}},
                {"lag_s", Amount{fit.lag.lag.value(), "s", 3}},
                {"meaning", kMeaning}};
}

Status calibrate(const Invocation& invocation, const Options& options, const std::filesystem::path& file) {
  const auto run = record::read_run(file);
  if (!run) return fail(run.error());
  const auto channel = chosen_channel(*run, options.channel);
  if (!channel) return fail(channel.error());
  if (run->devices.empty()) return fail(ErrorCode::unavailable, "no GPU was measured", "rubato doctor");
  const record::DeviceRecord& device = run->devices.front();
  const auto board = power_of(device.fast);
  const auto highest = std::max_element(board.begin(), board.end(),
                                        [](const auto& a, const auto& b) { return a.power < b.power; });
  if (board.empty()) return fail(ErrorCode::unavailable, "the GPU told no power", "rubato doctor");
  const Watts limit = device.info.found ? device.info.found->max : highest->power;
  const auto fit = conduct::fit_board(board, power_of((*channel)->readings), limit);
  if (!fit) return fail(fit.error());
  const record::FoundGain gain = gain_of(*fit, (*channel)->info);
  if (const Status kept = keep(device.info, gain); !kept) return kept;
  if (invocation.json)
    fmt::print("{}", report::render_json(json(*fit, gain, device.info)));
  else
    print(*fit, gain, device.info);
  return {};
}

int calibrate_meter(Invocation& invocation, const Options& options) {
  if (options.job.meters.size() != 1)
    return refuse(invocation,
                  Error{ErrorCode::invalid_argument, "one --meter is needed to calibrate against",
                        "rubato calibrate-meter --meter snmp:rack --gpu 0; rubato devices lists meters"});
  if (invocation.separated && invocation.command.empty())
    return refuse(invocation, Error{ErrorCode::invalid_argument, "no command stands behind --", {}});
  if (!invocation.command.empty() && options.seconds > 0)
    return refuse(invocation,
                  Error{ErrorCode::invalid_argument, "--seconds is for calibrating without a command", {}});
  put_back_stale(invocation.gpu);
  if (const auto dropped = drop_to_caller(); !dropped) return refuse(invocation, dropped.error());
  auto open = open_gpus_for_job(invocation);
  if (!open) return refuse(invocation, open.error());
  if (open->gpus.size() != 1)
    return refuse(invocation,
                  Error{ErrorCode::invalid_argument,
                        cat("one GPU is calibrated at a time, ", open->gpus.size(), " are chosen"),
                        "rubato calibrate-meter --gpu 0 ..."});
  WrapPlan plan;
  plan.info = describe_run("measure", invocation.command);
  plan.strategy = std::make_unique<govern::MeasureOnlyStrategy>("calibrating: nothing is set");
  plan.meters = options.job.meters;
  plan.hooks = options.job.hooks();
  if (invocation.command.empty())
    plan.seconds = Seconds(options.seconds > 0 ? options.seconds : kUsualSeconds);
  plan.conclude = [&invocation, &options](const Result<std::filesystem::path>& file) {
    const Status done = file ? calibrate(invocation, options, *file) : Status(fail(file.error()));
    if (done) return 0;
    log::error(Error{done.error().code, cat("not calibrated: ", done.error().what), done.error().hint});
    return kNotCalibrated;
  };
  if (plan.seconds) log::info(cat("measuring for ", *plan.seconds, " while the load varies"));
  return wrap(invocation, std::move(plan), std::move(*open));
}

}  // namespace

void add_calibrate_meter(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("calibrate-meter",
                                     "learn what a GPU's own power reading is worth, by another meter");
  static Options options;
  add_common(*command, invocation);
  add_meter_option(*command, options.job)->required();
  command->add_option("--channel", options.channel, "the meter's channel that feeds the GPU")
      ->type_name("NAME");
  command
      ->add_option("--seconds", options.seconds,
                   "measure for this long while your load varies (default 120), without a command")
      ->check(CLI::PositiveNumber)
      ->check(no_nan());
  command->footer("rubato calibrate-meter --meter SPEC --gpu 0 [-- COMMAND]");
  command->callback([&invocation] { calibrate_meter(invocation, options); });
}

}  // namespace rubato::cli
