// What common smart plugs send over MQTT.
#pragma once

#include <string>
#include <string_view>

#include "meter/mqtt/plan.h"

namespace rubato::meter::mqtt {

inline constexpr std::string_view kPresetNames = "tasmota, shelly1, shelly2";

/// Adds one channel and its feeds. False: no such preset.
[[nodiscard]] bool add_preset(Plan& plan, std::string_view preset, const std::string& device,
                              unsigned outlet);
/// How to ask the device for a report; absent where it has no such question.
[[nodiscard]] std::optional<Poll> poll_of(std::string_view preset, const std::string& device, Seconds every);

}  // namespace rubato::meter::mqtt
