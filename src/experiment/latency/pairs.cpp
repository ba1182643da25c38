#include "experiment/latency/pairs.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace rubato::experiment {
namespace {

constexpr double kLowest = 1.0 / 3;
constexpr Megahertz kSame{0.75};  // clocks are whole megahertz at the driver

Megahertz nearest(std::span<const Megahertz> table, Megahertz wanted) {
  return *std::min_element(table.begin(), table.end(),
                           [wanted](Megahertz a, Megahertz b) { return abs(a - wanted) < abs(b - wanted); });
}

/// Up and down between two clocks, where they are two and not there yet.
void add(std::vector<ClockPair>& out, const predict::Clocks& a, const predict::Clocks& b) {
  for (const ClockPair& pair : {ClockPair{a, b}, ClockPair{b, a}})
    if (!(a == b) && std::find(out.begin(), out.end(), pair) == out.end()) out.push_back(pair);
}

Result<Megahertz> clock_of(std::string_view text, std::span<const Megahertz> table) {
  const auto mhz = parse_number(text);
  if (!mhz)
    return fail(ErrorCode::invalid_argument, cat("'", text, "' is no clock in MHz"), "--pairs 900:1500");
  const Megahertz there = nearest(table, Megahertz(*mhz));
  if (abs(there - Megahertz(*mhz)) < kSame) return there;
  return fail(ErrorCode::not_found, cat("there is no SM clock of ", text, " MHz; the nearest is ", there),
              cat("ask for ", there));
}

}  // namespace

std::vector<ClockPair> usual_pairs(std::span<const Megahertz> table, Megahertz highest, Megahertz memory,
                                   unsigned count) {
  std::vector<Megahertz> usable;
  for (const Megahertz clock : table)
    if (clock >= table.back() * kLowest && clock <= highest) usable.push_back(clock);
  std::vector<ClockPair> out;
  if (usable.size() < 2) return out;
  const auto at = [&](double share) {
    return static_cast<std::size_t>(std::lround(share * static_cast<double>(usable.size() - 1)));
  };
  const auto between = [&](std::size_t a, std::size_t b) {
    add(out, {usable[std::min(a, usable.size() - 1)], memory},
        {usable[std::min(b, usable.size() - 1)], memory});
  };
  between(at(0), at(1));
  between(at(0.5), at(0.5) + 1);
  between(at(0), at(0.5));
  between(at(0.5), at(1));
  between(at(0.25), at(0.75));
  between(at(0.75), at(0.75) + 1);
  // Finer and finer, each clock against both ends.
  for (unsigned parts = 4; out.size() < count && parts <= usable.size(); parts *= 2)
    for (unsigned i = 1; i < parts && out.size() < count; i += 2) {
      between(at(0), at(static_cast<double>(i) / parts));
      between(at(static_cast<double>(i) / parts), at(1));
    }
  if (out.size() > count) out.resize(count);
  return out;
}

std::vector<ClockPair> memory_pairs(std::span<const Megahertz> memory, Megahertz sm) {
  std::vector<ClockPair> out;
  for (std::size_t i = 1; i < memory.size(); ++i) add(out, {sm, memory[i - 1]}, {sm, memory[i]});
  if (memory.size() > 2) add(out, {sm, memory.front()}, {sm, memory.back()});
  return out;
}

Result<std::vector<ClockPair>> parse_pairs(std::string_view text, std::span<const Megahertz> table,
                                           Megahertz memory) {
  std::vector<ClockPair> out;
  for (const std::string& item : split(text, ',')) {
    const std::size_t colon = item.find(':');
    if (colon == std::string::npos)
      return fail(ErrorCode::invalid_argument, cat("'", item, "' is no pair of clocks"),
                  "--pairs 900:1500,1500:900");
    const auto from = clock_of(item.substr(0, colon), table);
    if (!from) return fail(from.error());
    const auto to = clock_of(item.substr(colon + 1), table);
    if (!to) return fail(to.error());
    if (*from == *to)
      return fail(ErrorCode::invalid_argument, cat("'", item, "' changes nothing"), "--pairs 900:1500");
    const ClockPair pair{{*from, memory}, {*to, memory}};
    if (std::find(out.begin(), out.end(), pair) == out.end()) out.push_back(pair);
  }
  return out;
}

}  // namespace rubato::experiment
