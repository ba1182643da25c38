// From what a user typed or configured to an agent, the way to log in, and what to ask it for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "meter/endpoint.h"
#include "meter/meter.h"
#include "meter/snmp/preset.h"

namespace rubato::meter::snmp {

enum class Version { v2c, v3 };
enum class AuthProtocol { sha1, sha256, sha512 };

struct Login {
  Version version = Version::v2c;
  std::string community = "public";
  // v3, always with authentication; encrypted where `priv_password` is given.
  std::string user;
  AuthProtocol auth = AuthProtocol::sha256;
  std::string auth_password;
  std::string priv_password;
};

struct Target {
  Endpoint agent;
  Login login;
  std::vector<ChannelPlan> channels;
  Seconds period{1.0};
};

/// "rack" names a table of meters.toml; "apc@pdu-3/7" says it all, with the community from
/// $RUBATO_SNMP_COMMUNITY.
[[nodiscard]] Result<Target> parse_target(std::string_view argument, const Surroundings& around);

}  // namespace rubato::meter::snmp
