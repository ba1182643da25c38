// `rubato devices`: every GPU, what can be read, what can be set, and why not; and every meter beside them.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "cli/caller.h"
#include "cli/counters.h"
#include "cli/gpus.h"
#include "cli/invocation.h"
#include "cli/lines.h"
#include "cli/meters.h"
#include "cli/print_run.h"
#include "cli/stale.h"
#include "conduct/patience.h"
#include "report/render.h"
#include "report/value.h"

namespace rubato::cli {
namespace {

using report::Amount;
using report::Array;
using report::Missing;
using report::Object;
using report::Value;

struct NamedCapability {
  const char* key;
  const char* words;
  Capability Capabilities::*member;
};

constexpr NamedCapability kReads[] = {
    {"read_power", "power", &Capabilities::read_power},
    {"read_energy_counter", "energy counter", &Capabilities::read_energy_counter},
    {"read_clocks", "clocks", &Capabilities::read_clocks},
    {"read_utilisation", "utilisation", &Capabilities::read_utilisation},
    {"read_limiter", "limiter reasons", &Capabilities::read_limiter},
    {"read_limiter_times", "limiter times", &Capabilities::read_limiter_times},
    {"read_average_power", "average power", &Capabilities::read_average_power},
    {"read_module_power", "module power", &Capabilities::read_module_power},
    {"read_memory_power", "memory power", &Capabilities::read_memory_power},
    {"read_application_clocks", "application clocks", &Capabilities::read_application_clocks},
    {"read_counters", "counters", &Capabilities::read_counters},
    {"read_processes", "compute processes", &Capabilities::read_processes}};
constexpr NamedCapability kSets[] = {
    {"set_power_limit", "power limit", &Capabilities::set_power_limit},
    {"set_sm_clock", "SM clock", &Capabilities::set_sm_clock},
    {"set_memory_clock", "memory clock", &Capabilities::set_memory_clock},
    {"set_application_clocks", "application clocks", &Capabilities::set_application_clocks}};

Value seconds(const std::optional<Seconds>& value) {
  if (!value) return Missing{"unknown"};
  return Amount{value->value(), "s", 3};
}

Value sensor_json(const SensorFacts& sensor) {
  return Object{{"update_period_s", seconds(sensor.update_period)},
                {"averaging_window_s", seconds(sensor.averaging_window)},
                {"counter_period_s", seconds(sensor.counter_period)},
                {"calibration_band", Amount{sensor.calibration_band, "", 2}},
                {"calibration_floor_w", Amount{sensor.calibration_floor.value(), "W"}},
                {"lag_s", seconds(sensor.lag)},
                {"gain", sensor.gain ? Value(Amount{*sensor.gain, "", 4}) : Value(Missing{"not calibrated"})},
                {"calibrated_by", sensor.calibrated_by},
                {"source", sensor.source}};
}

Value limits_json(device::Gpu& gpu) {
  const auto limits = gpu.power_limits();
  if (!limits) return Missing{limits.error().what};
  return Object{{"min_w", Amount{limits->min.value(), "W"}},
                {"max_w", Amount{limits->max.value(), "W"}},
                {"default_w", Amount{limits->default_limit.value(), "W"}},
                {"requested_w", Amount{limits->requested.value(), "W"}},
                {"enforced_w", Amount{limits->enforced.value(), "W"}}};
}

Value clocks_json(device::Gpu& gpu) {
  const auto clocks = gpu.supported_clocks();
  if (!clocks || clocks->sm.empty()) return Missing{clocks ? "the driver lists none" : clocks.error().what};
  Array memory;
  for (const auto clock : clocks->memory) memory.emplace_back(Amount{clock.value(), "MHz", 0});
  return Object{{"sm_mhz", Object{{"min", Amount{clocks->sm.front().value(), "MHz"}},
                                  {"max", Amount{clocks->sm.back().value(), "MHz"}},
                                  {"count", clocks->sm.size()}}},
                {"memory_mhz", std::move(memory)}};
}

Value capabilities_json(const Capabilities& capabilities) {
  Object out;
  const auto add = [&](const NamedCapability& named) {
    const Capability& capability = capabilities.*named.member;
    out.set(named.key, Object{{"available", capability.available},
                              {"why_not", capability.why_not},
                              {"hint", capability.hint}});
  };
  for (const auto& named : kReads) add(named);
  for (const auto& named : kSets) add(named);
  return out;
}

Value counters_json(device::Gpu& gpu) {
  Array out;
  for (const auto& source : counter_sources(gpu)) {
    Array features;
    for (const Feature f : source.features)
      features.emplace_back(kFeatureNames.at(static_cast<std::size_t>(f)));
    out.emplace_back(Object{{"provider", source.facts.name},
                            {"available", source.availability.available},
                            {"why_not", source.availability.why_not},
                            {"hint", source.availability.hint},
                            {"features", std::move(features)},
                            {"rights", source.facts.rights},
                            {"costs", source.facts.costs},
                            {"disturbs", source.facts.disturbs}});
  }
  return out;
}

Value meters_json(const std::vector<meter::FoundMeter>& meters) {
  Array out;
  for (const auto& meter : meters)
    out.emplace_back(Object{{"spec", meter.spec},
                            {"what", meter.what},
                            {"available", meter.usable.available},
                            {"why_not", meter.usable.why_not},
                            {"hint", meter.usable.hint}});
  return out;
}

Value devices_json(const OpenGpus& open, const std::vector<meter::FoundMeter>& meters) {
  Array gpus;
  for (const auto& gpu : open.gpus) {
    const auto& identity = gpu->identity();
    gpus.emplace_back(Object{{"uuid", identity.id.uuid},
                             {"name", identity.name},
                             {"index", identity.index},
                             {"pci_bus_id", identity.pci_bus_id},
                             {"kind", name_of(gpu->kind())},
                             {"sensor", sensor_json(known_sensor(*open.selection.backend, *gpu))},
                             {"power_limits", limits_json(*gpu)},
                             {"clocks", clocks_json(*gpu)},
                             {"capabilities", capabilities_json(gpu->capabilities())},
                             {"counters", counters_json(*gpu)}});
  }
  return Object{{"schema", "rubato.devices/1"},
                {"backend", open.selection.backend->name()},
                {"driver_version", open.selection.backend->driver_version()},
                {"simulated", open.selection.backend->simulated()},
                {"gpus", std::move(gpus)},
                {"meters", meters_json(meters)}};
}

Value devices_json(const Error& no_gpu, const std::vector<meter::FoundMeter>& meters) {
  return Object{{"schema", "rubato.devices/1"},
                {"backend", Missing{no_gpu.what}},
                {"driver_version", Missing{no_gpu.what}},
                {"simulated", false},
                {"gpus", Array{}},
                {"meters", meters_json(meters)}};
}

// As wide as the names before the colon of each line.
constexpr std::string_view kBelow = "            ";

void print_meters(const std::vector<meter::FoundMeter>& meters) {
  if (meters.empty()) return;
  fmt::print("\nmeters for --meter\n");
  for (const auto& meter : meters) {
    print_line(fmt::format("  {:<9} ", meter.spec), meter.what);
    if (meter.usable.available) continue;
    print_line(kBelow, cat("not now: ", meter.usable.why_not));
    if (!meter.usable.hint.empty()) fmt::print("  {:<9} -> {}\n", "", meter.usable.hint);
  }
}

std::string in_milliseconds(const std::optional<Seconds>& value) {
  return value ? cat(number(value->value() * 1e3, 0), " ms") : "unknown";
}

void print_capabilities(const char* title, std::span<const NamedCapability> list,
                        const Capabilities& capabilities) {
  std::string can;
  for (const auto& named : list)
    if ((capabilities.*named.member).available) can += cat(can.empty() ? "" : ", ", named.words);
  print_line(fmt::format("  {:<9} ", title), can.empty() ? "nothing" : can);
  for (const auto& named : list) {
    const Capability& capability = capabilities.*named.member;
    if (!capability.available) print_line(kBelow, cat("not ", named.words, ": ", capability.why_not));
  }
}

void print_counters(device::Gpu& gpu) {
  const char* title = "counters";
  for (const auto& source : counter_sources(gpu)) {
    const auto& [facts, availability, features] = source;
    if (availability.available)
      print_line(fmt::format("  {:<9} ", title),
                 cat(facts.name, ": ", names_of(features), "; disturbs ", facts.disturbs));
    else
      print_line(fmt::format("  {:<9} ", title), cat("not ", facts.name, ": ", availability.why_not));
    title = "";
  }
}

void print_text(const OpenGpus& open) {
  for (const auto& gpu : open.gpus) {
    const auto& identity = gpu->identity();
    fmt::print("{}  {}{}\n", identity.index, identity.name,
               gpu->kind() == Kind::modelled ? "  (simulated)" : "");
    fmt::print("  {:<9} {}, PCI {}\n", "id", identity.id.uuid, identity.pci_bus_id);
    if (const auto limits = gpu->power_limits()) {
      print_line("  limit     ", cat(limits->requested, " requested, ", limits->enforced, " enforced, ",
                                     limits->default_limit, " by default; ", number(limits->min.value(), 1),
                                     " to ", limits->max, " can be set"));
    } else {
      fmt::print("  {:<9} {}\n", "limit", limits.error().what);
    }
    if (const auto clocks = gpu->supported_clocks(); clocks && !clocks->sm.empty()) {
      std::string memory;
      for (const auto clock : clocks->memory)
        memory += cat(memory.empty() ? "" : ", ", number(clock.value(), 0));
      fmt::print("  {:<9} SM {} to {} in {} steps; memory {} MHz\n", "clocks",
                 number(clocks->sm.front().value(), 1), cat(clocks->sm.back()), clocks->sm.size(), memory);
    }
    const SensorFacts sensor = known_sensor(*open.selection.backend, *gpu);
    std::string band = cat(number(sensor.calibration_band * 100, 1), " %");
    if (sensor.calibration_floor > Watts(0))
      band += cat(" and ", number(sensor.calibration_floor.value(), 1), " W");
    fmt::print("  {:<9} new value every {}, {}, +-{} {}\n", "sensor", in_milliseconds(sensor.update_period),
               sensor.lag ? cat("lags by ", in_milliseconds(sensor.lag))
                          : cat("mean over ", in_milliseconds(sensor.averaging_window)),
               band, sensor.gain ? sensor.calibrated_by : "uncalibrated");
    if (!sensor.source.empty()) print_line(kBelow, cat("as known from: ", sensor.source));
    print_capabilities("can read", kReads, gpu->capabilities());
    print_capabilities("can set", kSets, gpu->capabilities());
    print_counters(*gpu);
  }
  fmt::print("\ndriver {} through {}\n", open.selection.backend->driver_version(),
             open.selection.backend->name());
}

void devices(Invocation& invocation) {
  put_back_stale(invocation.gpu);
  if (const auto dropped = drop_to_caller(); !dropped) {
    refuse(invocation, dropped.error());
    return;
  }
  const bool answered = conduct::finishes([&invocation] {
    const auto open = open_gpus(invocation.gpu);
    std::optional<Error> complaint;
    const auto meters = meters_here(complaint);
    if (complaint) log::warning(*complaint);
    const bool any_meter =
        std::any_of(meters.begin(), meters.end(), [](const auto& m) { return m.usable.available; });
    // A machine without a GPU can still measure: only where nothing can it is an error.
    if (!open && (!invocation.gpu.empty() || !any_meter)) {
      refuse(invocation, open.error());
      return;
    }
    if (!open) {
      log::warning(open.error());
      if (invocation.json)
        fmt::print("{}", report::render_json(devices_json(open.error(), meters)));
      else
        print_meters(meters);
      return;
    }
    for (const auto& error : open->lost) log::warning(error);
    if (invocation.json) {
      fmt::print("{}", report::render_json(devices_json(*open, meters)));
    } else {
      print_text(*open);
      print_meters(meters);
    }
  });
  if (!answered) conduct::leave_now(refuse(invocation, conduct::stands_still(), 1));
}

}  // namespace

void add_devices(CLI::App& app, Invocation& invocation) {
  auto* command =
      app.add_subcommand("devices", "every GPU and meter: what can be read, what can be set, and why not");
  add_common(*command, invocation);
  command->callback([&invocation] { devices(invocation); });
}

}  // namespace rubato::cli
