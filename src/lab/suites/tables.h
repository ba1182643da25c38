// The text of the tables beside this file, put into the library when it is configured (embed.cmake).
#pragma once

#include <string_view>

namespace rubato::lab {

[[nodiscard]] std::string_view networks_csv();
[[nodiscard]] std::string_view gpoeo_71_csv();
[[nodiscard]] std::string_view server_30_csv();

}  // namespace rubato::lab
