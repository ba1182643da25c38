#include "meter/hwmon/channels.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"

namespace rubato::meter::hwmon {
namespace {

/// What NVIDIA's Grace firmware calls its power meters ("Grace Power Socket 0"), and what holds what: the
/// module is CPU, GPU and their memory; Grace is the CPU's part with its memory and regulators.
struct GraceName {
  std::string_view label;
  Scope scope;
  std::string_view inside;
};
constexpr std::array<GraceName, 4> kGrace{
    {{"Module Power Socket ", Scope::module, ""},
     {"Grace Power Socket ", Scope::cpu_package, "Module Power Socket "},
     {"CPU Power Socket ", Scope::cpu_cores, "Grace Power Socket "},
     {"SysIO Power Socket ", Scope::cpu_uncore, "Grace Power Socket "}}};

struct Meaning {
  Scope scope = Scope::rail;
  std::string inside_label;  // of the quantity that holds this one
};

Meaning meaning_of(const Chip& chip, const Quantity& quantity) {
  if (chip.name == "power_meter") {
    for (const GraceName& grace : kGrace) {
      if (!quantity.label.starts_with(grace.label)) continue;
      const std::string socket = quantity.label.substr(grace.label.size());
      return {grace.scope, grace.inside.empty() ? std::string() : cat(grace.inside, socket)};
    }
    if (chip.whole_system) return {Scope::node, {}};
  }
  if (chip.name == "amd_energy") {
    if (quantity.label.starts_with("Esocket")) return {Scope::cpu_package, {}};
    if (quantity.label.starts_with("Ecore")) return {Scope::cpu_cores, {}};
  }
  return {};
}

/// A counter of one core of many: only where asked for by name.
bool is_one_core(const Chip& chip, const Quantity& quantity) {
  return chip.name == "amd_energy" && quantity.label.starts_with("Ecore");
}

/// A chip's name where it is the only one so called.
const std::string& short_name(const std::vector<Chip>& chips, const Chip& chip) {
  const auto same =
      std::count_if(chips.begin(), chips.end(), [&](const Chip& c) { return c.name == chip.name; });
  if (same == 1) return chip.name;
  const auto same_id =
      std::count_if(chips.begin(), chips.end(), [&](const Chip& c) { return c.id == chip.id; });
  return same_id == 1 ? chip.id : chip.folder;
}

ChannelFiles make_channel(const std::vector<Chip>& chips, const Chip& chip, const Quantity& quantity) {
  ChannelFiles made{.quantity = quantity, .update_interval = chip.update_interval};
  MeterChannel& channel = made.channel;
  channel.name = cat(short_name(chips, chip), "/", quantity.attribute);
  Meaning meaning = meaning_of(chip, quantity);
  channel.scope = meaning.scope;
  made.inside_label = std::move(meaning.inside_label);
  channel.place = quantity.label.empty() ? cat(chip.id, ", ", quantity.attribute, ", not labelled")
                                         : cat(quantity.label, " (", chip.id, ")");
  channel.has_energy = !quantity.energy.empty();
  channel.has_power = !channel.has_energy;
  channel.sensor = {.update_period = chip.update_interval,
                    .averaging_window = quantity.averaged_over,
                    .source = cat("Linux hwmon, driver ", chip.name, "; accuracy not stated")};
  if (channel.has_energy) channel.sensor.counter_period = chip.update_interval;
  return made;
}

struct Wanted {
  std::string chip;
  std::string attribute;  // empty: all of the chip
};

bool is_attribute(std::string_view item) {
  for (const std::string_view stem : {"power", "energy", "rail"})
    if (item.starts_with(stem) && item.size() > stem.size() &&
        std::isdigit(static_cast<unsigned char>(item.back())))
      return item.find('/') == std::string_view::npos && item.find('_') == std::string_view::npos;
  return false;
}

std::vector<Wanted> parse(std::string_view argument) {
  std::vector<Wanted> wanted;
  for (const std::string& part : split(argument, ',')) {
    const std::string item(trim(part));
    const auto slash = item.rfind('/');
    if (slash != std::string::npos)
      wanted.push_back({item.substr(0, slash), item.substr(slash + 1)});
    else if (is_attribute(item) && !wanted.empty())
      wanted.push_back({wanted.back().chip, item});
    else
      wanted.push_back({item, {}});
  }
  return wanted;
}

bool matches(const Wanted& wanted, const Chip& chip, const Quantity& quantity) {
  const bool this_chip = wanted.chip == chip.name || wanted.chip == chip.id || wanted.chip == chip.folder;
  return this_chip && (wanted.attribute.empty() || wanted.attribute == quantity.attribute);
}

Error no_such(const std::vector<Chip>& chips, const Wanted& wanted) {
  std::string known;
  for (const Chip& chip : chips)
    for (const Quantity& quantity : chip.quantities)
      known += cat(known.empty() ? "" : ", ", short_name(chips, chip), "/", quantity.attribute);
  return {ErrorCode::not_found,
          cat("hwmon: no chip with power or energy is called '", wanted.chip,
              wanted.attribute.empty() ? "" : "/", wanted.attribute, "'"),
          known.empty() ? std::string("no chip on this machine tells power or energy")
                        : cat("there are: ", known)};
}

/// Fills in `inside` where the container is chosen too.
void link(std::vector<ChannelFiles>& chosen) {
  for (ChannelFiles& inner : chosen) {
    if (inner.inside_label.empty()) continue;
    const auto outer = std::find_if(chosen.begin(), chosen.end(), [&](const ChannelFiles& c) {
      return c.quantity.label == inner.inside_label;
    });
    if (outer != chosen.end()) inner.channel.inside = outer->channel.name;
  }
}

}  // namespace

Result<std::vector<ChannelFiles>> choose_channels(const std::vector<Chip>& chips, std::string_view argument) {
  const std::vector<Wanted> wanted = trim(argument).empty() ? std::vector<Wanted>{} : parse(argument);
  for (const Wanted& one : wanted) {
    const bool known = std::any_of(chips.begin(), chips.end(), [&](const Chip& chip) {
      return std::any_of(chip.quantities.begin(), chip.quantities.end(),
                         [&](const Quantity& q) { return matches(one, chip, q); });
    });
    if (!known) return fail(no_such(chips, one));
  }
  std::vector<ChannelFiles> chosen;
  for (const Chip& chip : chips) {
    for (const Quantity& quantity : chip.quantities) {
      const auto asked_for = [&](const Wanted& one) { return matches(one, chip, quantity); };
      const bool take = wanted.empty() ? !is_one_core(chip, quantity)
                                       : std::any_of(wanted.begin(), wanted.end(), asked_for);
      if (take) chosen.push_back(make_channel(chips, chip, quantity));
    }
  }
  link(chosen);
  return chosen;
}

}  // namespace rubato::meter::hwmon
