#include "period_truth/files.h"

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "period_truth/trace.h"

namespace rubato::period_truth {
namespace {

std::string cell(std::optional<double> value, int digits) {
  return value ? number(*value, digits) : std::string();
}

void write_points(std::ostream& out, const Trace& trace) {
  out << "time_s,power_w,sm_util_pct,memory_util_pct,sm_clock_mhz\n";
  for (const progress::TelemetryPoint& p : trace.points) {
    const auto percent = [](std::optional<double> share) {
      return share ? std::optional<double>(100 * *share) : std::nullopt;
    };
    out << number(p.at.since_epoch().value(), 6) << ','
        << cell(p.power ? std::optional<double>(p.power->value()) : std::nullopt, 3) << ','
        << cell(percent(p.sm_utilisation), 0) << ',' << cell(percent(p.memory_utilisation), 0) << ','
        << cell(p.sm_clock ? std::optional<double>(p.sm_clock->value()) : std::nullopt, 0) << '\n';
  }
}

}  // namespace

Status write_traces(const std::string& folder, std::uint64_t first_seed, std::uint64_t traces) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  std::ofstream truth(folder + "/truth.csv");
  truth << "file,seed,family,sensor,periodic,period_s,observable\n";
  for (std::uint64_t i = 0; i < traces; ++i) {
    const Trace trace = draw_trace(first_seed + i);
    const std::string name = cat(first_seed + i, ".csv");
    std::ofstream out(std::filesystem::path(folder) / name);
    write_points(out, trace);
    if (!out.flush())
      return tl::unexpected(Error{ErrorCode::io, cat("cannot write '", folder, "/", name, "'"),
                                  "name a folder that can be written to"});
    truth << name << ',' << trace.seed << ",\"" << name_of(trace.family) << "\",\""
          << name_of(trace.sensor.kind) << "\"," << (trace.truth.median_s ? 1 : 0) << ','
          << cell(trace.truth.median_s, 6) << ',' << (trace.truth.observable ? 1 : 0) << '\n';
  }
  return {};
}

}  // namespace rubato::period_truth
