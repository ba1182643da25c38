#include "daemon/gpu_owner.h"

#include <algorithm>

#include "base/text.h"
#include "guard/recover.h"
#include "guard/writes.h"

namespace rubato::daemon {
namespace {

/// Limits of people are whole watts; a controller that caps a board does so by many.
constexpr Watts kSameLimit{0.5};

bool wants(const guard::Terms& terms, Knob knob) {
  return std::find(terms.knobs.begin(), terms.knobs.end(), knob) != terms.knobs.end();
}

const Capability& capability_of(const Capabilities& all, Knob knob) {
  switch (knob) {
    case Knob::power_limit:
      return all.set_power_limit;
    case Knob::sm_clock:
      return all.set_sm_clock;
    case Knob::memory_clock:
      return all.set_memory_clock;
    case Knob::application_clocks:
      break;
  }
  return all.set_application_clocks;
}

/// Not left to the client: under MIG or on a vGPU's host a setting is everybody's on the board.
Status check_capabilities(const device::Gpu& gpu, const guard::Terms& terms) {
  for (const Knob knob : terms.knobs) {
    const Capability& can = capability_of(gpu.capabilities(), knob);
    // Of rights the driver itself is the judge.
    if (!can.available && !can.needs_right)
      return fail(ErrorCode::not_supported,
                  cat(gpu.identity().id.uuid, ": the knob ", name_of(knob), " cannot be set: ", can.why_not),
                  can.hint.empty() ? "'rubato devices' shows what this GPU can do" : can.hint);
  }
  return {};
}

/// Whoever manages the GPU in another way is stood back from.
Status check_other_managers(device::Gpu& gpu, const guard::Terms& terms, const PowerLimits& limits) {
  const std::string uuid = gpu.identity().id.uuid;
  if (wants(terms, Knob::power_limit) && limits.enforced + kSameLimit < limits.requested)
    return fail(ErrorCode::conflict,
                cat(uuid, ": ", limits.requested, " is requested and ", limits.enforced,
                    " enforced: something outside the driver (a management controller) caps this GPU, and "
                    "rubatod stands back from its power limit"),
                "rubato run --knobs sm-clock …");
  const bool clocks = wants(terms, Knob::sm_clock) || wants(terms, Knob::memory_clock);
  if (!clocks || !gpu.capabilities().read_application_clocks.available) return {};
  const auto now = gpu.application_clocks();
  if (!now || guard::same_clocks(now->requested, now->by_default)) return {};
  return fail(
      ErrorCode::conflict,
      cat(uuid, ": somebody set its application clocks to SM ", now->requested.sm, " memory ",
          now->requested.memory, " (as `srun --gpu-freq` does), and rubatod stands back from its clocks"),
      "rubato run --knobs power-limit …; or nvidia-smi -rac");
}

}  // namespace

Outcome GpuOwner::run(const Task& task) {
  if (const auto* t = std::get_if<Take>(&task)) return take(*t);
  if (const auto* t = std::get_if<Set>(&task)) return set(*t);
  if (std::holds_alternative<Prepare>(task)) return prepare();
  if (std::holds_alternative<End>(task)) return end();
  if (std::holds_alternative<Look>(task)) return look();
  if (std::holds_alternative<Clear>(task)) return clear();
  if (!held_) return fail(ErrorCode::internal, options_.gpu.uuid + " is in no lease");
  return held_->back_to_found();
}

Status GpuOwner::open() {
  if (opened_) return {};
  auto opened = options_.open(options_.gpu);
  if (!opened) return fail(opened.error());
  opened_ = std::make_shared<guard::OpenedGpu>(std::move(*opened));
  return {};
}

/// A handle of before a reset answers no more: opened anew, once.
Result<PowerLimits> GpuOwner::limits() {
  if (Status fine = open(); !fine) return fail(fine.error());
  auto limits = opened_->gpu->power_limits();
  if (limits || limits.error().code != ErrorCode::device_lost) return limits;
  opened_.reset();
  if (Status fine = open(); !fine) return fail(fine.error());
  return opened_->gpu->power_limits();
}

Outcome GpuOwner::prepare() {
  if (held_) return fail(ErrorCode::internal, options_.gpu.uuid + " is in a lease");
  if (!folder_) {
    auto folder = guard::Folder::make(options_.folder, options_.folder_mode, options_.files);
    if (!folder) return fail(folder.error());
    folder_ = std::move(*folder);
  }
  if (!ownership_) {
    auto ownership = guard::Ownership::take(*folder_, options_.gpu);
    if (!ownership) return fail(ownership.error());
    ownership_ = std::make_shared<guard::Ownership>(std::move(*ownership));
  }
  Prepared prepared;
  if (const auto fine = limits(); !fine) return fail(fine.error());  // and the handle answers
  const auto era = guard::present_era(options_.root, options_.driver_version());
  if (!era) return fail(era.error());
  const auto recovery = guard::recover(*folder_, options_.gpu, *opened_, *era);
  if (!recovery) return fail(recovery.error());
  if (*recovery) {
    if (!(*recovery)->cleared)
      return fail(
          ErrorCode::conflict,
          cat(options_.gpu.uuid, " is not as it was found by a dead run: ", (*recovery)->report.detail));
    prepared.left_behind = (*recovery)->report;
  }
  const auto now = limits();
  if (!now) return fail(now.error());
  prepared.limits = *now;
  return prepared;
}

Outcome GpuOwner::take(const Take& task) {
  if (held_) return fail(ErrorCode::internal, options_.gpu.uuid + " is in a lease already");
  if (!ownership_) {
    auto prepared = prepare();
    if (!prepared) return prepared;
  }
  opened_.reset();  // what it can do is what it can do now: MIG is switched without a reset
  const auto now = limits();
  if (!now) return fail(now.error());
  if (Status able = check_capabilities(*opened_->gpu, task.terms); !able) return fail(able.error());
  if (!task.shared) {
    const auto who = foreign_to(task.caller);
    if (!who) return fail(who.error());
    if (!who->empty())
      return fail(ErrorCode::no_permission, cat(options_.gpu.uuid, ": ", *who),
                  "only GPUs of your own job, or with nobody else on them, may be set");
  }
  if (Status alone = check_other_managers(*opened_->gpu, task.terms, *now); !alone)
    return fail(alone.error());
  if (task.only_look) return wire::Found{options_.gpu, *now, {}};
  const auto era = guard::present_era(options_.root, options_.driver_version());
  if (!era) return fail(era.error());
  auto held = guard::HeldGpu::take(*folder_, options_.gpu, ownership_, opened_, task.terms, *era);
  if (!held) return fail(held.error());
  held_.emplace(std::move(*held));
  holder_ = task.caller;
  shared_ = task.shared;
  return held_->found();
}

Outcome GpuOwner::set(const Set& task) {
  if (!held_) return fail(ErrorCode::internal, options_.gpu.uuid + " is in no lease");
  auto applied = held_->apply(task.setting, *options_.clock);
  if (!applied) return fail(std::move(applied.error()));
  return std::move(*applied);
}

Outcome GpuOwner::end() {
  if (!held_) return RestorationReport{options_.gpu, Restoration::not_needed, {}};
  RestorationReport report = held_->end();
  held_.reset();
  return report;
}

Outcome GpuOwner::clear() {
  if (held_) return fail(ErrorCode::busy, options_.gpu.uuid + " is in a lease");
  const auto prepared = prepare();
  if (!prepared) return prepared;
  return Between{guard::energy_mj(*opened_->gpu), std::get<Prepared>(*prepared).left_behind};
}

Result<std::string> GpuOwner::foreign_to(const Caller& caller) const {
  std::string who;
  // A process that ended between the driver's list and our look at it is in no second list.
  for (int look = 0; look < 2; ++look) {
    const auto processes = opened_->gpu->compute_processes();
    if (!processes) return fail(processes.error());
    who = foreign_process(caller, *processes, options_.root);
    if (who.empty()) break;
  }
  return who;
}

Outcome GpuOwner::look() {
  if (!held_) return Seen{};
  Seen seen;
  const auto era = guard::present_era(options_.root, options_.driver_version());
  if (!era) return fail(era.error());
  if (const Status alone = held_->look_for_others(*era); !alone) {
    const ErrorCode code = alone.error().code;
    if (code == ErrorCode::conflict || code == ErrorCode::device_lost) seen.trouble = alone.error();
  }
  if (!shared_ && !seen.trouble) {
    if (const auto who = foreign_to(holder_); who && !who->empty())
      seen.trouble = Error{ErrorCode::no_permission, cat(options_.gpu.uuid, ": ", *who),
                           "the GPU is as it was found; ask again when it is free"};
  }
  const auto now = opened_->gpu->power_limits();
  if (!now) return fail(now.error());
  seen.limits = *now;
  return seen;
}

}  // namespace rubato::daemon
