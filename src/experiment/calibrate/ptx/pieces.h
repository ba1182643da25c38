// What the kernels' texts are put together from.
#pragma once

#include <string>
#include <string_view>

namespace rubato::experiment::ptx {

/// The lowest PTX and architecture that hold what the module needs: the driver goes up from there.
[[nodiscard]] inline std::string header(std::string_view version, std::string_view target) {
  std::string out = ".version ";
  out += version;
  out += "\n.target ";
  out += target;
  out += "\n.address_size 64\n";
  return out;
}

[[nodiscard]] inline std::string repeated(std::string_view text, unsigned times) {
  std::string out;
  for (unsigned i = 0; i < times; ++i) out += text;
  return out;
}

/// `text` with every `from` replaced.
[[nodiscard]] inline std::string with(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// %i = number of this thread in the whole grid.
inline constexpr std::string_view kThreadNumber = R"(
  mov.u32 %i, %ctaid.x;
  mov.u32 %n, %ntid.x;
  mov.u32 %l, %tid.x;
  mad.lo.u32 %i, %i, %n, %l;
)";

}  // namespace rubato::experiment::ptx
