#include "cli/words/units.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace rubato::cli {
namespace {

struct Unit {
  std::string_view value_name;
  std::string_view suffix;  // in small letters
  double factor;
};

constexpr std::array<Unit, 13> kUnits = {{{"W", "w", 1},
                                          {"W", "watt", 1},
                                          {"W", "watts", 1},
                                          {"W", "kw", 1000},
                                          {"MHZ", "mhz", 1},
                                          {"MHZ", "ghz", 1000},
                                          {"S", "s", 1},
                                          {"S", "sec", 1},
                                          {"S", "ms", 0.001},
                                          {"S", "m", 60},
                                          {"S", "min", 60},
                                          {"S", "h", 3600},
                                          {"N", "s", 1}}};

}  // namespace

std::string_view unit_words(std::string_view value_name) {
  if (value_name == "W") return "watts";
  if (value_name == "MHZ") return "megahertz";
  if (value_name == "S" || value_name == "SECONDS") return "seconds";
  if (value_name == "G_PER_KWH") return "grams for a kilowatt-hour";
  return {};
}

std::optional<std::string> plain_number(std::string_view value_name, std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789.");
  if (end == 0 || end == std::string_view::npos) return std::nullopt;
  const auto value = parse_number(text.substr(0, end));
  std::string suffix(trim(text.substr(end)));
  std::ranges::transform(suffix, suffix.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string_view name = value_name == "SECONDS" ? "S" : value_name;
  for (const Unit& unit : kUnits)
    if (value && unit.value_name == name && unit.suffix == suffix) return number(*value * unit.factor);
  return std::nullopt;
}

}  // namespace rubato::cli
