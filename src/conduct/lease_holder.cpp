#include "conduct/lease_holder.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "conduct/same_limit.h"

namespace rubato::conduct {

LeaseHolder::LeaseHolder(wire::LeaseClient* client, std::vector<Knob> knobs,
                         std::optional<ClockRange> found_sm_clock, Rescue rescue,
                         std::optional<double> max_slowdown)
    : client_(client),
      knobs_(std::move(knobs)),
      found_sm_clock_(found_sm_clock),
      rescue_(std::move(rescue)),
      max_slowdown_(max_slowdown) {}

Error LeaseHolder::digest(Error error) {
  // Nobody answers any more: whatever the guard had set is still set, and its journal says what was found.
  if (client_->guard_gone() && state_ != State::guard_lost) {
    state_ = State::guard_lost;
    // A successor of the guard's has the rights that this process may lack.
    if (auto words = client_->last_words())
      rescued_ = std::move(*words);
    else if (rescue_ && !gpus_.empty())
      rescued_ = rescue_();
  }
  return error;
}

Result<wire::Granted> LeaseHolder::acquire(const std::vector<GpuId>& gpus) {
  if (client_ == nullptr) return fail(ErrorCode::unavailable, "no guard was started for this run");
  const std::lock_guard lock(mutex_);
  gpus_ = gpus;  // a guard that dies before its answer may have begun a journal
  auto granted = client_->acquire({gpus, knobs_, found_sm_clock_, max_slowdown_});
  if (!granted) {
    const Error error = digest(granted.error());
    if (state_ != State::guard_lost) state_ = State::refused;
    return fail(error);
  }
  state_ = State::held;
  was_held_ = true;
  for (const auto& found : granted->found) found_[found.gpu] = found.limits.requested;
  return granted;
}

Result<wire::Applied> LeaseHolder::apply(const GpuId& gpu, const Setting& setting) {
  const std::lock_guard lock(mutex_);
  auto applied = client_->apply(gpu, setting);
  if (!applied && applied.error().code == ErrorCode::timeout && take_anew())
    applied = client_->apply(gpu, setting);
  if (!applied) return fail(digest(applied.error()));
  return applied;
}

Result<RestorationReport> LeaseHolder::restore(const GpuId& gpu) {
  const std::lock_guard lock(mutex_);
  auto report = client_->restore(gpu);
  if (!report && report.error().code == ErrorCode::timeout && take_anew()) report = client_->restore(gpu);
  if (!report) return fail(digest(report.error()));
  return report;
}

bool LeaseHolder::taken_anew() {
  const std::lock_guard lock(mutex_);
  return take_anew();
}

bool LeaseHolder::take_anew() {
  if (client_ == nullptr || state_ != State::held) return false;
  auto granted = client_->acquire({gpus_, knobs_, found_sm_clock_, max_slowdown_});
  if (granted) return true;
  const Error error = digest(granted.error());
  // busy: it is still ours; timeout: a driver call hangs, which tells nothing. Anything else that is not the
  // guard's death means somebody else has it now.
  const bool still_ours =
      error.code == ErrorCode::busy || error.code == ErrorCode::conflict || error.code == ErrorCode::timeout;
  if (state_ == State::held && !still_ours) {
    state_ = State::refused;
    why_lost_ = error;
  }
  return false;
}

std::optional<Error> LeaseHolder::why_lost() const {
  const std::lock_guard lock(mutex_);
  return why_lost_;
}

std::vector<RestorationReport> LeaseHolder::release(const ReadLimits& limits) {
  const std::lock_guard lock(mutex_);
  rescue_again();
  // A lease that lapsed and could not be had again: the guard still tells how it ended.
  if (client_ != nullptr && was_held_ && (state_ == State::held || state_ == State::refused)) {
    auto reports = client_->release();
    if (reports) {
      state_ = State::none;
      return *reports;
    }
    const Error error = digest(reports.error());
    if (state_ != State::guard_lost) {
      std::vector<RestorationReport> failed;
      for (const auto& gpu : gpus_) failed.push_back({gpu, Restoration::failed, error.what});
      return failed;
    }
  }
  if (state_ != State::guard_lost || !was_held_) return {};
  std::vector<RestorationReport> reports;
  for (const auto& gpu : gpus_) reports.push_back(rescue_of(gpu, limits));
  return reports;
}

/// A driver that refused then may not do so now.
void LeaseHolder::rescue_again() {
  if (!rescued_ || !rescue_) return;
  const auto failed = [](const RestorationReport& report) { return report.outcome == Restoration::failed; };
  if (*rescued_ && std::none_of((*rescued_)->begin(), (*rescued_)->end(), failed)) return;
  auto again = rescue_();
  if (!again) return;
  if (*rescued_)
    std::remove_copy_if((*rescued_)->begin(), (*rescued_)->end(), std::back_inserter(*again), failed);
  rescued_ = std::move(again);
}

RestorationReport LeaseHolder::rescue_of(const GpuId& gpu, const ReadLimits& limits) const {
  if (!rescued_ || !*rescued_) {
    return {gpu, Restoration::failed,
            cat("the guard is gone and no other could be started; run `rubato restore`, as root where the "
                "guard was root's",
                rescued_ ? cat(" (", rescued_->error().what, ")") : "")};
  }
  for (const auto& report : **rescued_)
    if (report.gpu == gpu) return report;
  return judge_unreported(gpu, limits);
}

/// No journal was found: somebody put it back and took that away, or it lies where this user cannot look.
RestorationReport LeaseHolder::judge_unreported(const GpuId& gpu, const ReadLimits& limits) const {
  RestorationReport report{gpu, Restoration::restored,
                           "another rubato had put back what the dead guard left"};
  const auto found = found_.find(gpu);
  const bool ours = std::find(knobs_.begin(), knobs_.end(), Knob::power_limit) != knobs_.end();
  if (!ours || found == found_.end()) return report;
  const auto now = limits(gpu);
  if (now && same_limit(now->requested, found->second)) return report;
  report.outcome = Restoration::failed;
  report.detail =
      cat("the guard is gone, nobody says that its setting was put back, and the power limit ",
          now ? cat("is ", now->requested) : cat("cannot be read (", now.error().what, ")"), ", where ",
          found->second, " was found; run `rubato restore`, as root where the guard was root's");
  return report;
}

bool LeaseHolder::guard_just_died() {
  if (client_ == nullptr || death_told_ || !client_->guard_gone()) return false;
  const std::lock_guard lock(mutex_);
  static_cast<void>(digest(Error{}));
  death_told_ = true;
  return true;
}

std::vector<RestorationReport> LeaseHolder::what_it_left(const ReadLimits& limits) const {
  const std::lock_guard lock(mutex_);
  std::vector<RestorationReport> reports;
  if (!was_held_) return reports;
  for (const auto& gpu : gpus_) reports.push_back(rescue_of(gpu, limits));
  return reports;
}

}  // namespace rubato::conduct
