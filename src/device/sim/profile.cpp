#include "device/sim/profile.h"

#include <algorithm>

#include "base/text.h"
#include "device/sim/embedded.h"

namespace rubato::device::sim {
namespace {

// Built in: what does not parse is a fault of the build, and the tests read every profile.
const std::vector<Profile>& profiles() {
  static const std::vector<Profile> kAll = [] {
    std::vector<Profile> out;
    for (const std::string_view text : embedded_gpus()) out.push_back(parse_profile(text).value());
    return out;
  }();
  return kAll;
}

}  // namespace

std::vector<Megahertz> Profile::sm_clocks_at(Megahertz memory) const {
  const auto at = std::find(memory_clocks.begin(), memory_clocks.end(), memory);
  if (at == memory_clocks.end()) return {};
  return {sm_clocks.begin(),
          sm_clocks.begin() + sm_top_at[static_cast<std::size_t>(at - memory_clocks.begin())] + 1};
}

double Profile::volts_at(Megahertz clock) const {
  if (clock <= voltage.front().clock) return voltage.front().volts;
  for (std::size_t i = 1; i < voltage.size(); ++i) {
    const VoltagePoint& low = voltage[i - 1];
    const VoltagePoint& high = voltage[i];
    if (clock <= high.clock)
      return low.volts + (high.volts - low.volts) * ((clock - low.clock) / (high.clock - low.clock));
  }
  return voltage.back().volts;
}

Result<const Profile*> find_profile(std::string_view name) {
  std::string known;
  for (const Profile& profile : profiles()) {
    if (name == profile.name || name == profile.alias) return &profile;
    known += cat(known.empty() ? "" : ", ", profile.name);
    if (profile.alias != profile.name) known += cat(" (", profile.alias, ")");
  }
  return fail(ErrorCode::not_found, cat("there is no simulated GPU \"", name, "\"; there are ", known),
              "`rubato sim gpus` describes them");
}

const Profile* find_board(std::string_view board) {
  for (const Profile& profile : profiles())
    if (board == profile.board) return &profile;
  return nullptr;
}

std::vector<ProfileSummary> list_profiles() {
  std::vector<ProfileSummary> out;
  for (const Profile& profile : profiles()) out.push_back({profile.name, profile.alias, profile.board});
  return out;
}

}  // namespace rubato::device::sim
