#include "meter/ipmi/controller.h"

#include <freeipmi/freeipmi.h>

#include <initializer_list>

#include "base/text.h"

namespace rubato::meter::ipmi {
namespace {

// One question is sent again after the first, and given up after the second; both end before kReadPatience.
constexpr unsigned kAgainMs = 400;
constexpr unsigned kGiveUpMs = 1500;
// Some controllers refuse a session opened for "the highest privilege there is", freeipmi's way, but every
// one takes the privilege by its name, which is ipmitool's way.
constexpr unsigned kAskForThisPrivilege = IPMI_WORKAROUND_FLAGS_OUTOFBAND_2_0_OPEN_SESSION_PRIVILEGE;

std::uint8_t level_of(Privilege privilege) {
  if (privilege == Privilege::admin) return IPMI_PRIVILEGE_LEVEL_ADMIN;
  return privilege == Privilege::operator_ ? IPMI_PRIVILEGE_LEVEL_OPERATOR : IPMI_PRIVILEGE_LEVEL_USER;
}

Error last_error(ipmi_ctx_t context, const std::string& name) {
  const int number = ipmi_ctx_errnum(context);
  const std::string text = ipmi_ctx_errormsg(context);
  const std::string who = cat("management controller ", name);
  switch (number) {
    case IPMI_ERR_PERMISSION:
      return {ErrorCode::no_permission, cat("no right to use the ", who),
              cat("sudo chmod g+rw ", name, ", or run as root")};
    case IPMI_ERR_USERNAME_INVALID:
    case IPMI_ERR_PASSWORD_INVALID:
    case IPMI_ERR_PASSWORD_VERIFICATION_TIMEOUT:
    case IPMI_ERR_K_G_INVALID:
      return {ErrorCode::no_permission, cat("the ", who, " refuses the login: ", text),
              "check user and password in meters.toml"};
    case IPMI_ERR_PRIVILEGE_LEVEL_INSUFFICIENT:
    case IPMI_ERR_PRIVILEGE_LEVEL_CANNOT_BE_OBTAINED:
      return {ErrorCode::no_permission,
              cat("the ", who, " does not give this user the privilege asked for: ", text),
              "set privilege to user, operator or admin in meters.toml"};
    case IPMI_ERR_CIPHER_SUITE_ID_UNAVAILABLE:
    case IPMI_ERR_AUTHENTICATION_TYPE_UNAVAILABLE:
    case IPMI_ERR_IPMI_2_0_UNAVAILABLE:
    case IPMI_ERR_IPMI_ERROR:  // what a controller without the cipher may answer
      return {ErrorCode::not_supported, cat("the ", who, " does not take this login: ", text),
              "set cipher = 17 or cipher = 3 in meters.toml; ipmitool lan print 1 lists what it takes"};
    case IPMI_ERR_COMMAND_INVALID_OR_UNSUPPORTED:
    case IPMI_ERR_COMMAND_INVALID_FOR_SELECTED_INTERFACE:
      return {ErrorCode::not_supported, cat("the ", who, " has no DCMI power reading"),
              "nothing helps: this controller cannot measure power, or only by its maker's own commands"};
    case IPMI_ERR_CONNECTION_TIMEOUT:
    case IPMI_ERR_SESSION_TIMEOUT:
    case IPMI_ERR_MESSAGE_TIMEOUT:
    case IPMI_ERR_DRIVER_TIMEOUT:
      return {ErrorCode::timeout, cat("no answer from the ", who),
              "check that IPMI over LAN is on and UDP reaches it: ipmi-ping HOST"};
    case IPMI_ERR_BMC_BUSY:
    case IPMI_ERR_DRIVER_BUSY:
      return {ErrorCode::busy, cat("the ", who, " is busy"), "the next look tries again"};
    case IPMI_ERR_DEVICE_NOT_FOUND:
    case IPMI_ERR_DEVICE_NOT_SUPPORTED:
      return {ErrorCode::not_found, cat("the ", who, " cannot be opened: ", text),
              "sudo modprobe ipmi_devintf ipmi_si"};
    default:
      return {ErrorCode::io, cat("the ", who, ": ", text), "the next look tries again"};
  }
}

}  // namespace

void Controller::Close::operator()(ipmi_ctx* context) const {
  if (context == nullptr) return;
  static_cast<void>(ipmi_ctx_close(context));
  ipmi_ctx_destroy(context);
}

Result<Controller> Controller::open(const Login& login) {
  Context context(ipmi_ctx_create());
  if (!context)
    return fail(ErrorCode::internal, "libfreeipmi has no memory for a session", "it is tried again");
  int opened = 0;
  if (login.controller) {
    // freeipmi takes HOST:PORT, and an IPv6 address in brackets.
    opened = ipmi_ctx_open_outofband_2_0(context.get(), login.controller->text().c_str(), login.user.c_str(),
                                         login.password.c_str(), nullptr, 0, level_of(login.privilege),
                                         login.cipher, kGiveUpMs, kAgainMs, kAskForThisPrivilege, 0);
  } else {
    opened = ipmi_ctx_open_inband(context.get(), IPMI_DEVICE_OPENIPMI, 0, 0, 0, login.device.c_str(), 0, 0);
  }
  if (opened < 0) return fail(last_error(context.get(), login.name()));
  return Controller(std::move(context), login.name());
}

Result<DcmiReading> Controller::read_power() {
  const std::unique_ptr<fiid_obj, void (*)(fiid_obj_t)> answer(
      fiid_obj_create(tmpl_cmd_dcmi_get_power_reading_rs), fiid_obj_destroy);
  if (!answer)
    return fail(ErrorCode::internal, "libfreeipmi has no memory for an answer", "the next look tries again");
  if (ipmi_cmd_dcmi_get_power_reading(context_.get(), IPMI_DCMI_POWER_READING_MODE_SYSTEM_POWER_STATISTICS, 0,
                                      answer.get()) < 0)
    return fail(last_error(context_.get(), name_));
  std::uint64_t watts = 0;
  std::uint64_t period_ms = 0;
  std::uint64_t measuring = 0;
  for (const auto& [field, into] :
       {std::pair{"current_power", &watts}, std::pair{"statistics_reporting_time_period", &period_ms},
        std::pair{"power_reading_state.power_measurement", &measuring}})
    if (fiid_obj_get(answer.get(), field, into) < 0)
      return fail(ErrorCode::corrupt, cat("the management controller ", name_, " answers without ", field),
                  "the next look tries again");
  if (measuring == 0)
    return fail(ErrorCode::unavailable,
                cat("the management controller ", name_, " says that it is not measuring power now"),
                "power measurement is switched on in the controller's own set-up");
  if (watts == 0)
    return fail(ErrorCode::corrupt,
                cat("the management controller ", name_, " reports 0 W, which no running machine draws"),
                "the reading is left out; this controller may have no power sensor");
  return DcmiReading{Watts(static_cast<double>(watts)), Seconds(static_cast<double>(period_ms) * 1e-3)};
}

}  // namespace rubato::meter::ipmi
