#include "measure/sampler.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace rubato::measure {
namespace {

// Most sensors since Maxwell update at 100 ms (arXiv 2312.02741).
constexpr Seconds kUsualPeriod{0.1};
// Every driver call takes a lock the job's own launches need: no sensor we know of is worth more than 100
// reads a second.
constexpr Seconds kShortestPeriod{0.01};
constexpr Seconds kSlowPeriod{1.0};
constexpr Seconds kLongestBackoff{5.0};
// More than two ticks missed in a row: the record must say that something is missing.
constexpr double kLatePeriods = 3.0;

// The first moment after `now` on the grid `due` + k `period`.
TimePoint next_on_grid(TimePoint due, Seconds period, TimePoint now) {
  if (due > now) return due;
  const double behind = std::floor((now - due) / period) + 1;
  const TimePoint next = due + period * behind;
  return next > now ? next : next + period;  // rounding to nanoseconds may land on `now` itself
}

// A driver call that comes back after this is no event; one that does not is worth a word.
constexpr Seconds kLongSilence{2.0};

Seconds pace_for(Seconds update_period) {
  return std::max(update_period, kShortestPeriod);
}

}  // namespace

void SampleSink::on_silence(std::size_t, TimePoint, const Error&) {}

Sampler::Sampler(std::vector<device::Gpu*> gpus, SampleSink& sink, TimePoint begin)
    : origin_(begin), sink_(sink) {
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    Lane lane;
    lane.gpu = gpus[i];
    lane.period = pace_for(gpus[i]->sensor().update_period.value_or(kUsualPeriod));
    lane.fast_due = begin;
    // Slow readings take several driver calls: one GPU at a time, on a wake-up that is due anyway.
    lane.slow_due = begin + lane.period * static_cast<double>(i);
    lane.last_good = begin;
    lanes_.push_back(std::move(lane));
  }
}

TimePoint Sampler::next_due() const {
  TimePoint due{INT64_MAX};
  for (const Lane& lane : lanes_) due = std::min({due, lane.fast_due, lane.slow_due});
  return due;
}

void Sampler::step(TimePoint now) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].fast_due <= now) fast_tick(i, now);
    if (lanes_[i].slow_due <= now) slow_tick(i, now);
  }
}

void Sampler::close(std::size_t index, std::optional<Outage>& outage, TimePoint end) {
  if (!outage) return;
  if (end > outage->begin) sink_.on_gap(index, outage->begin, end, outage->why.what);
  outage.reset();
}

void Sampler::fast_tick(std::size_t index, TimePoint now) {
  Lane& lane = lanes_[index];
  ++ticks_;
  const Result<FastReading> reading = lane.gpu->read_fast();
  if (!reading) {
    if (!lane.outage) {
      lane.outage = Outage{lane.last_good, reading.error()};
      // One silence, one gap: the fast one goes on from where the slow one began to tell.
      close(index, lane.slow_outage, lane.last_good);
    }
    const bool for_good = reading.error().code == ErrorCode::device_lost;
    if (!lane.outage->told && (for_good || now - lane.outage->begin >= kLongSilence)) {
      lane.outage->told = true;
      sink_.on_silence(index, lane.outage->begin, reading.error());
    }
    lane.backoff = std::min(std::max(lane.backoff * 2, lane.period), kLongestBackoff);
    lane.fast_due = now + lane.backoff;
    return;
  }
  lane.fast_due = next_on_grid(origin_, lane.hurry.value_or(lane.period), now);
  lane.backoff = Seconds(0);
  if (!reading->power && !reading->energy_counter) {
    if (!lane.outage) {
      lane.outage = Outage{lane.last_good,
                           Error{ErrorCode::not_supported,
                                 lane.gpu->identity().name + ": neither power nor energy could be read"}};
    }
    return;
  }
  if (lane.outage) {
    close(index, lane.outage, reading->at);
  } else if (reading->at - lane.last_good > lane.period * kLatePeriods) {
    sink_.on_gap(
        index, lane.last_good, reading->at,
        cat(lane.gpu->identity().name, ": rubato itself came late, readings are due every ", lane.period));
  }
  lane.last_good = reading->at;
  sink_.on_fast(index, *reading);
}

void Sampler::slow_tick(std::size_t index, TimePoint now) {
  Lane& lane = lanes_[index];
  if (lane.backoff > Seconds(0)) {
    // A GPU that does not answer the fast tick is not asked for more; the fast gap covers this.
    lane.slow_due = next_on_grid(lane.slow_due, std::max(kSlowPeriod, lane.backoff), now);
    return;
  }
  ++ticks_;
  lane.slow_due = next_on_grid(lane.slow_due, kSlowPeriod, now);
  const Result<SlowReading> reading = lane.gpu->read_slow();
  if (!reading) {
    if (!lane.slow_outage)
      lane.slow_outage =
          Outage{now, Error{reading.error().code, "clocks, limits and utilisation: " + reading.error().what}};
    return;
  }
  close(index, lane.slow_outage, reading->at);
  sink_.on_slow(index, *reading);
}

void Sampler::set_period(std::size_t gpu, Seconds update_period) {
  lanes_[gpu].period = pace_for(update_period);
}

void Sampler::hurry(std::size_t gpu, std::optional<Seconds> pace) {
  Lane& lane = lanes_[gpu];
  if (lane.hurry == pace) return;
  lane.hurry = pace;
  if (lane.backoff == Seconds(0))
    lane.fast_due = next_on_grid(origin_, pace.value_or(lane.period), lane.last_good);
}

void Sampler::finish(TimePoint now) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    close(i, lanes_[i].outage, now);
    close(i, lanes_[i].slow_outage, now);
  }
}

CallCost Sampler::cost() const {
  CallCost sum;
  for (const Lane& lane : lanes_) {
    const CallCost one = lane.gpu->cost();
    sum.calls += one.calls;
    sum.inside += one.inside;
  }
  return sum;
}

}  // namespace rubato::measure
