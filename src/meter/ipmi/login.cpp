#include "meter/ipmi/login.h"

#include "base/text.h"
#include "meter/keys.h"

namespace rubato::meter::ipmi {
namespace {

constexpr std::uint16_t kPort = 623;

Result<Target> parse_table(const MeterTable& table) {
  const Keys keys(table);
  if (auto known = keys.only({"host", "port", "user", "password", "cipher", "privilege", "scope", "place",
                              "period_s", "accuracy"});
      !known)
    return fail(known.error());
  Target target;
  auto host = keys.text("host");
  if (!host) return fail(host.error());
  auto port = keys.integer_or("port", kPort, 1, 65535);
  if (!port) return fail(port.error());
  target.login.controller = Endpoint{*host, static_cast<std::uint16_t>(*port)};
  target.login.user = keys.text("user", "");
  target.login.password = keys.text("password", "");
  auto cipher = keys.integer_or("cipher", 3, 0, 17);
  if (!cipher) return fail(cipher.error());
  target.login.cipher = static_cast<std::uint8_t>(*cipher);
  auto privilege = keys.one_of("privilege", {"user", "operator", "admin"}, "user");
  if (!privilege) return fail(privilege.error());
  if (*privilege == "operator") target.login.privilege = Privilege::operator_;
  if (*privilege == "admin") target.login.privilege = Privilege::admin;
  auto scope = keys.scope_or("scope", Scope::node);
  if (!scope) return fail(scope.error());
  target.scope = *scope;
  target.place = keys.text("place", cat("the machine of controller ", target.login.name()));
  auto period = keys.number_or("period_s", 1, 0.2, 600);
  if (!period) return fail(period.error());
  target.period = Seconds(*period);
  auto accuracy = keys.number_or("accuracy", target.accuracy, 0.0001, 1);
  if (!accuracy) return fail(accuracy.error());
  target.accuracy = *accuracy;
  target.accuracy_stated = keys.has("accuracy");
  return target;
}

}  // namespace

Result<Target> parse_target(std::string_view argument, const Surroundings& around) {
  if (!argument.empty()) {
    auto table = table_for("ipmi", argument, around);
    if (!table) return fail(table.error());
    return parse_table(**table);
  }
  if (!around.root.exists(kLocalDevice))
    return fail(ErrorCode::not_found,
                cat("there is no ", kLocalDevice, ": no controller, or no driver for it"),
                "sudo modprobe ipmi_devintf ipmi_si; or a table of kind ipmi in meters.toml to ask it over "
                "the network");
  Target target;
  target.login.device = around.root.path(kLocalDevice).string();
  target.place = "this machine";
  return target;
}

}  // namespace rubato::meter::ipmi
