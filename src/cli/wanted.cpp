#include "cli/wanted.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "base/percent.h"
#include "base/text.h"
#include "feature/provider.h"

namespace rubato::cli {
namespace {

std::string title(const device::Gpu& gpu) {
  const auto& identity = gpu.identity();
  return cat(identity.id.uuid, " (", identity.name, ", ", identity.pci_bus_id, ")");
}

Megahertz nearest(const std::vector<Megahertz>& table, Megahertz wanted) {
  return *std::min_element(table.begin(), table.end(),
                           [&](Megahertz a, Megahertz b) { return abs(a - wanted) < abs(b - wanted); });
}

/// The clocks that every GPU has.
struct Common {
  std::vector<Megahertz> clocks;  // ascending
  std::string of;                 // whose, for a person
};

/// not_supported where one GPU lists none, or where they have none in common.
Result<Common> common_clocks(const std::vector<std::unique_ptr<device::Gpu>>& gpus, std::string_view which,
                             std::vector<Megahertz> device::ClockTable::*list) {
  Common common;
  for (const auto& gpu : gpus) {
    const auto table = gpu->supported_clocks();
    if (!table) return fail(table.error());
    const auto& clocks = (*table).*list;
    if (clocks.empty()) {
      return fail(ErrorCode::not_supported, cat(title(*gpu), " does not say which ", which, " clocks it has"),
                  "leave the option out; `rubato devices` shows what this GPU can do");
    }
    if (common.of.empty()) {
      common = {clocks, title(*gpu)};
      continue;
    }
    std::vector<Megahertz> both;
    std::set_intersection(common.clocks.begin(), common.clocks.end(), clocks.begin(), clocks.end(),
                          std::back_inserter(both));
    if (both.empty()) {
      return fail(ErrorCode::not_supported,
                  cat(title(*gpu), " has no ", which, " clock in common with ", common.of),
                  "run rubato for each kind of GPU by itself: --gpu");
    }
    if (both != common.clocks) common.of += cat(" and ", title(*gpu));
    common.clocks = std::move(both);
  }
  return common;
}

Status fit_clock(std::optional<ClockRange>& range, const Common& common, std::string_view which,
                 std::vector<std::string>& notes) {
  if (!range) return {};
  const auto& [clocks, of] = common;
  const Megahertz asked = range->min;
  const Megahertz fitting = nearest(clocks, asked);
  if (fitting == asked) return {};
  if (asked < clocks.front() || asked > clocks.back()) {
    return fail(ErrorCode::invalid_argument,
                cat(of, ": ", which, " clock ", asked, " is outside ", clocks.front(), " to ", clocks.back()),
                cat("the nearest it has is ", fitting));
  }
  notes.push_back(cat(of, " has no ", which, " clock of ", asked, ": using the nearest, ", fitting));
  range = ClockRange{fitting, fitting};
  return {};
}

// What cannot be locked could not have been, and could not be put back.
Status fit_found_lock(Wanted& wanted, const Common& common) {
  if (!wanted.found_sm_clock) return {};
  const auto& [clocks, of] = common;
  const ClockRange stated = *wanted.found_sm_clock;
  if (stated.min < clocks.front() || stated.max > clocks.back()) {
    return fail(ErrorCode::invalid_argument,
                cat(of, ": --found-sm-clock ", stated.min, " to ", stated.max, " is outside ", clocks.front(),
                    " to ", clocks.back()),
                "state the lock that is in force, as it was given to nvidia-smi -lgc");
  }
  const ClockRange fitting{nearest(clocks, stated.min), nearest(clocks, stated.max)};
  if (fitting != stated) {
    wanted.notes.push_back(cat(of, " has no clocks of ", stated.min, " and ", stated.max,
                               ": the lock to be put back is the nearest, ", fitting.min, " to ",
                               fitting.max));
    wanted.found_sm_clock = fitting;
  }
  return {};
}

struct AskedKnob {
  bool asked;
  const Capability Capabilities::*capability;
  std::string_view what;
};

std::array<AskedKnob, 3> asked_knobs(const Wanted& wanted) {
  return {{{wanted.setting.power_limit.has_value(), &Capabilities::set_power_limit, "the power limit"},
           {wanted.setting.sm_clock.has_value(), &Capabilities::set_sm_clock, "SM clocks"},
           {wanted.setting.memory_clock.has_value(), &Capabilities::set_memory_clock, "memory clocks"}}};
}

/// What no right helps with.
Status fit_knobs(const Wanted& wanted, const std::vector<std::unique_ptr<device::Gpu>>& gpus) {
  for (const auto& gpu : gpus) {
    for (const auto& [asked, capability, what] : asked_knobs(wanted)) {
      const Capability& can = gpu->capabilities().*capability;
      if (!asked || can.available || can.needs_right) continue;
      return fail(
          ErrorCode::not_supported, cat(title(*gpu), ": cannot set ", what, ": ", can.why_not),
          can.hint.empty() ? "leave the option out; `rubato devices` shows what this GPU can do" : can.hint);
    }
  }
  return {};
}

/// What helps is a limit that all of them take: that of one may be too low for another.
std::string limits_of_all(const std::vector<PowerLimits>& limits) {
  Watts min = limits.front().min;
  Watts max = limits.front().max;
  std::string now;
  for (const PowerLimits& one : limits) {
    min = std::max(min, one.min);
    max = std::min(max, one.max);
    now += cat(now.empty() ? "" : ", ", one.requested);
  }
  if (min > max) return "no limit suits all of these GPUs: choose them apart with --gpu";
  return cat("choose a limit from ", min, " to ", max, limits.size() > 1 ? ", which all of them take" : "",
             "; requested now: ", now);
}

Status fit_limit(Watts asked, const std::vector<std::unique_ptr<device::Gpu>>& gpus) {
  std::vector<PowerLimits> all;
  std::string refused;
  for (const auto& gpu : gpus) {
    const auto limits = gpu->power_limits();
    if (!limits) return fail(limits.error());
    all.push_back(*limits);
    if (refused.empty() && (asked < limits->min || asked > limits->max))
      refused = cat(title(*gpu), ": power limit ", asked, " is outside ", limits->min, " to ", limits->max);
  }
  if (refused.empty()) return {};
  return fail(ErrorCode::invalid_argument, std::move(refused), limits_of_all(all));
}

Result<ClockRange> parse_range(const std::string& text) {
  const auto ends = split(text, ':');
  const auto low = parse_number(ends.front());
  const auto high = parse_number(ends.back());
  if (ends.size() != 2 || !low || !high || !std::isfinite(*low) || !std::isfinite(*high) || *low <= 0 ||
      *high < *low) {
    return fail(ErrorCode::invalid_argument, cat("--found-sm-clock ", text, " is no range of clocks"),
                "write it as MIN:MAX in MHz, as in --found-sm-clock 210:1005; none: nothing is locked");
  }
  return ClockRange{Megahertz(*low), Megahertz(*high)};
}

}  // namespace

Result<Wanted> parse_wanted(const WantedText& text) {
  Wanted wanted;
  const auto positive = [](const std::optional<double>& value, std::string_view option) -> Status {
    if (!value || (std::isfinite(*value) && *value > 0)) return {};
    return fail(ErrorCode::invalid_argument, cat(option, " needs a positive number, not ", number(*value)));
  };
  for (const auto& [value, option] :
       {std::pair{text.power_limit_w, "--power-limit"}, std::pair{text.sm_clock_mhz, "--sm-clock"},
        std::pair{text.memory_clock_mhz, "--memory-clock"}})
    if (const auto fine = positive(value, option); !fine) return fail(fine.error());

  const auto pinned = [](double mhz) { return ClockRange{Megahertz(mhz), Megahertz(mhz)}; };
  if (text.power_limit_w) {
    wanted.setting.power_limit = Watts(*text.power_limit_w);
    wanted.knobs.push_back(Knob::power_limit);
  }
  if (text.sm_clock_mhz) {
    wanted.setting.sm_clock = pinned(*text.sm_clock_mhz);
    wanted.knobs.push_back(Knob::sm_clock);
  }
  if (text.memory_clock_mhz) {
    wanted.setting.memory_clock = pinned(*text.memory_clock_mhz);
    wanted.knobs.push_back(Knob::memory_clock);
  }
  wanted.found_clock_stated = !text.found_sm_clock.empty();
  if (wanted.found_clock_stated && text.found_sm_clock != "none") {
    const auto range = parse_range(text.found_sm_clock);
    if (!range) return fail(range.error());
    wanted.found_sm_clock = *range;
  }
  return wanted;
}

Result<std::optional<double>> parse_max_slowdown(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (const auto share = parse_share(text)) return share;
  if (parse_number(text) == 1.0)
    return fail(ErrorCode::invalid_argument, cat("--max-slowdown ", text, " may be 1 % or 100 %"),
                "write it as --max-slowdown 1%, or 100%");
  return fail(ErrorCode::invalid_argument, cat("--max-slowdown ", text, " is no share between 0 and 100 %"),
              "write it as --max-slowdown 5%");
}

Result<Knob> parse_tunable_knob(const std::string& name) {
  constexpr std::array kTunable{Knob::power_limit, Knob::sm_clock, Knob::memory_clock};
  std::string known;
  for (const Knob knob : kTunable) {
    if (name == name_of(knob)) return knob;
    known += cat(known.empty() ? "" : ",", name_of(knob));
  }
  return fail(ErrorCode::invalid_argument, cat("--knobs ", name, ": no such knob can be chosen for a job"),
              cat("any of --knobs ", known));
}

Status fit_to_gpus(Wanted& wanted, const std::vector<std::unique_ptr<device::Gpu>>& gpus) {
  if (gpus.empty()) return {};
  if (const auto fits = fit_knobs(wanted, gpus); !fits) return fits;
  if (wanted.setting.power_limit)
    if (const auto fits = fit_limit(*wanted.setting.power_limit, gpus); !fits) return fits;
  if (wanted.setting.sm_clock || wanted.found_sm_clock) {
    const auto common = common_clocks(gpus, "SM", &device::ClockTable::sm);
    if (!common) return fail(common.error());
    if (const auto fits = fit_found_lock(wanted, *common); !fits) return fits;
    if (const auto fits = fit_clock(wanted.setting.sm_clock, *common, "SM", wanted.notes); !fits) return fits;
  }
  if (wanted.setting.memory_clock) {
    const auto common = common_clocks(gpus, "memory", &device::ClockTable::memory);
    if (!common) return fail(common.error());
    return fit_clock(wanted.setting.memory_clock, *common, "memory", wanted.notes);
  }
  return {};
}

std::optional<Error> missing_right(const Wanted& wanted,
                                   const std::vector<std::unique_ptr<device::Gpu>>& gpus,
                                   const std::optional<Error>& why) {
  for (const auto& gpu : gpus) {
    for (const auto& [asked, capability, what] : asked_knobs(wanted)) {
      const Capability& can = gpu->capabilities().*capability;
      if (!asked || can.available) continue;
      return Error{ErrorCode::no_permission,
                   cat(title(*gpu), ": cannot set ", what, ": ", why ? why->what : can.why_not),
                   why ? why->hint : can.hint};
    }
  }
  return std::nullopt;
}

Result<std::string> wanted_counters(const std::string& name) {
  if (name == "off") return std::string();
  std::string known = "auto, off";
  for (const auto& kind : feature::provider_kinds()) {
    if (kind.facts.name == name) return name;
    known += cat(", ", kind.facts.name);
  }
  if (name == "auto") return name;
  return fail(ErrorCode::invalid_argument, cat("--counters ", name, ": there is no such provider"),
              cat("one of ", known, "; `rubato doctor` says which of them work here"));
}

}  // namespace rubato::cli
