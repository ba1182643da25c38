// Which management controller to ask, and how to log in to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "meter/endpoint.h"
#include "meter/meter.h"

namespace rubato::meter::ipmi {

enum class Privilege { user, operator_, admin };

struct Login {
  std::string device;  // of this machine's own controller; empty where `controller` is given
  std::optional<Endpoint> controller;
  std::string user;
  std::string password;
  std::uint8_t cipher = 3;
  Privilege privilege = Privilege::user;
  [[nodiscard]] std::string name() const { return controller ? controller->text() : device; }
};

struct Target {
  Login login;
  Scope scope = Scope::node;
  std::string place;
  double accuracy = SensorFacts{}.calibration_band;
  bool accuracy_stated = false;
  Seconds period{1.0};
};

inline constexpr const char* kLocalDevice = "/dev/ipmi0";

/// Empty: this machine's own controller; else a table of meters.toml.
[[nodiscard]] Result<Target> parse_target(std::string_view argument, const Surroundings& around);

}  // namespace rubato::meter::ipmi
