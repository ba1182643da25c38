// The half of a session that puts things back to what was found, in mid-run and at the end, and tries again
// where a driver refuses.
#include <algorithm>

#include "base/text.h"
#include "conduct/session.h"

namespace rubato::conduct {
namespace {

// Drivers fail for a moment. One that refuses as often is not going to take a setting either.
constexpr unsigned kPutBackTries = 5;
constexpr Seconds kPutBackSoon{1.0};
constexpr Seconds kPutBackLater{20.0};

}  // namespace

bool Session::owes_found() const {
  return std::any_of(units_.begin(), units_.end(),
                     [](const GpuUnit& unit) { return unit.put_back_failed > 0; });
}

// Whatever the strategy waits for. Others are not touched: under a budget their limits make room for this
// one's.
void Session::pay_found(TimePoint now) {
  bool any = false;
  for (auto& unit : units_) {
    if (unit.put_back_failed == 0 || now < unit.put_back_next || !parts_.lease->usable()) continue;
    put_back(unit, now);
    any = true;
  }
  if (!any) return;
  in_force_ = {};
  for (const auto& unit : units_)
    if (in_force_.empty()) in_force_ = unit.in_force;
}

void Session::put_all_back(TimePoint now, const GpuUnit* except) {
  Setting left;
  for (auto& unit : units_) {
    if (&unit == except || !unit.leased || unit.in_force.empty()) continue;
    if (!parts_.lease->usable()) continue;
    if (now >= unit.put_back_next) put_back(unit, now);
    if (unit.put_back_failed > 0) left = unit.in_force;
  }
  in_force_ = left;
}

bool Session::put_back(GpuUnit& unit, TimePoint now) {
  stop_plan(now);
  flush_change(unit);
  record::SettingChange change{now, unit.id(), "rubato", {}, {}, std::nullopt, std::nullopt, {}};
  const auto report = parts_.lease->restore(unit.id());
  if (!report) {
    change.outcome = cat("refused: ", report.error().what);
    put(&record::Writer::setting_change, change);
    unit.forget_debt();
    if (!stand_back_) stand_back(report.error(), now);
    return false;
  }
  if (report->outcome == Restoration::failed) {
    still_set(unit, *report, std::move(change), now);
    return false;
  }
  explain_change(unit, now);
  unit.last_write = now;
  change.outcome = std::string(name_of(report->outcome));
  unit.is_as_found();
  unit.expected_limit = unit.found ? std::optional(unit.found->requested) : std::nullopt;
  change.requested.power_limit = unit.expected_limit;
  put(&record::Writer::setting_change, change);
  return true;
}

// What is in force is not known. It is tried again at each decision, then now and then.
void Session::still_set(GpuUnit& unit, const RestorationReport& report, record::SettingChange change,
                        TimePoint now) {
  if (const auto limits = unit.gpu->power_limits()) unit.expected_limit = limits->requested;
  unit.put_back_next = now + (stand_back_ ? kPutBackLater : kPutBackSoon);
  if (++unit.put_back_failed == 1) {
    explain_change(unit, now);
    unit.last_write = now;
    spoil_blocks(unit, now);
    change.outcome = cat(name_of(report.outcome), ": ", report.detail);
    change.requested.power_limit = unit.expected_limit;
    put(&record::Writer::setting_change, change);
  }
  if (unit.put_back_failed != kPutBackTries || stand_back_) return;
  stand_back(Error{ErrorCode::conflict, cat(unit.name(), ": could not be put back: ", report.detail),
                   "it is tried again until the end of the run; see `rubato doctor`"},
             now);
}

bool Session::notice_death_of_guard(TimePoint now) {
  if (!parts_.lease || !parts_.lease->guard_just_died()) return false;
  std::string still_set;
  const auto left = parts_.lease->what_it_left(limits_reader());
  for (auto& unit : units_) {
    if (!unit.leased) continue;
    explain_change(unit, now);
    spoil_blocks(unit, now);
    unit.blocks->enter(BlockRole::warmup, {}, now);
    unit.expected_limit.reset();
    unit.is_as_found();
    const auto report =
        std::find_if(left.begin(), left.end(), [&](const auto& r) { return r.gpu == unit.id(); });
    if (report == left.end() || report->outcome != Restoration::failed) continue;
    ++unit.put_back_failed;  // nothing measured on it is of the found setting
    still_set += cat(still_set.empty() ? "" : "; ", unit.name(), ": ", report->detail);
  }
  in_force_ = {};
  Error told{ErrorCode::unavailable, "the guard has died; what it left is put back",
             "was it killed, or out of memory? see dmesg"};
  if (!still_set.empty()) {
    told.what = cat("the guard has died, and what it left is not put back: ", still_set);
    told.hint = "run `rubato restore`, as root where the guard was root's; dmesg may say why it died";
  }
  stand_back(told, now);
  return true;
}

ReadLimits Session::limits_reader() {
  return [this](const GpuId& gpu) -> Result<PowerLimits> {
    for (auto& unit : units_)
      if (unit.id() == gpu) return unit.gpu->power_limits();
    return fail(ErrorCode::not_found, gpu.uuid + " is not part of this run");
  };
}

void Session::close_lease(TimePoint now) {
  if (!parts_.lease) return;
  stop_plan(now);
  for (const auto& report : parts_.lease->release(limits_reader())) {
    for (auto& unit : units_) {
      if (unit.id() != report.gpu) continue;
      unit.restoration = report;
      // A write the driver refused is announced in the journal, and changed nothing.
      if (report.outcome == Restoration::restored && !unit.last_requested)
        unit.restoration = {report.gpu, Restoration::not_needed, {}};
      record::SettingChange change{.at = now, .gpu = unit.id(), .who = "guard"};
      if (report.outcome != Restoration::left_alone && unit.found)
        change.asked.power_limit = unit.found->requested;
      // What is said is what can be read afterwards, not what the guard meant to do.
      if (const auto limits = unit.gpu->power_limits()) {
        change.requested.power_limit = limits->requested;
        change.enforced = limits->enforced;
      }
      change.outcome = cat(name_of(report.outcome), report.detail.empty() ? "" : ": ", report.detail);
      put(&record::Writer::setting_change, change);
    }
    if (report.outcome == Restoration::failed) {
      restoration_failed_ = true;
      warn(Error{ErrorCode::conflict, cat(report.gpu.uuid, ": could not be put back: ", report.detail),
                 "run `rubato restore`"});
    }
  }
}

}  // namespace rubato::conduct
