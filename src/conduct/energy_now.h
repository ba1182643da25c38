// What has been drawn since the run began, source by source, at one moment: told to the job while it runs.
#pragma once

#include <optional>
#include <string>

#include "base/units.h"
#include "core/kind.h"
#include "core/window.h"

namespace rubato::conduct {

/// One GPU now.
struct GpuNow {
  std::string uuid;
  std::optional<EnergyWindow> energy;  // since the run began
  std::optional<Watts> power;
  Kind kind = Kind::measured;
};

/// One channel of a meter now.
struct ChannelNow {
  std::string meter;
  std::string channel;
  Scope scope = Scope::node;
  std::optional<EnergyWindow> energy;  // since its first reading
  std::optional<Watts> power;
};

}  // namespace rubato::conduct
