// The page that every HTML report is made from: script, style and policy inside (web/, built into web/dist).
#pragma once

#include <string_view>

namespace rubato::report {

/// With the places `<!--rubato:title-->`, `<!--rubato:document-->` and `<!--rubato:data-->`, in this order.
[[nodiscard]] std::string_view page_shell();

}  // namespace rubato::report
