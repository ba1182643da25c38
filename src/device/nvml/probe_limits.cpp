// Power limits and limiter times: by fields where the driver has them, by calls of their own elsewhere.
#include <algorithm>
#include <array>

#include "base/log.h"
#include "base/text.h"
#include "device/nvml/errors.h"
#include "device/nvml/probe.h"
#include "device/nvml/units.h"

namespace rubato::device::nvml {
namespace {

constexpr std::array<FieldTo<LimitParts>, 5> kLimits = {{
    {{abi::kFieldPowerMinLimit}, [](LimitParts& l, double mw) { l.min = from_milliwatts(mw); }},
    {{abi::kFieldPowerMaxLimit}, [](LimitParts& l, double mw) { l.max = from_milliwatts(mw); }},
    {{abi::kFieldPowerDefaultLimit}, [](LimitParts& l, double mw) { l.by_default = from_milliwatts(mw); }},
    {{abi::kFieldPowerRequestedLimit}, [](LimitParts& l, double mw) { l.requested = from_milliwatts(mw); }},
    {{abi::kFieldPowerCurrentLimit}, [](LimitParts& l, double mw) { l.enforced = from_milliwatts(mw); }},
}};

constexpr std::array<FieldTo<SlowReading>, 2> kLimitsNow = {{
    {{abi::kFieldPowerRequestedLimit},
     [](SlowReading& r, double mw) { r.requested_limit = from_milliwatts(mw); }},
    {{abi::kFieldPowerCurrentLimit},
     [](SlowReading& r, double mw) { r.enforced_limit = from_milliwatts(mw); }},
}};

constexpr FieldTo<SlowReading> kPowerCapTime = {
    {abi::kFieldTimePowerCap}, [](SlowReading& r, double ns) { r.limited.power_cap = from_nanoseconds(ns); }};
constexpr std::array<FieldTo<SlowReading>, 3> kOtherTimes = {{
    {{abi::kFieldTimeSwThermal}, [](SlowReading& r, double ns) { r.limited.thermal = from_nanoseconds(ns); }},
    {{abi::kFieldTimeHwThermal},
     [](SlowReading& r, double ns) { r.limited.hw_thermal = from_nanoseconds(ns); }},
    {{abi::kFieldTimePowerBrake},
     [](SlowReading& r, double ns) { r.limited.power_brake = from_nanoseconds(ns); }},
}};

/// A limit of zero is none, and must never become what is put back.
constexpr double kLeastLimit = 1;

abi::Return violation(DeviceCalls& calls, int policy) {
  abi::ViolationTime time{};
  return calls.call(calls.nvml().violation, policy, &time);
}

/// The field by its definition is what restoring must put back; the call's definition leaves open whether an
/// out-of-band limit shows in it.
void compare_with_call(DeviceCalls& calls, const GpuIdentity& gpu, const LimitParts& fields) {
  const auto say_if_other = [&](const char* which, std::optional<Watts> field, const Answer<unsigned>& call) {
    if (!field || !call.ok() || abs(*field - from_milliwatts(call.value)).value() < 0.5) return;
    log::info(cat(describe(gpu), ": the ", which, " power limit is ", *field, " by its field and ",
                  from_milliwatts(call.value), " by its call; rubato goes by the field"));
  };
  say_if_other("requested", fields.requested, calls.number(calls.nvml().requested_limit));
  say_if_other("enforced", fields.enforced, calls.number(calls.nvml().enforced_limit));
}

}  // namespace

void probe_detail::probe_limits(DeviceCalls& calls, const GpuIdentity& gpu, Probed& found) {
  found.limits = answering<LimitParts>(calls, kLimits, kLeastLimit);
  LimitParts now;
  if (read_fields(calls, found.limits, now) == abi::kSuccess) compare_with_call(calls, gpu, now);
  for (const auto& field : kLimitsNow) {
    const bool there = std::any_of(found.limits.begin(), found.limits.end(),
                                   [&](const auto& limit) { return limit.id == field.id; });
    if (there) found.slow.push_back(field);
  }
}

void probe_detail::probe_limiter_times(DeviceCalls& calls, DriverVersion driver, Probed& found) {
  std::vector<FieldTo<SlowReading>> candidates;
  if (driver >= kPowerCapTimeIsAField) candidates.push_back(kPowerCapTime);
  if (driver >= kThermalTimesAreFields)
    candidates.insert(candidates.end(), kOtherTimes.begin(), kOtherTimes.end());
  const auto times = answering<SlowReading>(calls, candidates, 0);
  found.slow.insert(found.slow.end(), times.begin(), times.end());
  const auto by_field = [&](unsigned field) {
    return std::any_of(times.begin(), times.end(), [&](const auto& time) { return time.id.field == field; });
  };
  abi::Return code = abi::kSuccess;
  if (!by_field(abi::kFieldTimePowerCap)) {
    code = violation(calls, abi::kPerfPolicyPower);
    found.power_cap_time_by_call = code == abi::kSuccess;
  }
  if (!by_field(abi::kFieldTimeSwThermal))
    found.thermal_time_by_call = violation(calls, abi::kPerfPolicyThermal) == abi::kSuccess;
  const bool any = !times.empty() || found.power_cap_time_by_call || found.thermal_time_by_call;
  found.capabilities.read_limiter_times =
      any ? Capability::yes() : readable(code, calls.nvml().violation.name());
}

}  // namespace rubato::device::nvml
