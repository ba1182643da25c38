#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/percent.h"
#include "base/text.h"
#include "progress/shift.h"
#include "progress/shift/signal_watch.h"
#include "progress/shift/signals.h"

namespace rubato::progress {
namespace {

std::string with_unit(const SignalKind& kind, double value) {
  if (kind.fraction) return short_percent(value);
  if (kind.unit == "1") return number(value, 3);
  return cat(number(value, 3), " ", kind.unit);
}

std::string sentence(const SignalKind& kind, const LevelChange& change, double from, double to) {
  std::string by = kind.fraction ? cat(number(100 * (to - from), 1), " points")
                                 : (from > 0 ? short_percent(to / from - 1) : "from nothing");
  return cat(kind.name, " went from ", with_unit(kind, from), " to ", with_unit(kind, to), " (", by, ") for ",
             change.readings, " readings; their noise is ", number(100 * change.spread, 1),
             kind.fraction ? " points" : " %");
}

}  // namespace

struct ShiftDetector::Impl {
  explicit Impl(ShiftOptions given) : options(given) {
    options.false_alarms_per_hour = std::clamp(options.false_alarms_per_hour, 1e-6, 60.0);
    options.smallest_change = std::clamp(options.smallest_change, 1e-3, 10.0);
  }

  void forget_before(TimePoint at) {
    for (auto& watch : watches)
      if (watch) watch->forget_before(at);
  }

  // All signals share the false alarms allowed, whether they are learned already or not.
  [[nodiscard]] double share() const {
    const auto signals =
        std::count_if(watches.begin(), watches.end(), [](const auto& w) { return w.has_value(); });
    return options.false_alarms_per_hour / static_cast<double>(std::max<std::ptrdiff_t>(1, signals));
  }

  /// Where a signal's reading begins and ends: counters have windows of their own. Absent: told before.
  [[nodiscard]] std::optional<SignalPoint> point(const ShiftReading& reading, std::size_t signal) {
    const auto value = signal_of(reading, signal);
    if (!value) return std::nullopt;
    SignalPoint p{reading.begin, reading.end, signal_kind(signal).to_scale(*value)};
    if (signal >= kSignalCount - kFeatureCount && reading.features->end > reading.features->begin) {
      p.begin = reading.features->begin;
      p.end = reading.features->end;
    }
    auto& last = last_end[signal];
    if (p.begin < after || (last && p.end <= *last)) return std::nullopt;
    last = p.end;
    return p;
  }

  ShiftOptions options;
  std::array<std::optional<SignalWatch>, kSignalCount> watches;
  std::array<std::optional<TimePoint>, kSignalCount> last_end;
  TimePoint after{INT64_MIN};
};

ShiftDetector::ShiftDetector(ShiftOptions options) : impl_(std::make_unique<Impl>(options)) {}
ShiftDetector::~ShiftDetector() = default;
ShiftDetector::ShiftDetector(ShiftDetector&&) noexcept = default;
ShiftDetector& ShiftDetector::operator=(ShiftDetector&&) noexcept = default;

std::optional<Shift> ShiftDetector::add(const ShiftReading& reading) {
  Impl& d = *impl_;
  if (reading.end <= reading.begin || reading.begin < d.after) return std::nullopt;
  std::array<std::optional<SignalPoint>, kSignalCount> points;
  for (std::size_t i = 0; i < kSignalCount; ++i) {
    points[i] = d.point(reading, i);
    if (points[i] && !d.watches[i]) d.watches[i].emplace(signal_kind(i).smallest(d.options.smallest_change));
  }
  const double share = d.share();
  std::optional<LevelChange> found;
  std::size_t what = 0;
  for (std::size_t i = 0; i < kSignalCount; ++i) {
    if (!points[i]) continue;
    auto change = d.watches[i]->add(*points[i], share);
    if (!change || (found && found->excess >= change->excess)) continue;
    found = change;
    what = i;
  }
  if (!found) return std::nullopt;

  const SignalKind& kind = signal_kind(what);
  Shift shift;
  shift.at = found->at;
  shift.noticed = reading.end;
  shift.what = kind.name;
  shift.from = kind.from_scale(found->from);
  shift.to = kind.from_scale(found->to);
  shift.unit = kind.unit == "1" ? "" : kind.unit;
  shift.why = sentence(kind, *found, shift.from, shift.to);
  // What was read since belongs to the new level already; of the other signals too.
  d.forget_before(found->at);
  return shift;
}

void ShiftDetector::rebase(TimePoint at) {
  impl_->after = std::max(impl_->after, at);
  impl_->forget_before(at);
}

bool ShiftDetector::ready() const {
  return std::any_of(impl_->watches.begin(), impl_->watches.end(),
                     [](const auto& watch) { return watch && watch->ready(); });
}

}  // namespace rubato::progress
