// The page of the dashboard: script, style and policy inside (web/, built into web/dist).
#pragma once

#include <string_view>

namespace rubato::exporter {

[[nodiscard]] std::string_view dashboard_page();

}  // namespace rubato::exporter
