#include "guard/held_gpu.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "guard/restore.h"
#include "guard/writes.h"

namespace rubato::guard {
namespace {

std::vector<Record> first_records(const Terms& terms, const PowerLimits& limits) {
  std::vector<Record> records;
  for (const Knob knob : terms.knobs) {
    if (knob == Knob::power_limit) {
      records.emplace_back(LimitIntent{limits.requested, limits.requested, limits.requested});
      records.emplace_back(LimitDone{limits.requested});
    } else {
      const ClockLock found = knob == Knob::sm_clock ? terms.found_sm_clock : std::nullopt;
      records.emplace_back(LockIntent{knob, found, found, found});
      records.emplace_back(LockDone{knob, found});
    }
  }
  return records;
}

/// The lock in force before a request, which undoing goes back to.
ClockLock present_lock(const JournalContent& content, Knob knob) {
  const auto& entry = content.lock(knob);
  if (!entry) return std::nullopt;
  return entry->state.value_or(entry->last.previous);
}

}  // namespace

Result<HeldGpu> HeldGpu::take(const Folder& folder, const GpuId& gpu, Ownership ownership, OpenedGpu opened,
                              const Terms& terms, const Era& era) {
  const auto recovery = recover(folder, gpu, opened, era);
  if (!recovery) return fail(recovery.error());
  std::string note;
  if (*recovery) {
    note = (*recovery)->report.detail;
    if (!(*recovery)->cleared) {
      return fail(ErrorCode::conflict, cat(gpu.uuid, " is not as it was found by a dead run: ", note),
                  "run `rubato restore`; its journal is kept");
    }
    if ((*recovery)->report.outcome == Restoration::restored)
      note = "put back what a dead run left behind: " + note;
  }
  const auto limits = opened.gpu->power_limits();
  if (!limits) return fail(limits.error());
  const Header header{gpu, era.boot_id, era.driver_version, energy_mj(*opened.gpu)};
  auto journal = Journal::create(folder, header, first_records(terms, *limits));
  if (!journal) return fail(journal.error());
  return HeldGpu(std::move(ownership), std::move(opened), std::move(*journal), terms,
                 wire::Found{gpu, *limits, std::move(note)});
}

Status HeldGpu::check_clocks(Knob knob, const ClockRange& range) const {
  const auto table = opened_.gpu->supported_clocks();
  const std::vector<Megahertz> none;
  const auto& clocks = !table ? none : knob == Knob::memory_clock ? table->memory : table->sm;
  const bool ordered = range.min.value() > 0 && range.min <= range.max && std::isfinite(range.max.value());
  const bool inside = clocks.empty() || (range.min >= clocks.front() && range.max <= clocks.back());
  if (ordered && inside) return {};
  return fail(ErrorCode::invalid_argument,
              cat(id().uuid, ": ", name_of(knob), " ", range.min, " to ", range.max, " cannot be locked",
                  clocks.empty() ? std::string("; lowest first, above zero")
                                 : cat("; it must lie within ", clocks.front(), " to ", clocks.back())));
}

Status HeldGpu::check(const Setting& setting, const PowerLimits& now) const {
  const auto held = [this](Knob knob) {
    return std::find(terms_.knobs.begin(), terms_.knobs.end(), knob) != terms_.knobs.end();
  };
  const std::pair<Knob, bool> asked[] = {{Knob::power_limit, setting.power_limit.has_value()},
                                         {Knob::sm_clock, setting.sm_clock.has_value()},
                                         {Knob::memory_clock, setting.memory_clock.has_value()},
                                         {Knob::application_clocks, setting.application_clocks.has_value()}};
  for (const auto& [knob, wanted] : asked) {
    if (wanted && !held(knob)) {
      return fail(ErrorCode::no_permission,
                  cat(id().uuid, ": this lease may not touch the knob ", name_of(knob)),
                  cat("ask for it with --knobs ", name_of(knob)));
    }
  }
  if (setting.power_limit) {
    if (!(*setting.power_limit >= now.min && *setting.power_limit <= now.max)) {
      return fail(ErrorCode::invalid_argument, cat(id().uuid, ": a power limit of ", *setting.power_limit,
                                                   " is outside ", now.min, " to ", now.max));
    }
    if (!is_ours(*journal_.content().limit, now)) {
      return fail(
          ErrorCode::conflict,
          cat(id().uuid, ": somebody else set the power limit to ", now.requested, "; rubato had left it at ",
              journal_.content().limit->read_back.value_or(journal_.content().limit->last.intended)),
          "rubato leaves it alone from here on");
    }
  }
  if (setting.sm_clock) {
    if (Status fine = check_clocks(Knob::sm_clock, *setting.sm_clock); !fine) return fine;
  }
  if (setting.memory_clock) return check_clocks(Knob::memory_clock, *setting.memory_clock);
  return {};
}

Status HeldGpu::write(const Setting& setting, const PowerLimits& now) {
  device::GpuControl& control = *opened_.control;
  if (setting.power_limit && !same_limit(*setting.power_limit, now.requested)) {
    const auto limits =
        write_limit(journal_, *opened_.gpu, control, now.requested, *setting.power_limit, Announce::required);
    if (!limits) return fail(limits.error());
  }
  if (setting.sm_clock) {
    if (Status s = write_lock(journal_, control, Knob::sm_clock, setting.sm_clock, Announce::required); !s)
      return s;
  }
  if (setting.memory_clock) {
    return write_lock(journal_, control, Knob::memory_clock, setting.memory_clock, Announce::required);
  }
  return {};
}

std::string HeldGpu::undo(const Setting& setting, const PowerLimits& before, const ClockLock& sm_before,
                          const ClockLock& memory_before) noexcept {
  std::string words;
  const auto note = [&words](Knob knob, const Error& error) {
    words += cat("; ", name_of(knob), " could not be undone: ", error.what);
  };
  const auto undo_lock = [&](Knob knob, bool asked, const ClockLock& lock) {
    const auto& entry = journal_.content().lock(knob);
    if (!asked || !entry || !may_differ(*entry, lock)) return;
    if (Status s = write_lock(journal_, *opened_.control, knob, lock, Announce::best_effort); !s)
      note(knob, s.error());
  };
  undo_lock(Knob::memory_clock, setting.memory_clock.has_value(), memory_before);
  undo_lock(Knob::sm_clock, setting.sm_clock.has_value(), sm_before);
  if (!setting.power_limit) return words;
  const auto now = opened_.gpu->power_limits();
  if (!now) {
    note(Knob::power_limit, now.error());
  } else if (!same_limit(now->requested, before.requested)) {
    const auto back = write_limit(journal_, *opened_.gpu, *opened_.control, now->requested, before.requested,
                                  Announce::best_effort);
    if (!back) note(Knob::power_limit, back.error());
  }
  return words;
}

Result<wire::Applied> HeldGpu::apply(const Setting& setting) {
  const auto before = opened_.gpu->power_limits();
  if (!before) return fail(before.error());
  if (const Status fine = check(setting, *before); !fine) return fail(fine.error());
  const ClockLock sm_before = present_lock(journal_.content(), Knob::sm_clock);
  const ClockLock memory_before = present_lock(journal_.content(), Knob::memory_clock);
  Status written = write(setting, *before);
  if (written) {
    const auto after = opened_.gpu->power_limits();
    if (after) return wire::Applied{id(), after->requested, after->enforced};
    written = fail(after.error());
  }
  Error error = written.error();
  error.what += undo(setting, *before, sm_before, memory_before);
  return fail(std::move(error));
}

RestorationReport HeldGpu::back_to_found() noexcept {
  return restore(journal_, *opened_.gpu, *opened_.control);
}

RestorationReport HeldGpu::end() noexcept {
  RestorationReport report = back_to_found();
  // Drivers fail for a moment; the next process may be days away.
  if (report.outcome == Restoration::failed) report = back_to_found();
  if (report.outcome == Restoration::failed) {
    report.detail += "; the journal is kept: run `rubato restore`";
  } else if (const Status gone = journal_.discard(); !gone) {
    report.detail += "; its journal could not be removed: " + gone.error().what;
  }
  return report;
}

}  // namespace rubato::guard
