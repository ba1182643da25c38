#include "guard/restore.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "guard/writes.h"

namespace rubato::guard {
namespace {

struct Outcome {
  Restoration restoration = Restoration::not_needed;
  std::string words{};
};

Outcome failed(const std::string& doing, const Error& error) {
  return {Restoration::failed, cat(doing, ": ", error.what)};
}

bool outside(Watts limit, const PowerLimits& range) {
  return limit < range.min || limit > range.max;
}

Outcome restore_limit(Journal& journal, device::Gpu& gpu, device::GpuControl& control) {
  const auto entry = journal.content().limit;
  if (!entry || !entry->touched) return {};
  const Watts found = entry->last.found;
  const auto now = gpu.power_limits();
  if (!now) return failed(cat("cannot read the power limit, so ", found, " is not put back"), now.error());
  if (same_limit(now->requested, found)) return {Restoration::restored, cat("power limit ", found)};
  if (!is_ours(*entry, *now)) {
    return {Restoration::left_alone,
            cat("the power limit is now ", now->requested, ", which rubato did not set (it set ",
                entry->read_back.value_or(entry->last.intended), "), so it stands; found was ", found)};
  }
  auto after = write_limit(journal, gpu, control, now->requested, found, Announce::best_effort);
  if (after && same_limit(after->requested, found)) {
    return {Restoration::restored, cat("power limit ", found, " (was ", now->requested, ")")};
  }
  if (after) {
    return {Restoration::failed,
            cat("the driver took the power limit ", found, " but now reads ", after->requested)};
  }
  if (!outside(found, *now)) return failed(cat("cannot put back the power limit ", found), after.error());
  // The range moved since (a profile, an out-of-band controller): the nearest legal value is all that can be
  // had.
  const Watts nearest = std::clamp(found, now->min, now->max);
  after = write_limit(journal, gpu, control, now->requested, nearest, Announce::best_effort);
  if (!after) return failed(cat("cannot put back the power limit ", found), after.error());
  return {Restoration::restored, cat("power limit ", after->requested, ", the nearest to the ", found,
                                     " found that the driver still accepts")};
}

std::string words(const ApplicationClocks& clocks) {
  return cat("SM ", clocks.sm, " memory ", clocks.memory);
}

std::string_view spoken(Knob knob) {
  return knob == Knob::memory_clock ? "memory clock" : "SM clock";
}

Outcome restore_lock(Journal& journal, device::GpuControl& control, Knob knob) {
  const auto entry = journal.content().lock(knob);
  if (!entry || !entry->touched) return {};
  const ClockLock found = entry->last.found;
  const std::string goal =
      found ? cat(spoken(knob), " locked to ", found->min, "-", found->max) : cat(spoken(knob), " unlocked");
  if (!may_differ(*entry, found)) return {Restoration::restored, goal};
  const Status written = write_lock(journal, control, knob, found, Announce::best_effort);
  if (!written) return failed("cannot get back to " + goal, written.error());
  return {Restoration::restored, goal};
}

Outcome restore_application(Journal& journal, device::Gpu& gpu, device::GpuControl& control) {
  const auto entry = journal.content().application_clocks;
  if (!entry || !entry->touched) return {};
  const ApplicationClocks found = entry->last.found;
  const std::string goal = "application clocks " + words(found);
  const auto now = gpu.application_clocks();
  if (!now)
    return failed(cat("cannot read the application clocks, so ", words(found), " is not put back"),
                  now.error());
  if (same_clocks(now->requested, found)) return {Restoration::restored, goal};
  if (!is_ours(*entry, now->requested)) {
    return {Restoration::left_alone,
            cat("the application clocks are now ", words(now->requested),
                ", which rubato did not set (it set ", words(entry->read_back.value_or(entry->last.intended)),
                "), so they stand; found was ", words(found))};
  }
  const auto after = write_application(journal, gpu, control, now->requested, found, way_back_to(found, *now),
                                       Announce::best_effort);
  if (!after) return failed("cannot put back the " + goal, after.error());
  if (!same_clocks(*after, found)) {
    return {Restoration::failed, cat("the driver took the ", goal, " but now reads ", words(*after))};
  }
  return {Restoration::restored, cat(goal, " (were ", words(now->requested), ")")};
}

int gravity(Restoration restoration) {
  switch (restoration) {
    case Restoration::not_needed:
      return 0;
    case Restoration::restored:
      return 1;
    case Restoration::left_alone:
      return 2;
    case Restoration::failed:
      return 3;
  }
  return 3;
}

}  // namespace

RestorationReport restore(Journal& journal, device::Gpu& gpu, device::GpuControl& control) noexcept {
  RestorationReport report{journal.content().header.gpu, Restoration::not_needed, {}};
  const std::array outcomes = {
      restore_limit(journal, gpu, control), restore_lock(journal, control, Knob::sm_clock),
      restore_lock(journal, control, Knob::memory_clock), restore_application(journal, gpu, control)};
  for (const Outcome& outcome : outcomes) {
    if (gravity(outcome.restoration) > gravity(report.outcome)) report.outcome = outcome.restoration;
    if (!outcome.words.empty()) report.detail += (report.detail.empty() ? "" : "; ") + outcome.words;
  }
  return report;
}

}  // namespace rubato::guard
