// One session with a management controller through libfreeipmi. Calls wait on the controller and can take
// seconds.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "meter/ipmi/login.h"

struct ipmi_ctx;

namespace rubato::meter::ipmi {

/// DCMI 1.5, section 6.6.1, "Get Power Reading".
struct DcmiReading {
  Watts current;
  Seconds statistics_period;  // over which the controller keeps minimum, maximum and mean; not of `current`
};

class Controller {
 public:
  [[nodiscard]] static Result<Controller> open(const Login& login);
  [[nodiscard]] Result<DcmiReading> read_power();

 private:
  struct Close {
    void operator()(ipmi_ctx* context) const;
  };
  using Context = std::unique_ptr<ipmi_ctx, Close>;
  Controller(Context context, std::string name) : context_(std::move(context)), name_(std::move(name)) {}

  Context context_;
  std::string name_;
};

}  // namespace rubato::meter::ipmi
