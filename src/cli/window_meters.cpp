#include "cli/window_meters.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "cli/meters.h"
#include "cli/window_json.h"

namespace rubato::cli {
namespace {

using report::Object;

constexpr Seconds kTakenEvery{1.0};
// An edge waits no longer for a meter that can tell at once; what comes later is reckoned by its power.
constexpr Seconds kEdgePatience{0.05};
constexpr Seconds kFirstPatience{0.5};

Object json_of(const record::ChannelInfo& info, const Result<EnergyWindow>& energy) {
  Object out{{"meter", info.meter},
             {"channel", info.channel.name},
             {"scope", name_of(info.channel.scope)},
             {"place", info.channel.place}};
  set_energy(out, energy ? std::optional(*energy) : std::nullopt,
             energy ? std::string() : energy.error().what);
  return out;
}

Object json_of(const std::string& spec, const std::string& why) {
  Object out{{"meter", spec}};
  set_energy(out, std::nullopt, why);
  return out;
}

}  // namespace

WindowMeters::WindowMeters(const std::vector<std::string>& specs, const std::shared_ptr<const Clock>& clock)
    : clock_(clock) {
  std::vector<std::unique_ptr<meter::Meter>> meters;
  for (const std::string& spec : specs) {
    auto open = open_meters({spec}, clock);
    if (!open) {
      missing_.push_back({spec, open.error().what});
      log::warning(open.error());
      continue;
    }
    stuck_ = stuck_ || open->stuck;
    for (const Error& error : open->left_out) missing_.push_back({spec, error.what});
    for (auto& meter : open->meters)
      if (std::ranges::none_of(meters, [&](const auto& other) { return other->name() == meter->name(); }))
        meters.push_back(std::move(meter));
  }
  if (meters.empty()) return;
  live_.emplace(std::move(meters), clock);
  channels_ = live_->channels();
  watch_.emplace(channels_, clock->now(), nullptr, [](const Error& error) { log::warning(error); });
  live_->look(kFirstPatience);
  due_ = clock->now();
}

std::optional<TimePoint> WindowMeters::next_due() const {
  return live_ ? std::optional(due_) : std::nullopt;
}

void WindowMeters::step(TimePoint now) {
  if (!live_ || now < due_) return;
  watch_->take(live_->take(), now);
  due_ = now + kTakenEvery / clock_->wall(Seconds(1.0)).value();
}

void WindowMeters::look(TimePoint now) {
  live_->look(kEdgePatience);
  watch_->take(live_->take(), now);
}

void WindowMeters::begin(TimePoint now) {
  if (!live_) return;
  look(now);
  watch_->pin(now);
  ++begins_[now];
}

report::Array WindowMeters::end(TimePoint begin, TimePoint now) {
  report::Array all;
  for (const Missing& one : missing_) all.emplace_back(json_of(one.spec, one.why));
  if (!live_) return all;
  look(now);
  for (std::size_t i = 0; i < channels_.size(); ++i)
    all.emplace_back(json_of(channels_[i], watch_->energy(i, begin, now)));
  if (const auto open = begins_.find(begin); open != begins_.end() && --open->second == 0) {
    begins_.erase(open);
    watch_->unpin(begin);
  }
  return all;
}

bool WindowMeters::finish() {
  return (!live_ || live_->finish()) && !stuck_;
}

}  // namespace rubato::cli
