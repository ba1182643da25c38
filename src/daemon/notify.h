// What systemd is told (sd_notify(3)); nothing where it did not start this process.
#pragma once

#include <string_view>

namespace rubato::daemon {

/// "READY=1", "WATCHDOG=1", "STOPPING=1"; lost where nobody listens.
void tell_service_manager(std::string_view news);

}  // namespace rubato::daemon
