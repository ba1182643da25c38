#include "report/format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include "base/percent.h"
#include "base/text.h"

namespace rubato::report {
namespace {

// Fewer digits after the point the more stand before it.
int decimals(double value, int digits) {
  const double size = std::abs(value);
  const int before = size < 1 ? 0 : static_cast<int>(std::floor(std::log10(size))) + 1;
  return std::max(0, digits - std::max(1, before));
}

std::string significant(double value, int digits) {
  return fixed(value, decimals(value, digits));
}

struct EnergyUnit {
  double scale;
  std::string_view name;
  int decimals;
};

EnergyUnit unit_of(Joules energy) {
  const double size = std::abs(energy.value());
  if (size >= 1e7) return {1e-6, "MJ", decimals(size * 1e-6, 4)};
  if (size >= 1e4) return {1e-3, "kJ", decimals(size * 1e-3, 4)};
  return {1.0, "J", decimals(size, size < 1000 ? 3 : 4)};
}

}  // namespace

std::string fixed(double value, int digits) {
  std::array<char, 400> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, digits);
  std::string out(buffer.data(), end.ptr);
  // "-0.0" is a rounded nothing.
  if (out.starts_with('-') && out.find_first_not_of("-0.") == std::string::npos) out.erase(0, 1);
  return out;
}

std::string text_of(Joules energy) {
  const EnergyUnit unit = unit_of(energy);
  return cat(fixed(energy.value() * unit.scale, unit.decimals), " ", unit.name);
}

std::string band_text(Joules band, Joules of) {
  const EnergyUnit unit = unit_of(of);
  const double shown = band.value() * unit.scale;
  // As many digits as the energy has, or more until one is left that is not zero.
  const int first = shown == 0 ? 0 : -static_cast<int>(std::floor(std::log10(std::abs(shown))));
  return cat(fixed(shown, std::max(unit.decimals, first)), " ", unit.name);
}

std::string text_of(Watts power) {
  return fixed(power.value(), 1) + " W";
}

std::string text_of(Seconds duration) {
  const double s = duration.value();
  if (s < 0) return cat("-", text_of(-duration));
  if (s < 5e-6) return "0 s";  // what would be rounded away in milliseconds
  if (s < 0.1) return significant(s * 1e3, 3) + " ms";
  if (s < 59.95) return significant(s, 3) + " s";
  const auto whole = static_cast<std::int64_t>(std::llround(s));
  const auto two = [](std::int64_t n) { return cat(n < 10 ? "0" : "", n); };
  if (whole < 3600) return cat(whole / 60, " min ", two(whole % 60), " s");
  return cat(whole / 3600, " h ", two(whole % 3600 / 60), " min");
}

std::string percent(double fraction) {
  return rubato::percent(fraction);
}

std::string command_line(const std::vector<std::string>& command) {
  std::string out;
  for (const std::string& argument : command) {
    const bool plain =
        !argument.empty() && argument.find_first_of(" \t\n\"'\\$`*?#;&|<>()") == std::string::npos;
    std::string shown = argument;
    if (!plain) {
      shown = "'";
      for (const char c : argument) shown += c == '\'' ? std::string("'\\''") : std::string(1, c);
      shown += "'";
    }
    out += cat(out.empty() ? "" : " ", shown);
  }
  return out;
}

std::string ending(const std::optional<int>& code, const std::optional<int>& signal, bool ended) {
  if (code) return cat("exit status ", *code);
  if (signal) return cat("killed by signal ", *signal, " (", ::strsignal(*signal), ")");
  return ended ? "the job runs on" : "cut short";
}

}  // namespace rubato::report
