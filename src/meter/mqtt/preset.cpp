#include "meter/mqtt/preset.h"

#include "base/text.h"

namespace rubato::meter::mqtt {
namespace {

/// `every`: the longest between two messages of a device that is set as its maker does.
void add_channel(Plan& plan, const std::string& device, unsigned outlet, Seconds every,
                 std::string_view source) {
  MeterChannel channel;
  channel.name = cat("outlet-", outlet);
  channel.place = cat("outlet ", outlet, " of ", device);
  channel.has_power = true;
  channel.has_energy = true;
  channel.quiet_for = quiet_for(every);
  channel.sensor.source = source;
  plan.channels.push_back(std::move(channel));
}

// Tasmota's documentation, "MQTT" and "Commands": the telemetry message SENSOR every TelePeriod (300 s unless
// set), and the same beneath StatusSNS as the answer to the command "Status 8". ENERGY.Power is in W,
// ENERGY.Total in kWh.
void add_tasmota(Plan& plan, const std::string& device, unsigned outlet) {
  add_channel(
      plan, device, outlet, Seconds(300),
      "Tasmota, stamped on arrival; a report every TelePeriod (300 s unless set lower); its register usually "
      "moves in steps of 1 Wh; accuracy depends on the plug and its calibration");
  const std::size_t channel = plan.channels.size() - 1;
  plan.feeds.push_back({cat("tele/", device, "/SENSOR"), channel, Field{"ENERGY.Power", 1, {}, {}},
                        Field{"ENERGY.Total", 3.6e6, {}, {}}});
  plan.feeds.push_back({cat("stat/", device, "/STATUS8"), channel, Field{"StatusSNS.ENERGY.Power", 1, {}, {}},
                        Field{"StatusSNS.ENERGY.Total", 3.6e6, {}, {}}});
}

// Shelly's "Gen1 device API", MQTT: plain numbers, power in W, energy in watt-minutes since the relay
// started.
void add_shelly1(Plan& plan, const std::string& device, unsigned outlet) {
  add_channel(plan, device, outlet, Seconds(30),
              "Shelly of the first generation, stamped on arrival; reports when something changes and every "
              "30 s; its "
              "register moves in steps of 1 W min; accuracy is not in the protocol");
  const std::size_t channel = plan.channels.size() - 1;
  const std::string relay = cat("shellies/", device, "/relay/", outlet);
  plan.feeds.push_back({relay + "/power", channel, Field{"", 1, {}, {}}, {}});
  plan.feeds.push_back({relay + "/energy", channel, {}, Field{"", 60, {}, {}}});
}

// Shelly's "Gen2 device API", component Switch: apower in W, aenergy.total in Wh.
void add_shelly2(Plan& plan, const std::string& device, unsigned outlet) {
  add_channel(plan, device, outlet, Seconds(60),
              "Shelly of the second generation or later, stamped on arrival; reports when something changes "
              "and every "
              "minute; its register moves in steps of 1 mWh; accuracy is not in the protocol");
  plan.feeds.push_back({cat(device, "/status/switch:", outlet), plan.channels.size() - 1,
                        Field{"apower", 1, {}, {}}, Field{"aenergy.total", 3600, {}, {}}});
}

}  // namespace

bool add_preset(Plan& plan, std::string_view preset, const std::string& device, unsigned outlet) {
  if (preset == "tasmota") {
    add_tasmota(plan, device, outlet);
  } else if (preset == "shelly1") {
    add_shelly1(plan, device, outlet);
  } else if (preset == "shelly2") {
    add_shelly2(plan, device, outlet);
  } else {
    return false;
  }
  return true;
}

std::optional<Poll> poll_of(std::string_view preset, const std::string& device, Seconds every) {
  if (preset != "tasmota") return std::nullopt;
  return Poll{cat("cmnd/", device, "/STATUS"), "8", every};
}

}  // namespace rubato::meter::mqtt
