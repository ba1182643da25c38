// Figures as the dashboard's documents have them: null where there is none.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/setting.h"

namespace rubato::exporter {

using Json = nlohmann::ordered_json;

inline Json figure(std::optional<double> value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}
template <class Tag>
Json figure(const std::optional<Quantity<Tag>>& value) {
  return value ? figure(value->value()) : Json(nullptr);
}

inline Json clock_range_json(const std::optional<ClockRange>& clocks) {
  if (!clocks) return nullptr;
  return Json{{"min", clocks->min.value()}, {"max", clocks->max.value()}};
}

/// As in rubato.run/1.
inline Json setting_json(const std::optional<Setting>& setting) {
  if (!setting) return nullptr;
  return Json{{"power_limit_w", figure(setting->power_limit)},
              {"sm_clock_mhz", clock_range_json(setting->sm_clock)},
              {"memory_clock_mhz", clock_range_json(setting->memory_clock)}};
}

/// On one line; text that is not UTF-8 gets replacement characters.
inline std::string one_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace rubato::exporter
