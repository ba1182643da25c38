#include "guard/held_gpu.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "guard/restore.h"
#include "guard/writes.h"

namespace rubato::guard {
namespace {

bool holds(const Terms& terms, Knob knob) {
  return std::find(terms.knobs.begin(), terms.knobs.end(), knob) != terms.knobs.end();
}

std::vector<Record> first_records(const Terms& terms, const wire::Found& found_now) {
  std::vector<Record> records;
  const PowerLimits& limits = found_now.limits;
  for (const Knob knob : terms.knobs) {
    if (knob == Knob::power_limit) {
      records.emplace_back(LimitIntent{limits.requested, limits.requested, limits.requested});
      records.emplace_back(LimitDone{limits.requested});
    } else if (knob == Knob::application_clocks) {
      const ApplicationClocks clocks = *found_now.application_clocks;
      records.emplace_back(ApplicationIntent{clocks, clocks, clocks});
      records.emplace_back(ApplicationDone{clocks});
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

Result<HeldGpu> HeldGpu::take(const Folder& folder, const GpuId& gpu, SharedOwnership ownership,
                              std::shared_ptr<OpenedGpu> opened, const Terms& terms, const Era& era) {
  const auto recovery = recover(folder, gpu, *opened, era);
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
  const auto limits = opened->gpu->power_limits();
  if (!limits) return fail(limits.error());
  wire::Found found{gpu, *limits, std::move(note)};
  Header header{gpu, era.boot_id, era.driver_version, lowest_energy_mj(*opened->gpu)};
  if (holds(terms, Knob::application_clocks)) {
    const auto clocks = opened->gpu->application_clocks();
    if (!clocks) return fail(clocks.error());
    found.application_clocks = clocks->requested;
    header.version = kWithApplicationClocks;
  }
  auto journal = Journal::create(folder, header, first_records(terms, found));
  if (!journal) return fail(journal.error());
  return HeldGpu(std::move(ownership), std::move(opened), std::move(*journal), terms, std::move(found));
}

Status HeldGpu::check_clocks(Knob knob, const ClockRange& range) const {
  const auto table = opened_->gpu->supported_clocks();
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

Status HeldGpu::check_application(const ApplicationClocks& clocks, const ApplicationClocks& now) const {
  if (!(clocks.memory.value() > 0 && clocks.sm.value() > 0)) {
    return fail(ErrorCode::invalid_argument, id().uuid + ": application clocks must be above zero");
  }
  const auto table = opened_->gpu->supported_clocks();
  if (table && !table->pairs.empty()) {
    const bool legal = std::any_of(table->pairs.begin(), table->pairs.end(), [&](const auto& pair) {
      return std::any_of(pair.sm.begin(), pair.sm.end(), [&](Megahertz sm) {
        return same_clocks({pair.memory, sm}, clocks);
      });
    });
    if (!legal) {
      return fail(ErrorCode::invalid_argument,
                  cat(id().uuid, ": SM ", clocks.sm, " with memory ", clocks.memory,
                      " is no pair of application clocks that the GPU has"),
                  "'nvidia-smi -q -d SUPPORTED_CLOCKS' lists the legal pairs");
    }
  }
  return check_application_ours(now);
}

Status HeldGpu::check_limit_ours(const PowerLimits& now) const {
  const auto& entry = journal_.content().limit;
  if (is_ours(*entry, now)) return {};
  return fail(ErrorCode::conflict,
              cat(id().uuid, ": somebody else set the power limit to ", now.requested,
                  "; rubato had left it at ", entry->read_back.value_or(entry->last.intended)),
              "rubato leaves it alone from here on");
}

Status HeldGpu::check_application_ours(const ApplicationClocks& now) const {
  if (is_ours(*journal_.content().application_clocks, now)) return {};
  return fail(
      ErrorCode::conflict,
      cat(id().uuid, ": somebody else set the application clocks to SM ", now.sm, " memory ", now.memory),
      "rubato leaves them alone from here on");
}

Status HeldGpu::look_for_others(const Era& now) const {
  const auto gone = [this](std::string_view why) {
    return fail(ErrorCode::device_lost, cat(id().uuid, ": every setting is gone: ", why));
  };
  if (const auto over = why_over(journal_.content().header, now)) return gone(*over);
  const auto in_force = look();
  if (!in_force) return fail(in_force.error());
  // A lease that ends for nothing is put back; a limit of ours in force says that the counter lied.
  if (!limit_stands(journal_.content(), in_force->limits) &&
      counter_fell(journal_.content().header, *opened_->gpu))
    return gone("the GPU was reset since: its energy counter began anew");
  if (holds(terms_, Knob::power_limit))
    if (Status ours = check_limit_ours(in_force->limits); !ours) return ours;
  if (in_force->application_clocks) return check_application_ours(*in_force->application_clocks);
  return {};
}

Status HeldGpu::check(const Setting& setting, const Before& before) const {
  const PowerLimits& now = before.limits;
  const std::pair<Knob, bool> asked[] = {{Knob::power_limit, setting.power_limit.has_value()},
                                         {Knob::sm_clock, setting.sm_clock.has_value()},
                                         {Knob::memory_clock, setting.memory_clock.has_value()},
                                         {Knob::application_clocks, setting.application_clocks.has_value()}};
  for (const auto& [knob, wanted] : asked) {
    if (wanted && !holds(terms_, knob)) {
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
    if (Status ours = check_limit_ours(now); !ours) return ours;
  }
  if (setting.sm_clock) {
    if (Status fine = check_clocks(Knob::sm_clock, *setting.sm_clock); !fine) return fine;
  }
  if (setting.memory_clock) {
    if (Status fine = check_clocks(Knob::memory_clock, *setting.memory_clock); !fine) return fine;
  }
  if (setting.application_clocks)
    return check_application(*setting.application_clocks, *before.application_clocks);
  return {};
}

Status HeldGpu::write(const Setting& setting, const Before& before, AskedAt& locks) {
  device::GpuControl& control = *opened_->control;
  if (setting.power_limit && !same_limit(*setting.power_limit, before.limits.requested)) {
    const auto limits = write_limit(journal_, *opened_->gpu, control, before.limits.requested,
                                    *setting.power_limit, Announce::required);
    if (!limits) return fail(limits.error());
  }
  for (const auto& [knob, range] :
       {std::pair(Knob::sm_clock, setting.sm_clock), std::pair(Knob::memory_clock, setting.memory_clock)}) {
    if (!range) continue;
    if (Status s = write_lock(journal_, control, knob, range, Announce::required, &locks); !s) return s;
  }
  if (setting.application_clocks && !same_clocks(*setting.application_clocks, *before.application_clocks)) {
    const auto now =
        write_application(journal_, *opened_->gpu, control, *before.application_clocks,
                          *setting.application_clocks, ApplicationWrite::set, Announce::required);
    if (!now) return fail(now.error());
  }
  return {};
}

std::string HeldGpu::undo(const Setting& setting, const Before& before) noexcept {
  std::string words;
  const auto note = [&words](Knob knob, const Error& error) {
    words += cat("; ", name_of(knob), " could not be undone: ", error.what);
  };
  const auto undo_lock = [&](Knob knob, bool asked, const ClockLock& lock) {
    const auto& entry = journal_.content().lock(knob);
    if (!asked || !entry || !may_differ(*entry, lock)) return;
    if (Status s = write_lock(journal_, *opened_->control, knob, lock, Announce::best_effort); !s)
      note(knob, s.error());
  };
  if (setting.application_clocks) {
    const auto now = opened_->gpu->application_clocks();
    if (!now) {
      note(Knob::application_clocks, now.error());
    } else if (const auto& back = *before.application_clocks; !same_clocks(now->requested, back)) {
      const auto done = write_application(journal_, *opened_->gpu, *opened_->control, now->requested, back,
                                          way_back_to(back, *now), Announce::best_effort);
      if (!done) note(Knob::application_clocks, done.error());
    }
  }
  undo_lock(Knob::memory_clock, setting.memory_clock.has_value(), before.memory_lock);
  undo_lock(Knob::sm_clock, setting.sm_clock.has_value(), before.sm_lock);
  if (!setting.power_limit) return words;
  const auto now = opened_->gpu->power_limits();
  if (!now) {
    note(Knob::power_limit, now.error());
  } else if (!same_limit(now->requested, before.limits.requested)) {
    const auto back = write_limit(journal_, *opened_->gpu, *opened_->control, now->requested,
                                  before.limits.requested, Announce::best_effort);
    if (!back) note(Knob::power_limit, back.error());
  }
  return words;
}

Result<HeldGpu::Before> HeldGpu::look() const {
  const auto limits = opened_->gpu->power_limits();
  if (!limits) return fail(limits.error());
  Before now{*limits, present_lock(journal_.content(), Knob::sm_clock),
             present_lock(journal_.content(), Knob::memory_clock), std::nullopt};
  if (!holds(terms_, Knob::application_clocks)) return now;
  const auto clocks = opened_->gpu->application_clocks();
  if (!clocks) return fail(clocks.error());
  now.application_clocks = clocks->requested;
  return now;
}

Result<wire::Applied> HeldGpu::apply(const Setting& setting, const Clock& clock) {
  const auto before = look();
  if (!before) return fail(before.error());
  if (const Status fine = check(setting, *before); !fine) return fail(fine.error());
  AskedAt locks{clock, std::nullopt};
  Status written = write(setting, *before, locks);
  if (written) {
    const auto after = look();
    if (after)
      return wire::Applied{id(), after->limits.requested, after->limits.enforced, after->application_clocks,
                           locks.first};
    written = fail(after.error());
  }
  Error error = written.error();
  error.what += undo(setting, *before);
  return fail(std::move(error));
}

RestorationReport HeldGpu::back_to_found() noexcept {
  const auto once = [this] { return restore(journal_, *opened_->gpu, *opened_->control); };
  const RestorationReport report = once();
  // Drivers fail for a moment; at the end the next process may be days away.
  return report.outcome == Restoration::failed ? once() : report;
}

RestorationReport HeldGpu::end() noexcept {
  RestorationReport report = back_to_found();
  if (report.outcome == Restoration::failed) {
    report.detail += "; the journal is kept: run `rubato restore`";
  } else if (const Status gone = journal_.discard(); !gone) {
    report.detail += "; its journal could not be removed: " + gone.error().what;
  }
  return report;
}

}  // namespace rubato::guard
