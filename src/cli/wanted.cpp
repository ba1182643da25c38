#include "cli/wanted.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

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

Status fit_clock(std::optional<ClockRange>& range, const std::vector<Megahertz>& table,
                 std::string_view which, const device::Gpu& gpu, std::vector<std::string>& notes) {
  if (!range) return {};
  if (table.empty()) {
    return fail(ErrorCode::not_supported, cat(title(gpu), " does not say which ", which, " clocks it has"),
                "leave the option out; `rubato devices` shows what this GPU can do");
  }
  const Megahertz asked = range->min;
  const Megahertz fitting = nearest(table, asked);
  if (fitting == asked) return {};
  if (asked < table.front() || asked > table.back()) {
    return fail(
        ErrorCode::invalid_argument,
        cat(title(gpu), ": ", which, " clock ", asked, " is outside ", table.front(), " to ", table.back()),
        cat("the nearest it has is ", fitting));
  }
  notes.push_back(cat(title(gpu), " has no ", which, " clock of ", asked, ": using the nearest, ", fitting));
  range = ClockRange{fitting, fitting};
  return {};
}

// What cannot be locked could not have been, and could not be put back.
Status fit_found_lock(Wanted& wanted, const std::vector<Megahertz>& table, const device::Gpu& gpu) {
  if (!wanted.found_sm_clock || table.empty()) return {};
  const ClockRange stated = *wanted.found_sm_clock;
  if (stated.min < table.front() || stated.max > table.back()) {
    return fail(ErrorCode::invalid_argument,
                cat(title(gpu), ": --found-sm-clock ", stated.min, " to ", stated.max, " is outside ",
                    table.front(), " to ", table.back()),
                "state the lock that is in force, as it was given to nvidia-smi -lgc");
  }
  const ClockRange fitting{nearest(table, stated.min), nearest(table, stated.max)};
  if (fitting != stated) {
    wanted.notes.push_back(cat(title(gpu), " has no clocks of ", stated.min, " and ", stated.max,
                               ": the lock to be put back is the nearest, ", fitting.min, " to ",
                               fitting.max));
    wanted.found_sm_clock = fitting;
  }
  return {};
}

Result<ClockRange> parse_range(const std::string& text) {
  const auto ends = split(text, ':');
  const auto low = parse_number(ends.front());
  const auto high = parse_number(ends.back());
  if (ends.size() != 2 || !low || !high || !std::isfinite(*low) || !std::isfinite(*high) || *low <= 0 ||
      *high < *low) {
    return fail(ErrorCode::invalid_argument, cat("--found-sm-clock ", text, " is no range of clocks"),
                "write it as MIN:MAX in MHz, as in --found-sm-clock 210:1005");
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
  if (!text.found_sm_clock.empty()) {
    const auto range = parse_range(text.found_sm_clock);
    if (!range) return fail(range.error());
    wanted.found_sm_clock = *range;
  }
  return wanted;
}

Status fit_to_gpus(Wanted& wanted, const std::vector<std::unique_ptr<device::Gpu>>& gpus) {
  for (const auto& gpu : gpus) {
    if (wanted.setting.power_limit) {
      const auto limits = gpu->power_limits();
      if (!limits) return fail(limits.error());
      const Watts asked = *wanted.setting.power_limit;
      if (asked < limits->min || asked > limits->max) {
        return fail(
            ErrorCode::invalid_argument,
            cat(title(*gpu), ": power limit ", asked, " is outside ", limits->min, " to ", limits->max),
            cat("choose a limit from ", limits->min, " to ", limits->max,
                "; requested now: ", limits->requested));
      }
    }
    if (!wanted.setting.sm_clock && !wanted.setting.memory_clock && !wanted.found_sm_clock) continue;
    const auto clocks = gpu->supported_clocks();
    if (!clocks) return fail(clocks.error());
    if (const auto fits = fit_found_lock(wanted, clocks->sm, *gpu); !fits) return fits;
    if (const auto fits = fit_clock(wanted.setting.sm_clock, clocks->sm, "SM", *gpu, wanted.notes); !fits)
      return fits;
    if (const auto fits =
            fit_clock(wanted.setting.memory_clock, clocks->memory, "memory", *gpu, wanted.notes);
        !fits)
      return fits;
  }
  return {};
}

std::optional<Error> missing_right(const Wanted& wanted,
                                   const std::vector<std::unique_ptr<device::Gpu>>& gpus) {
  for (const auto& gpu : gpus) {
    const Capabilities& can = gpu->capabilities();
    for (const auto& [asked, capability, what] :
         {std::tuple{wanted.setting.power_limit.has_value(), &can.set_power_limit, "the power limit"},
          std::tuple{wanted.setting.sm_clock.has_value(), &can.set_sm_clock, "SM clocks"},
          std::tuple{wanted.setting.memory_clock.has_value(), &can.set_memory_clock, "memory clocks"}}) {
      if (asked && !capability->available) {
        return Error{ErrorCode::no_permission,
                     cat(title(*gpu), ": cannot set ", what, ": ", capability->why_not), capability->hint};
      }
    }
  }
  return std::nullopt;
}

}  // namespace rubato::cli
