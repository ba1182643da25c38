#include "device/sim/board_figures.h"

#include <algorithm>

namespace rubato::device::sim {
namespace {

// Drawing the default limit for long: more than a board sustains, so leakage is on the high side.
Celsius sustained(const Profile& profile) {
  const Celsius settled = profile.ambient + Celsius(profile.thermal_c_per_w * profile.limit_default.value());
  return std::min(settled, profile.slowdown);
}

Megahertz warm_boost(const Profile& profile, const std::vector<Megahertz>& legal, Celsius at) {
  const auto above = std::upper_bound(legal.begin(), legal.end(), profile.boost.highest);
  auto index = above == legal.begin() ? 0 : above - legal.begin() - 1;
  const double hot = (at - profile.boost.from).value();
  if (profile.boost.c_per_step > 0 && hot > 0)
    index -= std::min(index, static_cast<std::ptrdiff_t>(hot / profile.boost.c_per_step));
  return legal[static_cast<std::size_t>(index)];
}

}  // namespace

BoardFigures board_figures(const Profile& profile, const GpuFigures& peaks) {
  BoardFigures out;
  out.profile = profile.name;
  out.peaks = peaks;
  for (const Megahertz memory : profile.memory_clocks) {
    std::vector<Megahertz> legal = profile.sm_clocks_at(memory);
    std::erase_if(legal, [&](Megahertz sm) { return sm < profile.sm_lowest_reached; });
    if (!legal.empty()) out.clocks.push_back({memory, std::move(legal)});
  }
  const Celsius warm = sustained(profile);
  out.has_memory_lock = profile.has_memory_lock;
  out.has_sm_lock = profile.has_sm_lock;
  out.memory_default = profile.memory_compute;
  out.sm_default = warm_boost(profile, profile.sm_clocks_at(profile.memory_compute), warm);
  out.sm_reference = profile.sm_reference;
  out.memory_reference = profile.memory_reference;
  out.idle = profile.idle;
  out.clock_tree = profile.clock_tree;
  out.compute = profile.compute;
  out.memory_background = profile.memory_background;
  out.memory_traffic = profile.memory_traffic;
  out.transport = profile.transport;
  out.leakage = Watts(profile.leakage_w_per_c * std::max(0.0, (warm - profile.leakage_reference).value()));
  out.limit = profile.limit_default;
  for (const VoltagePoint& point : profile.voltage) out.voltage.push_back({point.clock, point.volts});
  out.clock_latency = {profile.clock_latency.typical, profile.clock_latency.spread,
                       profile.clock_latency.outlier, profile.clock_latency.outlier_share};
  return out;
}

}  // namespace rubato::device::sim
