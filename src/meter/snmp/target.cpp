#include "meter/snmp/target.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "meter/keys.h"
#include "meter/unit_factor.h"

namespace rubato::meter::snmp {
namespace {

constexpr std::uint16_t kPort = 161;
// With unit and digits beside every value, this many channels still fit into one Ethernet frame.
constexpr std::size_t kMostOutlets = 8;
// USM refuses shorter ones (RFC 3414, section 11.2).
constexpr std::size_t kShortestPassword = 8;

std::string preset_names() {
  std::string names;
  for (const Preset& preset : presets()) names += cat(names.empty() ? "" : ", ", preset.name);
  return names;
}

std::optional<unsigned> outlet_number(std::string_view text) {
  const auto number = parse_integer(trim(text));
  if (!number || *number < 1 || *number > 999) return std::nullopt;
  return static_cast<unsigned>(*number);
}

void leave_out_energy(ChannelPlan& plan) {
  plan.energy.reset();
  plan.channel.has_energy = false;
}

Result<Target> parse_direct(std::string_view argument) {
  const auto at = argument.find('@');
  const Preset* preset = find_preset(argument.substr(0, at));
  if (preset == nullptr)
    return fail(
        ErrorCode::invalid_argument,
        cat("'", argument.substr(0, at), "' is no preset of the meter snmp, needed one of ", preset_names()),
        "--meter snmp:apc@pdu-3/7, or a table of meters.toml with the object to read");
  std::string_view rest = argument.substr(at + 1);
  std::optional<unsigned> outlet;
  if (const auto slash = rest.find('/'); slash != std::string_view::npos) {
    outlet = outlet_number(rest.substr(slash + 1));
    if (!outlet)
      return fail(ErrorCode::invalid_argument,
                  cat("'", rest.substr(slash + 1), "' is no outlet, needed a number from 1"),
                  cat("--meter snmp:", argument.substr(0, at), "@", rest.substr(0, slash), "/1"));
    rest = rest.substr(0, slash);
  }
  auto agent = parse_endpoint(rest, kPort);
  if (!agent) return fail(agent.error());
  Target target;
  target.agent = *agent;
  if (const char* community = std::getenv("RUBATO_SNMP_COMMUNITY");
      community != nullptr && *community != '\0')
    target.login.community = community;
  target.channels.push_back(preset->plan(1, outlet));
  if (!preset->energy_unasked) leave_out_energy(target.channels.back());
  return target;
}

Result<Login> parse_login(const Keys& keys) {
  Login login;
  const bool has_user = keys.has("user");
  auto version = keys.one_of("version", {"2c", "3"}, has_user ? "3" : "2c");
  if (!version) return fail(version.error());
  if (*version == "2c") {
    if (has_user) return fail(keys.wrong("version", "'3' where a user is given"));
    login.community = keys.text("community", login.community);
    return login;
  }
  login.version = Version::v3;
  auto user = keys.text("user");
  if (!user) return fail(user.error());
  login.user = *user;
  auto auth = keys.one_of("auth", {"SHA", "SHA-256", "SHA-512"}, "SHA-256");
  if (!auth) return fail(auth.error());
  login.auth = *auth == "SHA"       ? AuthProtocol::sha1
               : *auth == "SHA-256" ? AuthProtocol::sha256
                                    : AuthProtocol::sha512;
  auto password = keys.text("auth_password");
  if (!password) return fail(password.error());
  login.auth_password = *password;
  if (login.auth_password.size() < kShortestPassword)
    return fail(keys.wrong("auth_password", cat("at least ", kShortestPassword, " characters")));
  if (auto priv = keys.one_of("priv", {"AES"}, "AES"); !priv) return fail(priv.error());
  login.priv_password = keys.text("priv_password", "");
  if (!login.priv_password.empty() && login.priv_password.size() < kShortestPassword)
    return fail(keys.wrong("priv_password", cat("at least ", kShortestPassword, " characters")));
  if (login.priv_password.empty() && keys.has("priv"))
    return fail(keys.wrong("priv_password", "a password, as `priv` is given"));
  return login;
}

Result<std::vector<ChannelPlan>> parse_preset(const Keys& keys) {
  auto name = keys.text("preset");
  if (!name) return fail(name.error());
  const Preset* preset = find_preset(*name);
  if (preset == nullptr) return fail(keys.wrong("preset", cat("one of ", preset_names())));
  auto unit = keys.integer_or("pdu", 1, 1, 99);
  if (!unit) return fail(unit.error());
  auto energy = keys.flag_or("energy", preset->energy_unasked);
  if (!energy) return fail(energy.error());
  std::vector<ChannelPlan> plans;
  if (keys.has("outlets")) {
    for (const std::string& text : split(keys.text("outlets", ""), ',')) {
      const auto outlet = outlet_number(text);
      if (!outlet) return fail(keys.wrong("outlets", "numbers from 1 with commas between them: \"3,4\""));
      plans.push_back(preset->plan(static_cast<unsigned>(*unit), outlet));
      const auto same = [&](const ChannelPlan& p) { return p.channel.name == plans.back().channel.name; };
      if (std::count_if(plans.begin(), plans.end(), same) > 1)
        return fail(keys.wrong("outlets", "every outlet once"));
    }
    if (plans.size() > kMostOutlets)
      return fail(keys.wrong("outlets", cat("at most ", kMostOutlets, " outlets"),
                             "put the others in a table of their own"));
  } else {
    plans.push_back(preset->plan(static_cast<unsigned>(*unit), std::nullopt));
  }
  if (!*energy)
    for (ChannelPlan& plan : plans) leave_out_energy(plan);
  return plans;
}

using Factor = std::optional<double> (*)(std::string_view unit);

/// keys "power_oid", "power_unit", "power_scale", or the same with "energy".
Result<std::optional<Quantity>> parse_quantity(const Keys& keys, const std::string& what,
                                               std::string_view usual_unit, Factor factor_of,
                                               std::string_view units) {
  const std::string oid_key = what + "_oid";
  if (!keys.has(oid_key)) {
    for (const char* needs_oid : {"_unit", "_scale"})
      if (keys.has(what + needs_oid))
        return fail(keys.wrong(oid_key, cat("an object, as ", what, needs_oid, " is given")));
    return std::optional<Quantity>{};
  }
  const auto oid = parse_oid(keys.text(oid_key, ""));
  if (!oid)
    return fail(keys.wrong(oid_key, "an object in numbers: 1.3.6.1.4.1.318.1.1.26.4.3.1.5.1",
                           "snmptranslate -On turns a name of a MIB into numbers"));
  const auto factor = factor_of(keys.text(what + "_unit", usual_unit));
  if (!factor) return fail(keys.wrong(what + "_unit", cat("one of ", units)));
  auto scale = keys.number_or(what + "_scale", 1, 1e-9, 1e9);
  if (!scale) return fail(scale.error());
  Quantity quantity;
  quantity.value = *oid;
  quantity.factor = *factor * *scale;
  return std::optional(quantity);
}

Result<std::vector<ChannelPlan>> parse_objects(const Keys& keys) {
  auto power = parse_quantity(keys, "power", "W", watts_per, kPowerUnits);
  if (!power) return fail(power.error());
  auto energy = parse_quantity(keys, "energy", "Wh", joules_per, kEnergyUnits);
  if (!energy) return fail(energy.error());
  if (!*power && !*energy)
    return fail(keys.wrong("power_oid", "an object to read, or energy_oid, or a preset",
                           cat("presets: ", preset_names())));
  for (const char* of_presets : {"pdu", "outlets", "energy"})
    if (keys.has(of_presets)) return fail(keys.wrong(of_presets, "nothing, as there is no preset"));
  ChannelPlan plan;
  plan.channel.name = "power";
  plan.channel.place = "as meters.toml says";
  plan.channel.has_power = power->has_value();
  plan.channel.has_energy = energy->has_value();
  plan.channel.sensor.source = "an object of the user's choice";
  plan.power = *power;
  plan.energy = *energy;
  return std::vector<ChannelPlan>{plan};
}

Result<Target> parse_table(const MeterTable& table) {
  const Keys keys(table);
  if (auto known = keys.only({"host",        "port",          "version",     "community",     "user",
                              "auth",        "auth_password", "priv",        "priv_password", "preset",
                              "pdu",         "outlets",       "energy",      "power_oid",     "power_unit",
                              "power_scale", "energy_oid",    "energy_unit", "energy_scale",  "scope",
                              "place",       "period_s",      "accuracy"});
      !known)
    return fail(known.error());
  Target target;
  auto host = keys.text("host");
  if (!host) return fail(host.error());
  auto port = keys.integer_or("port", kPort, 1, 65535);
  if (!port) return fail(port.error());
  target.agent = Endpoint{*host, static_cast<std::uint16_t>(*port)};
  auto login = parse_login(keys);
  if (!login) return fail(login.error());
  target.login = *login;
  auto plans = keys.has("preset") ? parse_preset(keys) : parse_objects(keys);
  if (!plans) return fail(plans.error());
  target.channels = *plans;
  // A machine with two supplies hangs on two outlets: neither is the node.
  auto scope = keys.scope_or("scope", target.channels.size() == 1 ? Scope::node : Scope::rail);
  if (!scope) return fail(scope.error());
  auto period = keys.number_or("period_s", 1, 0.1, 600);
  if (!period) return fail(period.error());
  target.period = Seconds(*period);
  auto accuracy = keys.number_or("accuracy", SensorFacts{}.calibration_band, 0.0001, 1);
  if (!accuracy) return fail(accuracy.error());
  for (ChannelPlan& plan : target.channels) {
    plan.channel.scope = *scope;
    if (keys.has("place")) plan.channel.place = cat(keys.text("place", ""), ", ", plan.channel.place);
    plan.channel.sensor.calibration_band = *accuracy;
    if (keys.has("accuracy")) plan.channel.sensor.source += "; accuracy as meters.toml states it";
  }
  return target;
}

}  // namespace

Result<Target> parse_target(std::string_view argument, const Surroundings& around) {
  if (argument.find('@') != std::string_view::npos) return parse_direct(argument);
  auto table = table_for("snmp", argument, around);
  if (!table) return fail(table.error());
  auto target = parse_table(**table);
  if (!target) return target;
  for (ChannelPlan& plan : target->channels) plan.channel.place += cat(" at ", target->agent.text());
  return target;
}

}  // namespace rubato::meter::snmp
