#include "cli/layers_measured.h"

#include <algorithm>
#include <set>

#include "analyse/mark_names.h"
#include "base/text.h"
#include "rubato/mark_layout.h"

namespace rubato::cli {
namespace {

/// Iterations that lie in [begin, end), one that lies in it in part counting as that part.
double iterations_in(const record::RunRecord& run, TimePoint begin, TimePoint end) {
  double out = 0;
  for (const Iteration& iteration : run.iterations) {
    const Seconds inside = std::min(end, iteration.end) - std::max(begin, iteration.begin);
    if (inside > Seconds(0) && iteration.duration() > Seconds(0)) out += inside / iteration.duration();
  }
  return out;
}

std::string name_of_layer(const record::RunRecord& run, std::uint64_t id) {
  if (const auto told = run.names.find(id); told != run.names.end()) return told->second;
  if (id <= RUBATO_PHASE_COMMUNICATION) return analyse::name_of_phase(id);
  return {};
}

}  // namespace

Result<MeasuredLayers> measured_layers(const record::RunRecord& run) {
  const auto lacks = [&](std::string_view what, std::string hint) {
    return fail(ErrorCode::not_found, cat("run ", run.info.run_id, " ", what), std::move(hint));
  };
  if (run.kernels.empty()) return lacks("holds no kernel records", "docs/kernels.md says how they are had");
  MeasuredLayers out{
      .run_id = run.info.run_id, .gpu = {}, .kind = Kind::measured, .iterations = 0, .time = {}};
  if (!run.devices.empty()) {
    out.gpu = run.devices.front().info.identity.name;
    out.kind = run.devices.front().info.kind;
  }
  // Every process records in cycles of its own and runs the same iterations; theirs are added up.
  for (const record::KernelCycle& cycle : run.kernel_cycles)
    out.iterations += iterations_in(run, cycle.begin, cycle.end);
  if (!(out.iterations >= 1))
    return lacks("recorded kernels for less than one known iteration", "let it run longer");
  for (const KernelRecord& kernel : run.kernels) {
    if (kernel.layer == 0) continue;
    if (const std::string name = name_of_layer(run, kernel.layer); !name.empty())
      out.time[name] += (kernel.end - kernel.begin) / out.iterations;
  }
  if (out.time.empty())
    return lacks("has kernel records, and none knows the layer it was launched in",
                 "mark layers with rubato_layer_begin() or NVTX ranges: docs/kernels.md");
  return out;
}

}  // namespace rubato::cli
