#include "device/nvml/control.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "device/nvml/errors.h"
#include "device/nvml/units.h"

namespace rubato::device::nvml {
namespace {

std::string text_of(ClockRange range) {
  return range.min == range.max ? cat(range.min) : cat(range.min, " to ", range.max);
}

}  // namespace

Status NvmlControl::done(abi::Return code, std::string_view doing) const {
  if (code == abi::kSuccess) return {};
  return fail(from_return(code, cat(describe(name_), ": cannot ", doing)));
}

Answer<std::vector<unsigned>> NvmlControl::list_clocks(Domain domain) {
  auto memory = calls_.memory_clocks();
  if (domain == Domain::memory || !memory.ok()) return memory;
  Answer<std::vector<unsigned>> sm{.code = abi::kNotSupported};
  for (const unsigned mhz : memory.value) {
    const auto at = calls_.graphics_clocks_at(mhz);
    if (!at.ok() && !means_unsupported(at.code) && at.code != abi::kNotFound) return at;
    sm.value.insert(sm.value.end(), at.value.begin(), at.value.end());
    if (at.ok()) sm.code = abi::kSuccess;
  }
  std::sort(sm.value.begin(), sm.value.end());
  sm.value.erase(std::unique(sm.value.begin(), sm.value.end()), sm.value.end());
  return sm;
}

Status NvmlControl::check_clock(Domain domain, Megahertz clock) {
  const bool sm = domain == Domain::sm;
  // These must not reach the conversion to an unsigned number.
  if (!(clock.value() > 0 && std::isfinite(clock.value()))) {
    return fail(ErrorCode::invalid_argument, cat(describe(name_), ": ", clock, " is no clock"),
                "give it in MHz, above zero");
  }
  auto& known = sm ? sm_clocks_ : memory_clocks_;
  if (!known) {
    auto answer = list_clocks(domain);
    if (means_unsupported(answer.code)) return {};  // no list to check against: the driver decides
    if (!answer.ok()) return done(answer.code, "list the clocks");
    known = std::move(answer.value);
  }
  if (known->empty()) return {};
  const auto distance = [&](unsigned mhz) { return std::abs(mhz - clock.value()); };
  const unsigned nearest = *std::min_element(
      known->begin(), known->end(), [&](unsigned a, unsigned b) { return distance(a) < distance(b); });
  if (distance(nearest) < 0.5) return {};
  return fail(ErrorCode::invalid_argument,
              cat(describe(name_), ": has no ", sm ? "SM" : "memory", " clock of ", clock, "; it has ",
                  known->size(), " from ", known->front(), " to ", known->back(), " MHz"),
              cat("the nearest is ", nearest, " MHz"));
}

Status NvmlControl::check_range(Domain domain, ClockRange range) {
  if (range.min > range.max) {
    return fail(ErrorCode::invalid_argument,
                cat(describe(name_), ": the lowest clock ", range.min, " is above the highest ", range.max),
                "give the lower clock first");
  }
  if (auto low = check_clock(domain, range.min); !low) return low;
  return check_clock(domain, range.max);
}

Status NvmlControl::set_power_limit(Watts limit) {
  unsigned lowest = 0;
  unsigned highest = 0;
  if (const abi::Return code = calls_.call(calls_.nvml().limit_range, &lowest, &highest);
      code != abi::kSuccess)
    return done(code, "read the power limit range");
  // Not a number and negative numbers must not reach the conversion to an unsigned one.
  if (!(limit >= from_milliwatts(lowest) && limit <= from_milliwatts(highest))) {
    return fail(ErrorCode::invalid_argument,
                cat(describe(name_), ": power limit ", limit, " is outside ", from_milliwatts(lowest), " to ",
                    from_milliwatts(highest)),
                cat("choose a limit from ", from_milliwatts(lowest), " to ", from_milliwatts(highest)));
  }
  return done(calls_.call(calls_.nvml().set_limit, to_milliwatts(limit)),
              cat("set the power limit to ", limit));
}

Status NvmlControl::lock_sm_clock(ClockRange range) {
  if (auto good = check_range(Domain::sm, range); !good) return good;
  return done(
      calls_.call(calls_.nvml().lock_sm, to_whole_megahertz(range.min), to_whole_megahertz(range.max)),
      cat("lock the SM clock to ", text_of(range)));
}

Status NvmlControl::reset_sm_clock() {
  return done(calls_.call(calls_.nvml().reset_sm), "unlock the SM clock");
}

Status NvmlControl::lock_memory_clock(ClockRange range) {
  if (auto good = check_range(Domain::memory, range); !good) return good;
  return done(
      calls_.call(calls_.nvml().lock_memory, to_whole_megahertz(range.min), to_whole_megahertz(range.max)),
      cat("lock the memory clock to ", text_of(range)));
}

Status NvmlControl::reset_memory_clock() {
  return done(calls_.call(calls_.nvml().reset_memory), "unlock the memory clock");
}

Status NvmlControl::set_application_clocks(ApplicationClocks clocks) {
  if (auto good = check_clock(Domain::memory, clocks.memory); !good) return good;
  if (auto good = check_clock(Domain::sm, clocks.sm); !good) return good;
  const auto legal = calls_.graphics_clocks_at(to_whole_megahertz(clocks.memory));
  const bool pair = !legal.ok() ||
                    std::binary_search(legal.value.begin(), legal.value.end(), to_whole_megahertz(clocks.sm));
  if (!pair) {
    return fail(ErrorCode::invalid_argument,
                cat(describe(name_), ": SM ", clocks.sm, " is not legal at memory ", clocks.memory, "; ",
                    legal.value.empty() ? std::string("no SM clock is")
                                        : cat(legal.value.front(), " to ", legal.value.back(), " MHz are")),
                "'nvidia-smi -q -d SUPPORTED_CLOCKS' lists the legal pairs");
  }
  return done(calls_.call(calls_.nvml().set_application, to_whole_megahertz(clocks.memory),
                          to_whole_megahertz(clocks.sm)),
              cat("set the application clocks to memory ", clocks.memory, ", SM ", clocks.sm));
}

Status NvmlControl::reset_application_clocks() {
  return done(calls_.call(calls_.nvml().reset_application), "reset the application clocks");
}

}  // namespace rubato::device::nvml
