#include "conduct/meter_watch.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "meter/meter.h"

namespace rubato::conduct {
namespace {

// A meter that has told nothing for that many of its periods, and at least that long, has fallen silent.
constexpr double kSilentPeriods = 5;
constexpr Seconds kShortestSilence{3.0};
constexpr Seconds kUsualPeriod{1.0};
// Of a device that speaks seldom it is said after this that it was not heard yet: its name may be wrong.
constexpr Seconds kFirstWord{60.0};
// Updates of a counter kept for the lag: 20 minutes at 10 Hz.
constexpr std::size_t kMostUpdates = 12'000;
constexpr Seconds kUpdateApart{0.09};
// Its power where it counts energy alone: over so many of them.
constexpr std::size_t kUpdatesOfAPower = 4;
// Kinds of trouble of one meter that a person is told of.
constexpr std::size_t kMostTold = 5;

std::string name_of(const record::ChannelInfo& info) {
  return cat(info.meter, ", ", info.channel.name);
}

// Not an absence, which is noticed as silence: an answer that cannot be.
bool is_an_answer(const Error& trouble) {
  return trouble.code == ErrorCode::corrupt || trouble.code == ErrorCode::conflict ||
         trouble.code == ErrorCode::not_found;
}

// The same trouble with other figures in it is the same.
bool alike(std::string_view a, std::string_view b) {
  const auto letters = [](std::string_view text) {
    std::string left;
    std::copy_if(text.begin(), text.end(), std::back_inserter(left),
                 [](char c) { return (c < '0' || c > '9') && c != '.' && c != '-'; });
    return left;
  };
  return letters(a) == letters(b);
}

SensorFacts facts_of(const MeterChannel& channel) {
  SensorFacts facts = channel.sensor;
  if (!facts.update_period) facts.update_period = kUsualPeriod;
  return facts;
}

}  // namespace

MeterWatch::MeterWatch(std::vector<record::ChannelInfo> channels, TimePoint begin, record::Writer* writer,
                       std::function<void(const Error&)> warn)
    : begin_(begin),
      writer_(writer),
      warn_(std::move(warn)),
      clock_rate_(writer != nullptr ? writer->run().clock_rate : 1.0) {
  for (auto& info : channels) {
    const SensorFacts facts = facts_of(info.channel);
    if (meters_.empty() || meters_.back().name != info.meter) meters_.push_back({.name = info.meter});
    Device& meter = meters_.back();
    meter.patience =
        std::max({meter.patience, kSilentPeriods * *facts.update_period, kShortestSilence * clock_rate_});
    meter.quiet = std::max(meter.quiet, info.channel.quiet_for.value_or(Seconds(0)));
    if (writer_ != nullptr) writer_->channel(info);
    measure::EnergyMeter energy(facts, Kind::measured, name_of(info), info.channel.scope);
    energy.pin(begin_);
    channels_.push_back({.info = std::move(info), .meter = std::move(energy), .of = meters_.size() - 1});
  }
}

Seconds MeterWatch::patience_with(const Device& meter) const {
  if (meter.failed) return meter.patience;
  const Seconds quiet = meter.last ? meter.quiet : std::min(meter.quiet, kFirstWord * clock_rate_);
  return std::max(meter.patience, quiet);
}

void MeterWatch::warn(ErrorCode code, std::string what, std::string hint) const {
  if (warn_) warn_(Error{code, std::move(what), std::move(hint)});
}

void MeterWatch::take(const std::vector<MeterNews>& news, TimePoint now) {
  for (const MeterNews& one : news) {
    const bool known = one.meter < meters_.size();
    if (known && one.trouble) begin_trouble(meters_[one.meter], one);
    if (known && one.trouble && one.readings.empty()) meters_[one.meter].failed = true;
    std::vector<Hole> holes;
    for (const MeterReading& reading : one.readings)
      if (reading.channel < channels_.size()) add(reading, holes);
    put_holes(holes);
    if (known && !one.readings.empty()) meters_[one.meter].failed = false;
    if (known && !one.trouble && !one.readings.empty()) end_trouble(meters_[one.meter], one);
  }
  // Not at once: a lie that comes and goes is one row, not thousands.
  for (Device& meter : meters_)
    if (meter.doubtful && meter.doubtful->end && now - *meter.doubtful->end > meter.patience)
      put_doubtful(meter, now);
  notice_silence(now);
  for (Channel& channel : channels_) channel.meter.forget(now);
}

void MeterWatch::begin_trouble(Device& meter, const MeterNews& news) {
  const Error& trouble = *news.trouble;
  meter.trouble = trouble.what;
  if (is_an_answer(trouble)) {
    TimePoint begin = meter.last.value_or(begin_);
    if (meter.doubtful && !alike(meter.doubtful->what, trouble.what)) {
      if (!meter.doubtful->end) begin = news.at;
      put_doubtful(meter, news.at);
    }
    if (!meter.doubtful) meter.doubtful = Doubtful{trouble.what, begin};
    meter.doubtful->end.reset();
  } else if (news.readings.empty()) {
    return;
  }
  const auto same = [&](const std::string& told) { return alike(told, trouble.what); };
  if (meter.told.size() >= kMostTold || std::ranges::any_of(meter.told, same)) return;
  meter.told.push_back(trouble.what);
  warn(trouble.code, cat(meter.name, " does not tell everything: ", trouble.what), trouble.hint);
}

void MeterWatch::end_trouble(Device& meter, const MeterNews& news) {
  meter.trouble.clear();
  if (meter.doubtful && !meter.doubtful->end) meter.doubtful->end = news.readings.front().at;
}

// `end` where it goes on.
void MeterWatch::put_doubtful(Device& meter, TimePoint end) {
  const Doubtful& doubtful = *meter.doubtful;
  const auto index = static_cast<std::size_t>(&meter - meters_.data());
  const auto first = std::ranges::find(channels_, index, &Channel::of);
  if (writer_ != nullptr)
    writer_->gap({doubtful.begin, doubtful.end.value_or(end), std::nullopt,
                  cat("meter ", meter.name, ": some of what it told was left out: ", doubtful.what),
                  static_cast<std::size_t>(first - channels_.begin())});
  meter.doubtful.reset();
}

void MeterWatch::add(const MeterReading& reading, std::vector<Hole>& holes) {
  Channel& channel = channels_[reading.channel];
  Device& meter = meters_[channel.of];
  FastReading fast{.at = reading.at, .power = reading.power, .energy_counter = reading.energy};
  // Meters check what they read; what is believed here ends up in somebody's bill.
  if (fast.power && !(fast.power->value() >= 0 && *fast.power <= meter::kMostWatts)) {
    doubt(channel, cat("tells ", *fast.power));
    fast.power.reset();
  }
  if (fast.energy_counter &&
      !(fast.energy_counter->value() >= 0 && std::isfinite(fast.energy_counter->value()))) {
    doubt(channel, cat("tells ", *fast.energy_counter));
    fast.energy_counter.reset();
  }
  if (!fast.power && !fast.energy_counter) return;
  const TimePoint before = channel.last.value_or(begin_);
  if (channel.last && reading.at <= *channel.last) return;
  if (reading.at - before > patience_with(meter)) holes.push_back({reading.channel, before, reading.at});
  if (!channel.first) {
    channel.first = reading.at;
    channel.meter.pin(reading.at);
  }
  channel.last = reading.at;
  meter.last = std::max(meter.last.value_or(reading.at), reading.at);
  if (const auto step = channel.meter.add(fast)) judge(channel, *step);
  if (writer_ != nullptr) writer_->sample(reading.channel, fast);
  if (fast.power) {
    channel.told = fast.power;
    channel.power.add(fast.at, *fast.power);
  } else if (channel.counter.empty() || fast.at - channel.counter.back().at >= kUpdateApart) {
    channel.counter.push_back({fast.at, *fast.energy_counter});
    if (channel.counter.size() > kMostUpdates) channel.counter.pop_front();
  }
}

void MeterWatch::doubt(Channel& channel, const std::string& what) {
  if (std::exchange(channel.doubted, true)) return;
  warn(ErrorCode::corrupt, cat(name_of(channel.info), ": ", what, ", which cannot be; it is left out"));
}

void MeterWatch::judge(Channel& channel, const measure::CounterStep& step) {
  if (const auto* jump = std::get_if<measure::CounterJump>(&step))
    doubt(channel, cat("its energy ", jump->by < Joules(0) ? "fell" : "leapt", " by ", abs(jump->by)));
  // A meter that gave its own reason for counting anew has been heard.
  const bool explained = !meters_[channel.of].trouble.empty();
  if (std::holds_alternative<measure::CounterReset>(step) && !explained &&
      !std::exchange(channel.doubted, true))
    warn(ErrorCode::conflict, cat(name_of(channel.info),
                                  ": its energy fell: the meter was reset, or another one answers; "
                                  "what was measured is kept"));
}

void MeterWatch::notice_silence(TimePoint now) {
  for (Device& meter : meters_) {
    const TimePoint last = meter.last.value_or(begin_);
    if (meter.silence_told || now - last <= patience_with(meter)) continue;
    meter.silence_told = true;
    warn(ErrorCode::unavailable,
         cat(meter.name, meter.last ? " has told nothing for " : " has told nothing yet, for ", now - last,
             meter.trouble.empty() ? "" : ": ", meter.trouble,
             meter.last ? "; what it told until then is kept" : ""),
         "rubato devices");
  }
}

void MeterWatch::put_holes(const std::vector<Hole>& holes) {
  if (writer_ == nullptr) return;
  for (std::size_t m = 0; m < meters_.size(); ++m) {
    const auto of_meter = [&](const auto& in) { return channels_[in.channel].of == m; };
    const auto silent = std::count_if(holes.begin(), holes.end(), of_meter);
    const auto all =
        std::count_if(channels_.begin(), channels_.end(), [m](const Channel& c) { return c.of == m; });
    const std::string why =
        meters_[m].trouble.empty() ? std::string("told nothing") : cat("told nothing: ", meters_[m].trouble);
    bool whole_told = false;
    for (const Hole& hole : holes) {
      if (!of_meter(hole)) continue;
      // The hole is told with the reason.
      std::optional<Doubtful>& doubtful = meters_[m].doubtful;
      if (doubtful && doubtful->begin >= hole.begin) doubtful.reset();
      if (silent == all && std::exchange(whole_told, true)) continue;
      const std::string name = silent == all ? meters_[m].name : name_of(channels_[hole.channel].info);
      writer_->gap({hole.begin, hole.end, std::nullopt, cat("meter ", name, " ", why), hole.channel});
    }
  }
}

std::optional<Watts> MeterWatch::latest_power(const Channel& channel) {
  const auto& counter = channel.counter;
  if (channel.told || counter.size() < 2) return channel.told;
  const measure::EnergyAt& from = counter[counter.size() - std::min(counter.size(), kUpdatesOfAPower)];
  const Joules used = counter.back().energy - from.energy;
  if (used < Joules(0)) return std::nullopt;  // counted anew in between
  return used / (counter.back().at - from.at);
}

Result<EnergyWindow> MeterWatch::energy(std::size_t index, TimePoint begin, TimePoint end) const {
  const Channel& channel = channels_[index];
  if (!channel.last || *channel.last <= begin)
    return fail(ErrorCode::unavailable,
                cat(name_of(channel.info), " told nothing in this time; it is read every ",
                    *facts_of(channel.info.channel).update_period));
  auto told = channel.meter.window(begin, std::min(end, *channel.last));
  const bool before_end = *channel.last < end;
  if (told && !before_end) return told;
  if (!told && !before_end) told = channel.meter.window(begin, *channel.last);
  if (!told) return told;
  const auto power = latest_power(channel);
  if (!power)
    return fail(ErrorCode::unavailable, cat(name_of(channel.info), " has told too little to know its power"));
  const Joules between = *power * (end - *channel.last);
  told->end = end;
  told->energy = std::max(Joules(0), told->energy + between);
  told->band_sampling = told->band_sampling + abs(between);
  return told;
}

std::vector<ChannelNow> MeterWatch::so_far(TimePoint until) const {
  std::vector<ChannelNow> all;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    const Channel& channel = channels_[i];
    ChannelNow& now = all.emplace_back(ChannelNow{.meter = channel.info.meter,
                                                  .channel = channel.info.channel.name,
                                                  .scope = channel.info.channel.scope,
                                                  .energy = std::nullopt,
                                                  .power = std::nullopt});
    const Device& meter = meters_[channel.of];
    if (!channel.first || until - *channel.last > patience_with(meter)) continue;  // fallen silent
    now.power = latest_power(channel);
    if (auto drawn = energy(i, *channel.first, until)) now.energy = std::move(*drawn);
  }
  return all;
}

void MeterWatch::pin(TimePoint moment) {
  for (Channel& channel : channels_) channel.meter.pin(moment);
}

void MeterWatch::unpin(TimePoint moment) {
  for (Channel& channel : channels_)
    if (moment != begin_ && moment != channel.first) channel.meter.unpin(moment);
}

void MeterWatch::gpu_power(std::size_t gpu, TimePoint at, Watts power) {
  if (channels_.empty()) return;
  if (gpus_.size() <= gpu) gpus_.resize(gpu + 1);
  gpus_[gpu].add(at, power);
}

void MeterWatch::estimate_lag(Channel& channel, std::span<const measure::PowerAt> gpus,
                              record::ChannelEnd& end) {
  if (clock_rate_ != 1.0) {
    end.lag_quality = "unknown: the GPUs are simulated on a clock of their own";
    return;
  }
  std::vector<measure::PowerAt> told = channel.power.points();
  if (told.empty()) {
    const std::vector<measure::EnergyAt> readings(channel.counter.begin(), channel.counter.end());
    told = measure::differentiate(readings);
  }
  const auto lag = gpus_.empty()
                       ? Result<measure::Lag>(fail(ErrorCode::unavailable, "no GPU's power was read"))
                       : measure::estimate_lag(gpus, told);
  if (!lag) {
    end.lag_quality = cat("unknown: ", lag.error().what);
    return;
  }
  end.lag = lag->lag;
  end.lag_quality =
      cat("correlation ", number(lag->correlation, 2), " over ", number(lag->overlap.value(), 0), " s");
}

std::vector<record::ChannelEnd> MeterWatch::finish(TimePoint now) {
  std::vector<Hole> open;
  std::vector<std::vector<measure::PowerAt>> traces;
  for (PowerTrace& gpu : gpus_) traces.push_back(gpu.points());
  const auto gpus = sum_of(traces);
  std::vector<record::ChannelEnd> ends;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    Channel& channel = channels_[i];
    const TimePoint last = channel.last.value_or(begin_);
    const Device& meter = meters_[channel.of];
    if (now - last > (channel.last ? patience_with(meter) : meter.patience)) open.push_back({i, last, now});
    record::ChannelEnd& end = ends.emplace_back();
    end.channel = i;
    auto energy = channel.meter.window(begin_, now);
    if (!energy && channel.first && last > *channel.first)
      energy = channel.meter.window(*channel.first, last);
    if (energy) {
      end.energy = std::move(*energy);
      if (!channel.info.channel.sensor.source.empty())
        end.energy->source.quality += cat("; ", channel.info.channel.sensor.source);
    }
    estimate_lag(channel, gpus, end);
  }
  put_holes(open);
  for (Device& meter : meters_)
    if (meter.doubtful) put_doubtful(meter, now);
  return ends;
}

}  // namespace rubato::conduct
