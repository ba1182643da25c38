#include <cstring>

#include "base/fnv1a.h"
#include "base/fs_root.h"
#include "base/text.h"
#include "device/sim/settings.h"
#include "device/sim/world_impl.h"

namespace rubato::device::sim {
namespace {

template <std::size_t N>
void put(char (&to)[N], std::string_view from) {
  const std::size_t length = std::min(from.size(), N - 1);
  std::memcpy(to, from.data(), length);
  to[length] = '\0';
}

FaultState stored(const Fault& fault) {
  FaultState out{};
  out.after = fault.after;
  out.count = fault.count;
  out.gpu = fault.gpu ? static_cast<std::int32_t>(*fault.gpu) : -1;
  out.from_s = fault.from.value();
  out.span_s = fault.span.value();
  out.jump_j = fault.jump.value();
  out.to_w = fault.to.value_or(Watts(0)).value();
  out.has_to = fault.to ? 1 : 0;
  if (fault.to_clock) {
    out.has_clock = 1;
    out.low_mhz = fault.to_clock->min.value();
    out.high_mhz = fault.to_clock->max.value();
  }
  out.wall_s = fault.wall.value();
  out.call = fault.call ? static_cast<std::int32_t>(*fault.call) : -1;
  out.effect = fault.effect;
  out.error = fault.error;
  put(out.role, fault.role);
  return out;
}

Fault loaded(const FaultState& state) {
  Fault out;
  if (state.call >= 0) out.call = static_cast<CallId>(state.call);
  out.after = state.after;
  out.count = state.count;
  out.effect = state.effect;
  out.error = state.error;
  if (state.gpu >= 0) out.gpu = static_cast<unsigned>(state.gpu);
  out.from = Seconds(state.from_s);
  out.span = Seconds(state.span_s);
  out.jump = Joules(state.jump_j);
  if (state.has_to != 0) out.to = Watts(state.to_w);
  if (state.has_clock != 0) out.to_clock = ClockRange{Megahertz(state.low_mhz), Megahertz(state.high_mhz)};
  out.wall = Seconds(state.wall_s);
  out.role = state.role;
  return out;
}

void put_found(WorldHeader& h, const Scenario& scenario) {
  const auto put_pair = [](double(&to)[2], std::uint32_t& has, Megahertz first, Megahertz second) {
    has = 1;
    to[0] = first.value();
    to[1] = second.value();
  };
  if (const auto& limit = scenario.found_power_limit) {
    h.has_found_limit = 1;
    h.found_limit_w = limit->value();
  }
  if (const auto& sm = scenario.found_sm_clock) put_pair(h.found_sm_mhz, h.has_found_sm, sm->min, sm->max);
  if (const auto& memory = scenario.found_memory_clock)
    put_pair(h.found_memory_mhz, h.has_found_memory, memory->min, memory->max);
  if (const auto& clocks = scenario.found_application_clocks)
    put_pair(h.found_application_mhz, h.has_found_application, clocks->memory, clocks->sm);
}

// What stood before anybody of this world came, by the rules that a call would meet.
Status start_as_found(GpuState& state, const Profile& profile, const Scenario& scenario) {
  if (scenario.found_power_limit) {
    if (Status fits = check_limit(profile, *scenario.found_power_limit); !fits) return fits;
    state.requested_limit_w = scenario.found_power_limit->value();
  }
  ClockRequest request{};
  if (scenario.found_sm_clock)
    if (Status s = request_sm_lock(request, profile, *scenario.found_sm_clock); !s) return s;
  if (scenario.found_memory_clock)
    if (Status s = request_memory_lock(request, profile, *scenario.found_memory_clock); !s) return s;
  if (scenario.found_application_clocks)
    if (Status s = request_application_clocks(request, profile, *scenario.found_application_clocks); !s)
      return s;
  state.asked = state.in_force = request;
  return {};
}

}  // namespace

std::string boot_id() {
  const Result<std::string> id = FsRoot().read("/proc/sys/kernel/random/boot_id");
  return id ? std::string(trim(*id)) : std::string();
}

std::string uuid_of(const Profile& profile, unsigned index, std::string_view path) {
  const std::string name = cat(profile.name, "#", index, "@", path);
  const std::string digits = hex(fnv1a(name), 16) + hex(fnv1a(name, 0x9ae16a3b2f90404fULL), 16);
  const std::string_view d = digits;
  return cat("GPU-51", d.substr(2, 6), "-", d.substr(8, 4), "-", d.substr(12, 4), "-", d.substr(16, 4), "-",
             d.substr(20, 12));
}

Result<NewWorld> new_world(std::span<const std::string> profiles, const Scenario& scenario, Rights rights,
                           TimePoint start) {
  if (profiles.empty() || profiles.size() > kMostWorldGpus)
    return fail(ErrorCode::invalid_argument,
                cat("a simulated world holds 1 to ", kMostWorldGpus, " GPUs, not ", profiles.size()),
                "name them: --gpu sim:v100");
  NewWorld world;
  WorldHeader& h = world.header;
  h.gpu_count = static_cast<std::uint32_t>(profiles.size());
  h.origin_ns = start.ns;
  h.rate = scenario.rate;
  h.seed = scenario.seed;
  h.rights = rights;
  h.outlives_job = scenario.outlives_job ? 1 : 0;
  h.energy_counter = scenario.energy_counter ? 1 : 0;
  h.has_temperature = scenario.temperature ? 1 : 0;
  h.temperature_c = scenario.temperature.value_or(Celsius(0)).value();
  h.has_ambient = scenario.ambient ? 1 : 0;
  h.ambient_c = scenario.ambient.value_or(Celsius(0)).value();
  put_found(h, scenario);
  put(h.boot_id, boot_id());
  for (const Fault& fault : scenario.faults) h.faults[h.fault_count++] = stored(fault);
  for (unsigned i = 0; i < profiles.size(); ++i) {
    const Result<const Profile*> profile = find_profile(profiles[i]);
    if (!profile) return fail(profile.error());
    put(h.profiles[i], (*profile)->name);
    GpuState& state = world.gpus.emplace_back();
    start_gpu(state, **profile,
              {.now = start,
               .seed = scenario.seed,
               .index = i,
               .ambient = scenario.ambient.value_or((*profile)->ambient),
               .temperature = scenario.temperature});
    if (Status fits = start_as_found(state, **profile, scenario); !fits) {
      fits.error().what = cat(kScenarioMisfit, fits.error().what);
      return fail(fits.error());
    }
  }
  return world;
}

Scenario scenario_of(const WorldHeader& header) {
  Scenario out;
  out.rights = header.rights;
  out.rate = header.rate;
  out.outlives_job = header.outlives_job != 0;
  out.seed = header.seed;
  if (header.has_temperature != 0) out.temperature = Celsius(header.temperature_c);
  if (header.has_ambient != 0) out.ambient = Celsius(header.ambient_c);
  if (header.has_found_limit != 0) out.found_power_limit = Watts(header.found_limit_w);
  const auto pair = [](const double(&from)[2]) { return std::pair(Megahertz(from[0]), Megahertz(from[1])); };
  if (header.has_found_sm != 0) {
    const auto [low, high] = pair(header.found_sm_mhz);
    out.found_sm_clock = ClockRange{low, high};
  }
  if (header.has_found_memory != 0) {
    const auto [low, high] = pair(header.found_memory_mhz);
    out.found_memory_clock = ClockRange{low, high};
  }
  if (header.has_found_application != 0) {
    const auto [memory, sm] = pair(header.found_application_mhz);
    out.found_application_clocks = ApplicationClocks{.memory = memory, .sm = sm};
  }
  out.energy_counter = header.energy_counter != 0;
  for (std::uint32_t i = 0; i < header.fault_count; ++i) out.faults.push_back(loaded(header.faults[i]));
  return out;
}

}  // namespace rubato::device::sim
