#include "govern/reference/zeus_selector.h"

#include "base/text.h"

namespace rubato::govern {
namespace {

std::optional<double> value_of(const ZeusSelector& selector, const ZeusProfile& profile) {
  switch (selector.rule) {
    case ZeusRule::max_slowdown:
      return profile.knob;
    case ZeusRule::time:
      return profile.time.value();
    case ZeusRule::energy:
      if (!profile.energy) return std::nullopt;
      return profile.energy->value();
    case ZeusRule::cost:
      if (!profile.energy) return std::nullopt;
      return selector.eta * profile.energy->value() +
             (1 - selector.eta) * (selector.highest_power * profile.time).value();
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(ZeusRule rule) {
  switch (rule) {
    case ZeusRule::max_slowdown:
      return "zeus";
    case ZeusRule::energy:
      return "zeus-energy";
    case ZeusRule::time:
      return "zeus-time";
    case ZeusRule::cost:
      return "zeus-cost";
  }
  return "zeus";
}

std::optional<std::size_t> ZeusSelector::select(std::span<const ZeusProfile> profiles) const {
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    if (slowdown_factor && profiles[i].time > profiles[0].time * *slowdown_factor) continue;
    const std::optional<double> value = value_of(*this, profiles[i]);
    if (!value || (best && *value >= least)) continue;
    best = i;
    least = *value;
  }
  return best;
}

std::string ZeusSelector::describe(std::string_view reference) const {
  std::string out;
  switch (rule) {
    case ZeusRule::max_slowdown:
      out = "the lowest";
      break;
    case ZeusRule::energy:
      out = "the one with the least energy";
      break;
    case ZeusRule::time:
      out = "the one with the least time";
      break;
    case ZeusRule::cost:
      out = cat("the one with the least cost at eta ", eta);
      break;
  }
  if (slowdown_factor) out += cat(" within ", *slowdown_factor, " times the time at ", reference);
  return out;
}

}  // namespace rubato::govern
