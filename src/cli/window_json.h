// What `rubato windows` says of one source's energy, alike for GPUs and meters.
#pragma once

#include <optional>
#include <string>

#include "core/window.h"
#include "report/value.h"

namespace rubato::cli {

/// Adds energy, its bands, source, kind and `why_missing` to an object.
inline void set_energy(report::Object& to, const std::optional<EnergyWindow>& energy,
                       const std::string& why) {
  const auto known = [&](auto value_of) {
    return energy ? report::Value(value_of(*energy)) : report::Value(report::Missing{why});
  };
  const auto joules = [](Joules EnergyWindow::*part) {
    return [part](const EnergyWindow& e) { return report::Amount{(e.*part).value(), "J"}; };
  };
  to.set("energy_j", known(joules(&EnergyWindow::energy)));
  to.set("band_sampling_j", known(joules(&EnergyWindow::band_sampling)));
  to.set("band_calibration_j", known(joules(&EnergyWindow::band_calibration)));
  to.set("source", known([](const EnergyWindow& e) { return e.source.name; }));
  to.set("kind", known([](const EnergyWindow& e) { return std::string(name_of(e.source.kind)); }));
  to.set("why_missing", why);
}

}  // namespace rubato::cli
