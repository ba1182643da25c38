#include "govern/registry.h"

#include <array>

#include "base/text.h"
#include "govern/fixed_strategy.h"
#include "govern/measure_only_strategy.h"
#include "govern/reference/reference_entries.h"
#include "govern/reference/zeus_entries.h"
#include "govern/rubato/governor.h"

namespace rubato::govern {
namespace {

using Made = Result<std::unique_ptr<Strategy>>;

Made no_variant(std::string_view name, Variant variant) {
  return fail(
      ErrorCode::not_found,
      cat("strategy ", name, " has no variant '", variant == Variant::mixing ? "+mix" : "@published", "'"),
      cat("leave the ending off: ", name));
}

Made make_fixed(const StrategyRequest& request, Variant variant) {
  if (variant != Variant::same_goal) return no_variant("fixed", variant);
  if (request.wanted.empty()) {
    return fail(ErrorCode::invalid_argument,
                "strategy fixed: no setting was given; it needs a limit or a clock",
                "rubato run --power-limit W -- CMD");
  }
  return std::make_unique<FixedStrategy>(FixedOptions{request.wanted, request.found_clock_stated},
                                         Random(request.seed));
}

Made make_measure_only(const StrategyRequest& request, Variant variant) {
  if (variant != Variant::same_goal) return no_variant(kMeasureOnly, variant);
  return std::make_unique<MeasureOnlyStrategy>(request.reason);
}

Made make_governor(const StrategyRequest& request, Variant variant, bool shares) {
  const std::string_view name = shares ? "rubato" : "rubato-fixed";
  if (variant != Variant::same_goal) return no_variant(name, variant);
  if (request.space.axes.empty())
    return fail(ErrorCode::invalid_argument, cat("strategy ", name, ": nothing may be set on this GPU"),
                "rubato devices says what may be set, and why not");
  return std::make_unique<Governor>(GovernorOptions{request.goal, request.space, request.model, shares,
                                                    request.deadline, request.remembered, request.gpus},
                                    Random(request.seed));
}

Made make_rubato(const StrategyRequest& request, Variant variant) {
  return make_governor(request, variant, true);
}

Made make_rubato_fixed(const StrategyRequest& request, Variant variant) {
  return make_governor(request, variant, false);
}

constexpr std::array kStrategies = {
    StrategyEntry{"rubato", "finds the setting that saves most inside the bound, and watches it",
                  make_rubato},
    StrategyEntry{"rubato-fixed", "the same without sharing time between two settings", make_rubato_fixed},
    StrategyEntry{"fixed", "the setting given on the command line, with a baseline and control blocks",
                  make_fixed},
    StrategyEntry{kMeasureOnly, "changes nothing", make_measure_only},
    StrategyEntry{"gpoeo", "GPOEO's search (TPDS 2022): memory clocks, then a golden section over SM clocks",
                  make_gpoeo},
    StrategyEntry{"odpp", "ODPP's search (CCGRID 2020): seven clocks and a piecewise model", make_odpp},
    StrategyEntry{"mf-gpoeo", "MF-GPOEO's search (T-SUSC 2023): a PID on the gear", make_mf_gpoeo},
    StrategyEntry{"depo", "DEPO's search (SP&E 2022): a golden section over power limits", make_depo},
    StrategyEntry{"bisection", "a plain bisection with five tries", make_bisection},
    StrategyEntry{"static-sweep", "every n-th setting, then the best of them", make_static_sweep},
    StrategyEntry{"zeus", "Zeus's optimizer (NSDI 2023): all power limits, then the lowest inside the bound",
                  make_zeus_slowdown},
    StrategyEntry{"zeus-energy", "the same sweep, then the least energy", make_zeus_energy},
    StrategyEntry{"zeus-time", "the same sweep, then the least time", make_zeus_time},
    StrategyEntry{"zeus-cost", "the same sweep, then Zeus's cost of energy and time", make_zeus_cost},
};

struct Name {
  std::string_view plain;
  Variant variant;
};

Name split(std::string_view name) {
  constexpr std::string_view kMixing = "+mix";
  constexpr std::string_view kPublished = "@published";
  if (name.ends_with(kMixing)) return {name.substr(0, name.size() - kMixing.size()), Variant::mixing};
  if (name.ends_with(kPublished))
    return {name.substr(0, name.size() - kPublished.size()), Variant::published};
  return {name, Variant::same_goal};
}

}  // namespace

std::span<const StrategyEntry> strategies() {
  return kStrategies;
}

Made make_strategy(std::string_view name, const StrategyRequest& request) {
  const Name wanted = split(name);
  std::string known;
  for (const StrategyEntry& entry : kStrategies) {
    if (entry.name == wanted.plain) return entry.make(request, wanted.variant);
    known += cat(known.empty() ? "" : ", ", entry.name);
  }
  return fail(ErrorCode::not_found, cat("there is no strategy '", name, "'; there are: ", known),
              "docs/strategies.md says what each of them does");
}

}  // namespace rubato::govern
