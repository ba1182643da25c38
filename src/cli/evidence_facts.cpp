#include "cli/evidence_facts.h"

#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/json_figures.h"
#include "base/text.h"
#include "cli/calibrate_child.h"
#include "cli/gpus.h"
#include "cli/guarding.h"
#include "cli/wanted.h"
#include "conduct/patience.h"

namespace rubato::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Why this knob may not be set here; nothing where it may.
std::optional<Error> why_not(Knob knob, const OpenGpus& open, const RunOptions& options,
                             const RefusedKnobs& refused) {
  const Capabilities& can = open.gpus.front()->capabilities();
  const Capability& one = knob == Knob::power_limit ? can.set_power_limit : can.set_sm_clock;
  if (!one.available && !one.needs_right) return Error{ErrorCode::not_supported, one.why_not, one.hint};
  for (const auto& [one_refused, why] : refused)
    if (one_refused == knob) return why;
  if (one.available) return std::nullopt;
  if (options.sudo) return std::nullopt;
  Wanted wanted;
  wanted.knobs = {knob};
  if (knob == Knob::power_limit)
    wanted.setting.power_limit = Watts(1);
  else
    wanted.setting.sm_clock = ClockRange{Megahertz(1), Megahertz(1)};
  const auto missing = missing_right_of(wanted, open);
  return missing ? *missing : Error{ErrorCode::no_permission, one.why_not, one.hint};
}

Result<EvidenceFacts> look(const std::string& gpu_list, const RunOptions& options,
                           const RefusedKnobs& refused) {
  const auto open = open_gpus(gpu_list);
  if (!open) return fail(open.error());
  if (open->gpus.size() != 1)
    return fail(ErrorCode::invalid_argument,
                cat("evidence is of one GPU at a time, ", open->gpus.size(), " are chosen"),
                "rubato evidence --gpu 0");
  device::Gpu& gpu = *open->gpus.front();
  if (gpu.kind() != Kind::measured && gpu.kind() != Kind::modelled)
    return fail(ErrorCode::not_supported, "a replayed GPU runs no kernels: its table is all it knows",
                "rubato evidence --gpu sim:v100");
  EvidenceFacts facts;
  facts.uuid = gpu.identity().id.uuid;
  facts.pci_bus_id = gpu.identity().pci_bus_id;
  facts.name = gpu.identity().name;
  facts.kind = gpu.kind();
  facts.clock_rate = 1.0 / open->selection.backend->clock()->wall(Seconds(1.0)).value();
  facts.sensor_period = known_sensor(*open->selection.backend, gpu).update_period;
  std::optional<Error> first;
  const auto may = [&](Knob knob) {
    const auto why = why_not(knob, *open, options, refused);
    if (!why) return true;
    facts.left_out.push_back({std::string(name_of(knob)), why->what});
    if (!first) first = why;
    return false;
  };
  const auto limits = gpu.power_limits();
  if (limits) facts.found_limit = limits->requested;
  if (may(Knob::power_limit) && limits) facts.ranges.limits = *limits;
  const auto clocks = gpu.supported_clocks();
  if (may(Knob::sm_clock) && clocks) facts.ranges.sm = clocks->sm;
  if (!facts.ranges.limits && facts.ranges.sm.empty())
    return fail(first ? *first
                      : Error{ErrorCode::not_supported,
                              cat(facts.name, ": neither limits nor clocks can be read"), "rubato devices"});
  if (!options.accept_unrestored)
    if (const auto lonely = nothing_outlives(*open->selection.backend, {})) return fail(*lonely);
  return facts;
}

Json written(const Result<EvidenceFacts>& facts) {
  if (!facts)
    return {{"code", static_cast<int>(facts.error().code)},
            {"what", facts.error().what},
            {"hint", facts.error().hint}};
  Json limits = nullptr;
  if (const auto& l = facts->ranges.limits)
    limits = {l->min.value(), l->max.value(), l->default_limit.value(), l->requested.value(),
              l->enforced.value()};
  Json sm = Json::array();
  for (const Megahertz clock : facts->ranges.sm) sm.push_back(clock.value());
  Json left_out = Json::array();
  for (const auto& part : facts->left_out) left_out.push_back({part.part, part.why});
  return {{"uuid", facts->uuid},
          {"pci", facts->pci_bus_id},
          {"name", facts->name},
          {"kind", static_cast<int>(facts->kind)},
          {"clock_rate", facts->clock_rate},
          {"sensor_period", facts->sensor_period ? Json(facts->sensor_period->value()) : Json()},
          {"found_limit", facts->found_limit ? Json(facts->found_limit->value()) : Json()},
          {"limits", std::move(limits)},
          {"sm", std::move(sm)},
          {"left_out", std::move(left_out)}};
}

Result<EvidenceFacts> read_back(const std::string& text) {
  const Json from = Json::parse(text, nullptr, false);
  if (!from.is_object()) return fail(conduct::stands_still());
  try {
    if (from.contains("what"))
      return fail(Error{static_cast<ErrorCode>(whole_of<int>(from.at("code"))),
                        from.at("what").get<std::string>(), from.at("hint").get<std::string>()});
    EvidenceFacts facts;
    facts.uuid = from.at("uuid").get<std::string>();
    facts.pci_bus_id = from.at("pci").get<std::string>();
    facts.name = from.at("name").get<std::string>();
    facts.kind = static_cast<Kind>(whole_of<int>(from.at("kind")));
    facts.clock_rate = from.at("clock_rate").get<double>();
    if (const Json& s = from.at("sensor_period"); !s.is_null())
      facts.sensor_period = Seconds(s.get<double>());
    if (const Json& w = from.at("found_limit"); !w.is_null()) facts.found_limit = Watts(w.get<double>());
    if (const Json& l = from.at("limits"); !l.is_null()) {
      const auto watts = [&l](std::size_t i) { return Watts(l.at(i).get<double>()); };
      facts.ranges.limits = PowerLimits{watts(0), watts(1), watts(2), watts(3), watts(4)};
    }
    for (const Json& clock : from.at("sm")) facts.ranges.sm.emplace_back(clock.get<double>());
    for (const Json& part : from.at("left_out"))
      facts.left_out.push_back({part.at(0).get<std::string>(), part.at(1).get<std::string>()});
    return facts;
  } catch (const Json::exception& error) {
    return fail(ErrorCode::internal, error.what());
  }
}

}  // namespace

Result<EvidenceFacts> ask_evidence_facts(Interrupts& interrupts, const std::string& gpu_list,
                                         const RunOptions& options, const RefusedKnobs& refused) {
  const ChildEnd child = in_child(interrupts, [&](int say) {
    auto facts = conduct::patiently<Result<EvidenceFacts>>(
        [gpu_list, options, refused] { return look(gpu_list, options, refused); });
    if (facts) say_all(say, written(*facts).dump(-1, ' ', false, Json::error_handler_t::replace));
    conduct::leave_now(0);
    return 0;
  });
  return read_back(child.said);
}

Result<Json> ask_board(Interrupts& interrupts, const std::string& gpu_list, bool as_root) {
  const ChildEnd child = in_child(interrupts, [&](int say) {
    if (dup2(say, STDOUT_FILENO) < 0) return 1;
    // It would become the caller again, and then tell of rights it no longer has.
    if (as_root)
      for (const char* name : {"SUDO_UID", "SUDO_GID", "SUDO_USER"}) unsetenv(name);
    const std::string self = own_program();
    execl(self.c_str(), self.c_str(), "devices", "--quiet", "--json", "--gpu", gpu_list.c_str(), nullptr);
    return 1;
  });
  Json all = Json::parse(child.said, nullptr, false);
  if (!all.is_object() || !all.contains("gpus") || all["gpus"].size() != 1)
    return fail(ErrorCode::unavailable, "the board could not be described", "rubato devices --json");
  Json board = std::move(all["gpus"][0]);
  for (const char* name : {"uuid", "index", "pci_bus_id"}) board.erase(name);
  board["backend"] = all["backend"];
  board["driver_version"] = all["driver_version"];
  return board;
}

std::vector<std::string> private_names(const EvidenceFacts& facts) {
  std::vector<std::string> out = {facts.uuid, facts.pci_bus_id};
  utsname system{};
  if (uname(&system) == 0) {
    const std::string host = system.nodename;
    out.push_back(host);
    out.push_back(host.substr(0, host.find('.')));
  }
  if (const passwd* user = getpwuid(getuid())) out.emplace_back(user->pw_name);
  for (const char* variable : {"USER", "SUDO_USER", "LOGNAME"})
    if (const char* value = std::getenv(variable)) out.emplace_back(value);
  // Half of all sentences about rights have this word, and it tells nothing of anybody.
  std::erase_if(out, [](const std::string& name) { return name.size() < 2 || name == "root"; });
  return out;
}

}  // namespace rubato::cli
