#include "analyse/sources.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace rubato::analyse {
namespace {

using Readings = std::vector<FastReading>;

bool has(const Readings& readings, std::optional<Watts> FastReading::*power,
         std::optional<Joules> FastReading::*counter) {
  return std::ranges::any_of(readings, [&](const FastReading& r) {
    return (r.*power).has_value() || (counter != nullptr && (r.*counter).has_value());
  });
}

const record::DeviceEnd* end_of(const record::RunRecord& run, const GpuId& gpu) {
  if (!run.end) return nullptr;
  const auto end = std::ranges::find(run.end->devices, gpu, &record::DeviceEnd::gpu);
  return end == run.end->devices.end() ? nullptr : &*end;
}

// A source that was first read a moment after the stretch began tells of it all the same: what is missing is
// taken at the mean power of the rest, with half of it in doubt.
std::optional<CurveEnergy> covering(const EnergyCurve& curve, TimePoint begin, TimePoint end) {
  constexpr double kMostMissing = 0.05;
  const TimePoint from = std::max(begin, curve.begin());
  const TimePoint to = std::min(end, curve.end());
  const Seconds missing = (end - begin) - (to - from);
  if (missing > kMostMissing * (end - begin)) return std::nullopt;
  auto energy = curve.between(from, to);
  if (!energy || !(missing > Seconds(0))) return energy;
  const Joules estimate = energy->energy / (to - from) * missing;
  energy->energy += estimate;
  energy->band_sampling += 0.5 * estimate;
  energy->unseen += missing;
  energy->over += missing;
  return energy;
}

using Steps = std::shared_ptr<const StepTimes>;

EnergySource made(SourceFacts facts, SeriesView series, const SensorFacts& sensor,
                  const Steps& steps = nullptr) {
  series.scope = facts.scope;
  series.rests = facts.kind == Kind::replayed || facts.kind == Kind::interpolated;
  // A board's calibration is its own sensor's; a module or a memory is read by another.
  const bool own = facts.gpu && facts.scope == Scope::gpu;
  EnergyCurve curve(series, sensor, own, steps);
  const double gain = own ? sensor.gain.value_or(1.0) : 1.0;
  facts.calibration_band = sensor.calibration_band;
  facts.calibration_floor = sensor.calibration_floor / gain;
  facts.update_period = curve.update_period();
  if (facts.whole) facts.kind = std::max(facts.kind, facts.whole->source.kind);
  return {std::move(facts), std::move(curve)};
}

std::string detail_of(const std::optional<EnergyWindow>& whole, const SensorFacts& sensor) {
  if (!whole || whole->source.quality.empty()) return sensor.source;
  const std::string& quality = whole->source.quality;
  // That of a meter's channel ends with it.
  const bool said = sensor.source.empty() || quality.ends_with(sensor.source);
  return said ? quality : cat(quality, "; ", sensor.source);
}

void add_device(const record::RunRecord& run, std::size_t index, const Steps& steps,
                std::vector<EnergySource>& out) {
  const record::DeviceRecord& device = run.devices[index];
  const record::DeviceEnd* end = end_of(run, device.info.identity.id);
  SourceFacts facts{.name = cat("GPU ", device.info.identity.index),
                    .key = device.info.identity.id.uuid,
                    .place = device.info.identity.name,
                    .kind = device.info.kind,
                    .gpu = index};
  const SensorFacts& sensor = device.info.sensor;
  const auto other = [&](Scope scope) {
    SourceFacts part = facts;
    part.scope = scope;
    part.name += cat(" ", name_of(scope));
    part.key += cat("/", name_of(scope));
    if (end != nullptr)
      for (const EnergyWindow& w : end->other_scopes)
        if (w.source.scope == scope) part.whole = w;
    part.detail = detail_of(part.whole, sensor);
    return part;
  };
  const Readings* readings = &device.fast;
  if (has(*readings, &FastReading::module_power, &FastReading::module_energy_counter))
    out.push_back(made(other(Scope::module),
                       {readings, &FastReading::module_power, &FastReading::module_energy_counter}, sensor,
                       steps));
  SourceFacts own = facts;
  if (end != nullptr) own.whole = end->energy;
  own.detail = detail_of(own.whole, sensor);
  out.push_back(made(own, {readings, &FastReading::power, &FastReading::energy_counter}, sensor, steps));
  if (has(*readings, &FastReading::memory_power, nullptr))
    out.push_back(made(other(Scope::memory), {readings, &FastReading::memory_power, nullptr}, sensor, steps));
}

void add_channel(const record::RunRecord& run, std::size_t index, std::vector<EnergySource>& out) {
  const record::ChannelRecord& channel = run.channels[index];
  SourceFacts facts{.name = cat(channel.info.meter, " ", channel.info.channel.name),
                    .key = cat(channel.info.meter, "/", channel.info.channel.name),
                    .place = channel.info.channel.place,
                    .scope = channel.info.channel.scope,
                    .channel = index};
  if (run.end)
    for (const record::ChannelEnd& end : run.end->channels)
      if (end.channel == index) {
        facts.whole = end.energy;
        facts.lag = end.lag;
        facts.lag_quality = end.lag_quality;
      }
  facts.detail = detail_of(facts.whole, channel.info.channel.sensor);
  out.push_back(made(std::move(facts), {&channel.readings, &FastReading::power, &FastReading::energy_counter},
                     channel.info.channel.sensor));
}

}  // namespace

std::vector<EnergySource> sources_of(const record::RunRecord& run) {
  std::vector<EnergySource> out;
  // Only the boards' own sensors are known well enough to tell a beat; src/measure does the same.
  const auto steps = std::make_shared<const StepTimes>(run.iterations);
  for (std::size_t i = 0; i < run.devices.size(); ++i) add_device(run, i, steps, out);
  for (std::size_t i = 0; i < run.channels.size(); ++i) add_channel(run, i, out);
  return out;
}

const EnergySource* board(const std::vector<EnergySource>& sources, std::size_t gpu) {
  const auto found = std::ranges::find_if(
      sources, [gpu](const EnergySource& s) { return s.facts.gpu == gpu && s.facts.scope == Scope::gpu; });
  return found == sources.end() ? nullptr : &*found;
}

bool long_enough(const EnergySource& source, Seconds length) {
  return length >= kUpdatesToMeasure * source.curve.update_period();
}

Joules calibration_band(const SourceFacts& facts, Joules energy, Seconds over) {
  return energy * facts.calibration_band + facts.calibration_floor * over;
}

Figure figure_of(const EnergySource& source, const CurveEnergy& energy, bool apportioned) {
  Figure f{
      energy.energy,     energy.band_sampling, calibration_band(source.facts, energy.energy, energy.over),
      source.facts.kind, apportioned,          energy.unseen};
  if (apportioned) f.kind = std::max(f.kind, Kind::apportioned);
  return f;
}

std::optional<Figure> energy_over(const EnergySource& source, TimePoint begin, TimePoint end) {
  if (source.curve.empty() || end <= begin) return std::nullopt;
  const Seconds length = end - begin;
  if (long_enough(source, length)) {
    const auto measured = covering(source.curve, begin, end);
    if (!measured) return std::nullopt;
    return figure_of(source, *measured, false);
  }
  if (begin < source.curve.begin() || end > source.curve.end()) return std::nullopt;
  const Seconds wanted = kUpdatesToMeasure * source.curve.update_period();
  TimePoint from = std::max(source.curve.begin(), begin - 0.5 * (wanted - length));
  const TimePoint to = std::min(source.curve.end(), from + wanted);
  from = std::max(source.curve.begin(), to - wanted);
  const auto around = source.curve.between(from, to);
  if (!around) return std::nullopt;
  const double share = length / (to - from);
  CurveEnergy part = around->scaled(share);
  // How far the model is off is not known to be less than how far the readings inside lie from it.
  if (const auto inside = source.curve.between(begin, end))
    part.band_sampling =
        std::max(part.band_sampling, abs(inside->energy - part.energy) + inside->band_sampling);
  return figure_of(source, part, true);
}

void add(std::optional<Figure>& sum, const Figure& part) {
  if (!sum) {
    sum = part;
    return;
  }
  sum->energy += part.energy;
  sum->band_sampling = Joules(std::hypot(sum->band_sampling.value(), part.band_sampling.value()));
  sum->band_calibration += part.band_calibration;
  sum->kind = std::max(sum->kind, part.kind);
  sum->apportioned = sum->apportioned || part.apportioned;
  sum->unseen += part.unseen;
}

}  // namespace rubato::analyse
