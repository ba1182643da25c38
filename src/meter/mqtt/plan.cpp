#include "meter/mqtt/plan.h"

#include <unistd.h>

#include "base/text.h"
#include "meter/keys.h"
#include "meter/mqtt/preset.h"
#include "meter/unit_factor.h"

namespace rubato::meter::mqtt {
namespace {

constexpr std::uint16_t kPort = 1883;
constexpr std::uint16_t kTlsPort = 8883;

bool is_plain(std::string_view device) {
  return !device.empty() && device.find_first_of("+#") == std::string_view::npos;
}

Result<Plan> parse_direct(std::string_view argument) {
  const auto at = argument.find('@');
  const std::string_view preset = argument.substr(0, at);
  const std::string_view rest = argument.substr(at + 1);
  const auto slash = rest.find('/');
  const std::string device(slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1));
  if (!is_plain(device))
    return fail(ErrorCode::invalid_argument,
                cat("'mqtt:", argument, "' names no device, needed PRESET@HOST[:PORT]/DEVICE"),
                "DEVICE is the topic name of the plug: mosquitto_sub -h HOST -v -t '#' shows who sends what");
  auto broker = parse_endpoint(rest.substr(0, slash), kPort);
  if (!broker) return fail(broker.error());
  Plan plan;
  plan.broker = *broker;
  // Tasmota calls its only outlet 1, Shelly counts from 0.
  if (!add_preset(plan, preset, device, preset == "tasmota" ? 1 : 0))
    return fail(ErrorCode::invalid_argument,
                cat("'", preset, "' is no preset of the meter mqtt, needed one of ", kPresetNames),
                "--meter mqtt:tasmota@broker/plug1, or a table of meters.toml with topic and power_path");
  return plan;
}

using Factor = std::optional<double> (*)(std::string_view unit);

/// keys "power_path", "power_unit", "power_scale", "power_unit_path", or the same with "energy".
Result<std::optional<Field>> parse_field(const Keys& keys, const std::string& what,
                                         std::string_view usual_unit, Factor factor_of,
                                         std::string_view units) {
  if (!keys.has(what + "_path")) {
    for (const char* needs_path : {"_unit", "_scale", "_unit_path"})
      if (keys.has(what + needs_path))
        return fail(keys.wrong(what + "_path", cat("a path, as ", what, needs_path, " is given")));
    return std::optional<Field>{};
  }
  Field field;
  field.path = keys.text(what + "_path", "");
  field.unit = keys.text(what + "_unit", usual_unit);
  field.unit_path = keys.text(what + "_unit_path", "");
  const auto factor = factor_of(field.unit);
  if (!factor) return fail(keys.wrong(what + "_unit", cat("one of ", units)));
  auto scale = keys.number_or(what + "_scale", 1, 1e-9, 1e9);
  if (!scale) return fail(scale.error());
  field.factor = *factor * *scale;
  return std::optional(field);
}

Status add_topic(Plan& plan, const Keys& keys) {
  auto topic = keys.text("topic");
  if (!topic) return fail(topic.error());
  auto power = parse_field(keys, "power", "W", watts_per, kPowerUnits);
  if (!power) return fail(power.error());
  auto energy = parse_field(keys, "energy", "kWh", joules_per, kEnergyUnits);
  if (!energy) return fail(energy.error());
  if (!is_plain(*topic)) return fail(keys.wrong("topic", "one topic, without + and #"));
  if (!*power && !*energy)
    return fail(keys.wrong("power_path", "where in the message the power stands, or energy_path",
                           "power_path = \"\" is for messages that are a plain number"));
  for (const char* of_presets : {"device", "outlets", "poll_s"})
    if (keys.has(of_presets)) return fail(keys.wrong(of_presets, "nothing, as there is no preset"));
  MeterChannel channel;
  channel.name = "power";
  channel.place = *topic;
  channel.has_power = power->has_value();
  channel.has_energy = energy->has_value();
  channel.quiet_for = quiet_for(Seconds(0));  // how often they come is not known
  channel.sensor.source = "messages of the user's choice, stamped on arrival";
  plan.channels.push_back(channel);
  plan.feeds.push_back({*topic, 0, *power, *energy});
  return {};
}

Status add_plug(Plan& plan, const Keys& keys) {
  const std::string preset = keys.text("preset", "");
  auto device = keys.text("device");
  if (!device) return fail(device.error());
  if (!is_plain(*device)) return fail(keys.wrong("device", "the topic name of the plug, without + and #"));
  if (keys.has("topic")) return fail(keys.wrong("topic", "nothing, as the preset knows its topics"));
  for (const std::string& text : split(keys.text("outlets", preset == "tasmota" ? "1" : "0"), ',')) {
    const auto outlet = parse_integer(trim(text));
    if (!outlet || *outlet < 0 || *outlet > 99 || (preset == "tasmota" && *outlet != 1))
      return fail(keys.wrong(
          "outlets", preset == "tasmota" ? "1, the only one of this preset" : "numbers from 0: \"0,1\""));
    if (!add_preset(plan, preset, *device, static_cast<unsigned>(*outlet)))
      return fail(keys.wrong("preset", cat("one of ", kPresetNames)));
    for (std::size_t i = 0; i + 1 < plan.channels.size(); ++i)
      if (plan.channels[i].name == plan.channels.back().name)
        return fail(keys.wrong("outlets", "every outlet once"));
  }
  if (!keys.has("poll_s")) return {};
  auto every = keys.number("poll_s", 0.5, 3600);
  if (!every) return fail(every.error());
  plan.poll = poll_of(preset, *device, Seconds(*every));
  if (!plan.poll) return fail(keys.wrong("poll_s", "nothing, as this preset has no question to ask"));
  for (MeterChannel& channel : plan.channels) channel.quiet_for = quiet_for(Seconds(*every));
  return {};
}

Result<Plan> parse_table(const MeterTable& table) {
  const Keys keys(table);
  if (auto known = keys.only({"host",         "port",
                              "user",         "password",
                              "tls_ca",       "preset",
                              "device",       "outlets",
                              "poll_s",       "topic",
                              "power_path",   "power_unit",
                              "power_scale",  "power_unit_path",
                              "energy_path",  "energy_unit",
                              "energy_scale", "energy_unit_path",
                              "scope",        "place",
                              "accuracy"});
      !known)
    return fail(known.error());
  Plan plan;
  auto host = keys.text("host");
  if (!host) return fail(host.error());
  auto port = keys.integer_or("port", keys.has("tls_ca") ? kTlsPort : kPort, 1, 65535);
  if (!port) return fail(port.error());
  plan.broker = Endpoint{*host, static_cast<std::uint16_t>(*port)};
  plan.user = keys.text("user", "");
  plan.password = keys.text("password", "");
  if (plan.user.empty() && !plan.password.empty())
    return fail(keys.wrong("user", "a user, as a password is given"));
  plan.tls_ca = keys.text("tls_ca", "");
  // libmosquitto would call it an invalid argument of some function.
  if (keys.has("tls_ca") && ::access(plan.tls_ca.c_str(), R_OK) != 0)
    return fail(keys.wrong("tls_ca", "a file or folder of certificates that this user can read",
                           "name the certificate of the authority that signed the broker's: "
                           "/etc/ssl/certs/ca-certificates.crt holds those everybody trusts"));
  const Status added = keys.has("preset") ? add_plug(plan, keys) : add_topic(plan, keys);
  if (!added) return fail(added.error());
  auto scope = keys.scope_or("scope", plan.channels.size() == 1 ? Scope::node : Scope::rail);
  if (!scope) return fail(scope.error());
  auto accuracy = keys.number_or("accuracy", SensorFacts{}.calibration_band, 0.0001, 1);
  if (!accuracy) return fail(accuracy.error());
  for (MeterChannel& channel : plan.channels) {
    channel.scope = *scope;
    if (keys.has("place")) channel.place = cat(keys.text("place", ""), ", ", channel.place);
    channel.sensor.calibration_band = *accuracy;
    if (keys.has("accuracy")) channel.sensor.source += "; accuracy as meters.toml states it";
  }
  return plan;
}

}  // namespace

Result<Plan> parse_plan(std::string_view argument, const Surroundings& around) {
  if (argument.find('@') != std::string_view::npos) return parse_direct(argument);
  auto table = table_for("mqtt", argument, around);
  if (!table) return fail(table.error());
  return parse_table(**table);
}

}  // namespace rubato::meter::mqtt
