#include "device/sim/work.h"

#include <nlohmann/json.hpp>

#include "base/json_figures.h"
#include "base/text.h"
#include "device/sim/embedded.h"
#include "rubato/mark_layout.h"

namespace rubato::device::sim {
namespace {

using Json = nlohmann::json;

std::uint32_t phase_of(const std::string& name) {
  if (name == "forward") return RUBATO_PHASE_FORWARD;
  if (name == "backward") return RUBATO_PHASE_BACKWARD;
  if (name == "optimizer") return RUBATO_PHASE_OPTIMIZER;
  return RUBATO_PHASE_DATA;
}

Workload parse(const Json& j) {
  Workload w;
  w.name = j.at("name").get<std::string>();
  w.description = j.at("description").get<std::string>();
  w.memory_bytes = whole_of<std::uint64_t>(j.at("memory_bytes"));
  w.jitter = j.at("jitter").at("value").get<double>();
  for (const Json& s : j.at("segments"))
    w.segments.push_back({.phase = phase_of(s.at("phase").get<std::string>()),
                          .compute_s = s.at("compute_s").get<double>(),
                          .memory_s = s.at("memory_s").get<double>(),
                          .fixed_s = s.at("fixed_s").get<double>(),
                          .compute_activity = s.at("compute_activity").get<double>(),
                          .memory_activity = s.at("memory_activity").get<double>()});
  return w;
}

std::vector<Workload> parsed(std::span<const std::string_view> texts) {
  std::vector<Workload> out;
  for (const std::string_view text : texts) out.push_back(parse_workload(text).value());
  return out;
}

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> kAll = parsed(embedded_workloads());
  return kAll;
}

const std::vector<Workload>& micro_benchmarks() {
  static const std::vector<Workload> kAll = parsed(embedded_calibration());
  return kAll;
}

}  // namespace

Status check_segments(std::span<const Segment> segments) {
  if (segments.empty() || segments.size() > kMostSegments)
    return fail(ErrorCode::invalid_argument,
                cat("an iteration has 1 to ", kMostSegments, " segments, not ", segments.size()));
  for (const Segment& s : segments) {
    const bool sane = s.compute_s >= 0 && s.memory_s >= 0 && s.fixed_s >= 0 && s.compute_activity >= 0 &&
                      s.memory_activity >= 0;
    const double total = s.compute_s + s.memory_s + s.fixed_s;
    if (!sane || !(total >= 1e-6) || !(total < 1e4))
      return fail(ErrorCode::invalid_argument,
                  "a segment lasts between 1 microsecond and 10000 s, and nothing in it is negative");
  }
  return {};
}

Result<Workload> parse_workload(std::string_view json) {
  try {
    Workload workload = parse(Json::parse(json));
    if (Status sane = check_segments(workload.segments); !sane) return fail(sane.error());
    return workload;
  } catch (const std::exception& bad) {
    return fail(ErrorCode::invalid_argument, cat("workload: ", bad.what()));
  }
}

Result<const Workload*> find_workload(std::string_view name) {
  std::string known;
  for (const Workload& workload : workloads()) {
    if (workload.name == name) return &workload;
    known += cat(known.empty() ? "" : ", ", workload.name);
  }
  for (const Workload& workload : micro_benchmarks())
    if (workload.name == name) return &workload;
  return fail(ErrorCode::not_found, cat("there is no simulated workload \"", name, "\"; there are ", known),
              "`rubato sim workloads` describes them");
}

std::vector<WorkloadSummary> list_workloads() {
  std::vector<WorkloadSummary> out;
  for (const Workload& workload : workloads()) out.push_back({workload.name, workload.description});
  return out;
}

}  // namespace rubato::device::sim
