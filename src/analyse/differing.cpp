#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analyse/compare.h"
#include "base/text.h"

namespace rubato::analyse {
namespace {

// Leakage: one board at one clock and one load drew 189 W at 55.7 C and 207 W at 76.8 C (published sweep of a
// stream kernel), 0.45 % per degree; five degrees are two per cent.
constexpr Celsius kFarApart{5.0};

template <class Take>
std::string of_all(const Side& side, Take take) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < side.summary.gpus.size(); ++i)
    parts.push_back(take(side.run.devices[i].info, side.summary.gpus[i]));
  // Eight GPUs that are alike are said once.
  if (!parts.empty() && std::ranges::all_of(parts, [&](const auto& p) { return p == parts.front(); }))
    parts.resize(1);
  std::string out;
  for (const std::string& part : parts) out += cat(out.empty() ? "" : ", ", part);
  return out.empty() ? "none" : out;
}

std::string setting_text(const std::optional<Setting>& setting) {
  if (!setting) return "not known";
  return setting->empty() ? "as found" : describe(*setting);
}

std::string models(const Side& side) {
  return of_all(side, [](const auto&, const GpuSummary& g) { return g.identity.name; });
}

std::string words(const std::vector<std::string>& command) {
  std::string out;
  for (const std::string& argument : command) out += cat(out.empty() ? "" : " ", argument);
  return out.empty() ? "none" : out;
}

std::optional<Celsius> mean_temperature(const record::RunRecord& run) {
  double sum = 0.0;
  int count = 0;
  for (const record::DeviceRecord& device : run.devices)
    for (const SlowReading& reading : device.slow)
      if (reading.temperature) {
        sum += reading.temperature->value();
        ++count;
      }
  if (count == 0) return std::nullopt;
  return Celsius(sum / count);
}

Kind kind_of(const Side& side) {
  Kind kind = Kind::measured;
  for (const GpuSummary& g : side.summary.gpus) kind = std::max(kind, g.kind);
  return kind;
}

std::set<std::string> uuids(const Side& side) {
  std::set<std::string> out;
  for (const GpuSummary& g : side.summary.gpus) out.insert(g.identity.id.uuid);
  return out;
}

std::string source_of(const Side& side) {
  return of_all(side, [](const auto&, const GpuSummary& g) {
    return g.energy ? g.energy->source.name : std::string("none");
  });
}

// Digits as people are shown them: what differs less changes no figure.
std::string calibration_of(const SensorFacts& sensor) {
  if (!sensor.gain) return "none";
  return cat("gain ", number(*sensor.gain, 4),
             sensor.offset ? cat(", offset ", number(sensor.offset->value(), 2), " W") : "",
             sensor.calibrated_by.empty() ? "" : ", ", sensor.calibrated_by);
}

std::string calibration_of(const Side& side) {
  return of_all(side, [](const record::DeviceInfo& d, const auto&) { return calibration_of(d.sensor); });
}

bool same_calibration(const Side& a, const Side& b) {
  std::map<std::string, std::string> of_a;
  for (const record::DeviceRecord& d : a.run.devices)
    of_a[d.info.identity.id.uuid] = calibration_of(d.info.sensor);
  return std::ranges::all_of(b.run.devices, [&](const record::DeviceRecord& d) {
    const auto mine = of_a.find(d.info.identity.id.uuid);
    return mine != of_a.end() && mine->second == calibration_of(d.info.sensor);
  });
}

// How much more the calibration of B makes of the readings of A than that of A did, as a fraction; of GPUs
// that are in both.
std::optional<double> calibration_apart(const Side& a, const Side& b) {
  Joules of_a;
  Joules of_b;
  for (std::size_t i = 0; i < a.summary.gpus.size(); ++i) {
    const auto& energy = a.summary.gpus[i].energy;
    const auto other = std::ranges::find_if(b.run.devices, [&](const record::DeviceRecord& d) {
      return d.info.identity.id == a.summary.gpus[i].identity.id;
    });
    if (!energy || other == b.run.devices.end()) return std::nullopt;
    const SensorFacts& before = a.run.devices[i].info.sensor;
    const SensorFacts& after = other->info.sensor;
    const auto offset = [&](const SensorFacts& s) {
      return (s.gain ? s.offset.value_or(Watts(0)) : Watts(0)) * energy->duration();
    };
    const Joules read = (energy->energy + offset(before)) * before.gain.value_or(1.0);
    of_a += energy->energy;
    of_b += read / after.gain.value_or(1.0) - offset(after);
  }
  return of_a > Joules(0) ? std::optional(of_b / of_a - 1) : std::nullopt;
}

std::string about_calibration(const Side& a, const Side& b) {
  std::string text = cat("The sensor's calibration is not the same: ", calibration_of(a), " in A, ",
                         calibration_of(b), " in B");
  if (const auto apart = calibration_apart(a, b))
    text += cat("; by that alone B's energies are ", number(100 * std::abs(*apart), 1), " % ",
                *apart < 0 ? "lower" : "higher");
  return text + ". The calibration error of each counts, and the ranges are wide.";
}

void about_the_end(const Side& side, std::string_view name, std::vector<Warning>& out) {
  if (side.running)
    out.push_back({"still_running", cat(name, " is still running: its figures are of the part so far.")});
  else if (!side.run.end)
    out.push_back({"cut_short", cat(name, " was cut short: its figures are of the part that was recorded.")});
  else if (side.run.end->exit_signal)
    out.push_back({"job_failed", cat("The job of ", name, " was killed by signal ",
                                     *side.run.end->exit_signal, ": it may not have done all of its work.")});
  else if (side.run.end->exit_code.value_or(0) != 0)
    out.push_back({"job_failed", cat("The job of ", name, " ended with exit status ",
                                     *side.run.end->exit_code, ": it may not have done all of its work.")});
  if (record::someone_else_set(side.run))
    out.push_back({"someone_else_changed_a_setting",
                   cat("Somebody else changed a setting of the GPU during ", name, ".")});
}

}  // namespace

bool same_sensors(const Side& a, const Side& b) {
  return uuids(a) == uuids(b) && source_of(a) == source_of(b) && same_calibration(a, b);
}

std::vector<Fact> differing_facts(const Side& a, const Side& b) {
  std::vector<Fact> out;
  const auto differ = [&](const char* name, const std::string& of_a, const std::string& of_b) {
    if (of_a != of_b) out.push_back({name, of_a, of_b});
  };
  const auto device = [&](const char* name, auto take) { differ(name, of_all(a, take), of_all(b, take)); };
  differ("command", words(a.run.info.command), words(b.run.info.command));
  differ("gpu", models(a), models(b));
  differ("gpu_count", cat(a.summary.gpus.size()), cat(b.summary.gpus.size()));
  device("gpu_uuid", [](const auto&, const GpuSummary& g) { return g.identity.id.uuid; });
  device("driver", [](const record::DeviceInfo& d, const auto&) { return d.driver_version; });
  device("backend", [](const record::DeviceInfo& d, const auto&) { return d.backend; });
  device("kind", [](const auto&, const GpuSummary& g) { return std::string(name_of(g.kind)); });
  differ("energy_source", source_of(a), source_of(b));
  differ("calibration", calibration_of(a), calibration_of(b));
  device("found_setting", [](const auto&, const GpuSummary& g) { return setting_text(g.found); });
  device("set_to", [](const auto&, const GpuSummary& g) {
    return g.requested ? setting_text(g.requested) : std::string("nothing was set");
  });
  differ("mode", a.run.info.mode, b.run.info.mode);
  differ("host", a.run.info.host, b.run.info.host);
  differ("working_directory", a.run.info.working_directory, b.run.info.working_directory);
  differ("rubato_version", a.run.info.rubato_version, b.run.info.rubato_version);
  differ("clock_rate", number(a.run.info.clock_rate), number(b.run.info.clock_rate));
  return out;
}

std::vector<Warning> warnings_of(const Side& a, const Side& b) {
  std::vector<Warning> out;
  if (a.run.info.run_id == b.run.info.run_id) out.push_back({"same_run", "A and B are the same run."});
  about_the_end(a, "A", out);
  about_the_end(b, "B", out);
  if (kind_of(a) != kind_of(b))
    out.push_back(
        {"different_kind", cat("A's figures are ", name_of(kind_of(a)), " and B's are ", name_of(kind_of(b)),
                               ": they are not numbers of one kind, and must not be compared.")});
  if (models(a) != models(b))
    out.push_back({"different_gpu_model", cat("The GPUs are not the same model: ", models(a), " and ",
                                              models(b), ". The difference is mostly theirs.")});
  else if (a.summary.gpus.size() != b.summary.gpus.size())
    out.push_back({"different_gpu_count", cat("A was measured on ", a.summary.gpus.size(), " GPUs and B on ",
                                              b.summary.gpus.size(), ".")});
  else if (uuids(a) == uuids(b) && source_of(a) == source_of(b) && !same_calibration(a, b))
    out.push_back({"different_calibration", about_calibration(a, b)});
  else if (!same_sensors(a, b))
    out.push_back(
        {"different_sensor", cat(uuids(a) == uuids(b) ? cat("The energy was read as ", source_of(a),
                                                            " in A and as ", source_of(b), " in B")
                                                      : std::string("The runs were on different GPUs"),
                                 ": the calibration error of each counts, and the ranges are wide.")});
  if (a.run.info.command != b.run.info.command)
    out.push_back({"different_command", "The commands are not the same."});
  const std::size_t in_a = a.run.iterations.size();
  const std::size_t in_b = b.run.iterations.size();
  if ((in_a == 0) != (in_b == 0))
    out.push_back({"iterations_unknown", cat("Iterations were seen only in ", in_a > 0 ? "A" : "B",
                                             ": whether both did the same work is not known.")});
  else if (in_a == 0)
    out.push_back({"iterations_unknown",
                   "No iterations were seen: that both runs did the same work is taken for granted."});
  else if (in_a != in_b)
    out.push_back({"different_iterations", cat("A did ", in_a, " iterations and B ", in_b,
                                               ": only the figures per iteration can be compared.")});
  const auto warm_a = mean_temperature(a.run);
  const auto warm_b = mean_temperature(b.run);
  if (warm_a && warm_b && abs(*warm_a - *warm_b) >= kFarApart)
    out.push_back(
        {"temperatures_apart", cat("The GPUs were at ", *warm_a, " in A and ", *warm_b,
                                   " in B on average: a warmer GPU draws more at the same clock.")});
  return out;
}

}  // namespace rubato::analyse
