// From what a user typed or configured to a broker, the topics to listen to, and where in their messages
// watts and joules stand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "meter/endpoint.h"
#include "meter/meter.h"

namespace rubato::meter::mqtt {

/// One number in the messages of one topic.
struct Field {
  std::string path;       // as JsonMessage reads it
  double factor = 1;      // to W or J
  std::string unit_path;  // where the message itself states the unit; empty: nowhere
  std::string unit;       // what it must state there
};

/// What one topic tells of one channel.
struct Feed {
  std::string topic;
  std::size_t channel = 0;
  std::optional<Field> power;
  std::optional<Field> energy;
};

/// A question that makes a device report at once, where its maker has one.
struct Poll {
  std::string topic;
  std::string payload;
  Seconds every;
};

struct Plan {
  Endpoint broker;
  std::string user;  // empty: none
  std::string password;
  std::string tls_ca;  // a file or folder of certificates; empty: no TLS
  std::vector<MeterChannel> channels;
  std::vector<Feed> feeds;
  std::optional<Poll> poll;
};

/// How long a device that speaks this often is not called silent: one message may be lost.
[[nodiscard]] inline Seconds quiet_for(Seconds every) {
  return std::max(Seconds(60), every * 2);
}

/// "desk" names a table of meters.toml; "tasmota@broker/plug1" says it all.
[[nodiscard]] Result<Plan> parse_plan(std::string_view argument, const Surroundings& around);

}  // namespace rubato::meter::mqtt
