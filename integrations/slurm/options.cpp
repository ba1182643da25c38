#include "options.h"

#include <algorithm>
#include <array>
#include <set>

namespace rubato::slurm {
namespace {

constexpr std::string_view kDigits = "0123456789";

bool is_number(std::string_view text) {
  const auto point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view rest = point == std::string_view::npos ? "0" : text.substr(point + 1);
  constexpr std::size_t kLongest = 9;  // digits that no limit, clock or share exceeds
  const auto digits = [](std::string_view part) {
    return !part.empty() && part.size() <= kLongest &&
           part.find_first_not_of(kDigits) == std::string_view::npos;
  };
  return digits(whole) && digits(rest);
}

bool is_above_zero(std::string_view text) {
  return is_number(text) && text.find_first_of("123456789") != std::string_view::npos;
}

/// Of 100 %, or of 1 without the sign.
bool is_share(std::string_view text) {
  const bool percent = text.ends_with('%');
  const std::string number(percent ? text.substr(0, text.size() - 1) : text);
  return is_number(number) && std::stod(number) <= (percent ? 100.0 : 1.0);
}

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& known) {
  return std::find(known.begin(), known.end(), text) != known.end();
}

constexpr std::array<std::string_view, 4> kObjectives{"energy", "edp", "ed2p", "cost"};
constexpr std::array<std::string_view, 3> kKnobs{"power-limit", "sm-clock", "memory-clock"};

bool is_objective(std::string_view text) {
  return is_one_of(text, kObjectives);
}

bool is_rank_clocks(std::string_view text) {
  return text == "own" || text == "same";
}

/// '+' between them, because ',' is between options.
bool is_knobs(std::string_view text) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('+', begin), text.size());
    if (!is_one_of(text.substr(begin, end - begin), kKnobs)) return false;
    begin = end + 1;
  }
  return true;
}

enum class Kind { goal, bound, setting };

struct Key {
  std::string_view name;
  bool (*fits)(std::string_view);
  std::string_view example;
  Kind kind;
};

constexpr std::array<Key, 8> kKeys{{{"max-slowdown", is_share, "5%", Kind::bound},
                                    {"objective", is_objective, "energy (edp, ed2p, cost)", Kind::goal},
                                    {"knobs", is_knobs, "power-limit+sm-clock+memory-clock", Kind::goal},
                                    {"rank-clocks", is_rank_clocks, "own (same)", Kind::goal},
                                    {"host-watts", is_above_zero, "300", Kind::goal},
                                    {"power-limit", is_above_zero, "250", Kind::setting},
                                    {"sm-clock", is_above_zero, "1200", Kind::setting},
                                    {"memory-clock", is_above_zero, "2619", Kind::setting}}};
constexpr std::array<std::string_view, 4> kWords{"measure", "off", "batch", "dry-run"};

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::string wrong(std::string_view item) {
  const std::size_t equals = item.find('=');
  const std::string_view name = item.substr(0, equals);
  for (const Key& key : kKeys) {
    if (key.name != name) continue;
    if (equals == std::string_view::npos)
      return quoted(name) + " wants a value, as in " + std::string(name) + "=" + std::string(key.example);
    return quoted(item.substr(equals + 1)) + " is no value for " + std::string(name) + ", as in " +
           std::string(name) + "=" + std::string(key.example);
  }
  if (is_one_of(name, kWords)) return quoted(name) + " takes no value";
  return quoted(item) + " is none of " + known_options();
}

/// One item; the words it stands for are put into `options`. An error, or empty.
std::string take(std::string_view item, Options& options, std::set<Kind>& kinds) {
  if (item == "off") {
    options.mode = Options::Mode::off;
  } else if (item == "measure") {
    options.mode = Options::Mode::measure;
  } else if (item == "batch") {
    options.batch = true;
  } else if (item == "dry-run") {
    options.words.emplace_back("--dry-run");
    kinds.insert(Kind::goal);
  } else {
    const std::size_t equals = item.find('=');
    const auto key = std::find_if(kKeys.begin(), kKeys.end(),
                                  [&](const Key& one) { return one.name == item.substr(0, equals); });
    if (equals == std::string_view::npos || key == kKeys.end() || !key->fits(item.substr(equals + 1)))
      return wrong(item);
    std::string value(item.substr(equals + 1));
    if (key->name == "knobs") std::replace(value.begin(), value.end(), '+', ',');
    options.words.push_back("--" + std::string(key->name) + "=" + value);
    kinds.insert(key->kind);
  }
  return {};
}

}  // namespace

std::string known_options() {
  std::string all;
  for (const Key& key : kKeys)
    all += (all.empty() ? "" : ", ") + std::string(key.name) + "=" + std::string(key.example);
  for (const std::string_view word : kWords) all += ", " + std::string(word);
  return all;
}

Parsed parse_options(std::string_view text) {
  Parsed parsed;
  std::set<std::string> seen;
  std::set<Kind> kinds;
  for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    begin = end + 1;
    if (item.empty()) return {{}, "an option is missing beside ','; there are " + known_options()};
    parsed.error = take(item, parsed.options, kinds);
    if (!parsed.error.empty()) return {{}, parsed.error};
    const std::string name(item.substr(0, item.find('=')));
    if (!seen.insert(name).second) return {{}, quoted(name) + " stands twice"};
  }
  const Options& options = parsed.options;
  if (seen.contains("off") && seen.size() > 1)
    return {{}, "'off' leaves the job alone and stands beside no other option"};
  if (options.mode == Options::Mode::measure && !options.words.empty())
    return {{}, "'measure' sets nothing and stands beside no other option but 'batch'"};
  if (kinds.contains(Kind::setting) && kinds.contains(Kind::goal))
    return {{},
            "a setting of your own (power-limit, sm-clock, memory-clock) leaves nothing to choose: without "
            "objective, knobs, host-watts and dry-run"};
  return parsed;
}

}  // namespace rubato::slurm
