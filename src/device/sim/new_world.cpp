#include <cstring>

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

// FNV-1a: the same text gives the same UUID in every process and build.
std::uint64_t hash(std::string_view text, std::uint64_t start) {
  std::uint64_t h = start;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return h;
}

FaultState stored(const Fault& fault) {
  FaultState out{};
  out.after = fault.after;
  out.count = fault.count;
  out.to_w = fault.to.value_or(Watts(0)).value();
  out.has_to = fault.to ? 1 : 0;
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
  if (state.has_to != 0) out.to = Watts(state.to_w);
  out.wall = Seconds(state.wall_s);
  out.role = state.role;
  return out;
}

}  // namespace

std::string boot_id() {
  const Result<std::string> id = FsRoot().read("/proc/sys/kernel/random/boot_id");
  return id ? std::string(trim(*id)) : std::string();
}

std::string uuid_of(const Profile& profile, unsigned index, std::string_view path) {
  const std::string name = cat(profile.name, "#", index, "@", path);
  const std::string digits =
      hex(hash(name, 0xcbf29ce484222325ULL), 16) + hex(hash(name, 0x9ae16a3b2f90404fULL), 16);
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
  h.magic = kWorldMagic;
  h.version = kWorldVersion;
  h.gpu_count = static_cast<std::uint32_t>(profiles.size());
  h.origin_ns = start.ns;
  h.rate = scenario.rate;
  h.seed = scenario.seed;
  h.rights = rights;
  h.outlives_job = scenario.outlives_job ? 1 : 0;
  h.energy_counter = scenario.energy_counter ? 1 : 0;
  h.has_temperature = scenario.temperature ? 1 : 0;
  h.temperature_c = scenario.temperature.value_or(Celsius(0)).value();
  h.has_found_limit = scenario.found_power_limit ? 1 : 0;
  h.found_limit_w = scenario.found_power_limit.value_or(Watts(0)).value();
  put(h.boot_id, boot_id());
  for (const Fault& fault : scenario.faults) h.faults[h.fault_count++] = stored(fault);
  for (unsigned i = 0; i < profiles.size(); ++i) {
    const Result<const Profile*> profile = find_profile(profiles[i]);
    if (!profile) return fail(profile.error());
    put(h.profiles[i], (*profile)->name);
    GpuState& state = world.gpus.emplace_back();
    start_gpu(state, **profile, start, scenario.seed, i);
    if (scenario.temperature) state.temperature_c = scenario.temperature->value();
    if (scenario.found_power_limit) {
      if (Status fits = check_limit(**profile, *scenario.found_power_limit); !fits) return fail(fits.error());
      state.requested_limit_w = scenario.found_power_limit->value();
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
  if (header.has_found_limit != 0) out.found_power_limit = Watts(header.found_limit_w);
  out.energy_counter = header.energy_counter != 0;
  for (std::uint32_t i = 0; i < header.fault_count; ++i) out.faults.push_back(loaded(header.faults[i]));
  return out;
}

}  // namespace rubato::device::sim
