// What was read of the machine and done to it, as it is written.
#include "record/writer_impl.h"

namespace rubato::record {
namespace {

bool same(const Source& a, const Source& b) {
  return a.name == b.name && a.unit == b.unit && a.scope == b.scope && a.kind == b.kind &&
         a.quality == b.quality;
}

}  // namespace

Writer::Impl::Device& Writer::Impl::device(const GpuId& gpu) {
  const auto [found, fresh] = devices.try_emplace(gpu);
  if (fresh) {
    found->second.id = static_cast<std::int64_t>(devices.size());
    // Rows may name a GPU before it is described; a record must not become unreadable by that.
    write_device(found->second.id, DeviceInfo{.identity = {.id = gpu}});
  }
  return found->second;
}

void Writer::Impl::write_device(std::int64_t id, const DeviceInfo& d) {
  const auto limit = [&d](Watts PowerLimits::*member) {
    return d.found ? std::optional((*d.found).*member) : std::nullopt;
  };
  write(put_device, id, d.identity.id.uuid, d.identity.name, static_cast<std::int64_t>(d.identity.index),
        d.identity.pci_bus_id, name_of(d.kind), d.backend, d.driver_version, d.sensor.update_period,
        d.sensor.averaging_window, d.sensor.counter_period, d.sensor.calibration_band, d.sensor.source,
        limit(&PowerLimits::min), limit(&PowerLimits::max), limit(&PowerLimits::default_limit),
        limit(&PowerLimits::requested), limit(&PowerLimits::enforced), d.sensor.gain, d.sensor.offset,
        d.sensor.calibrated_by, d.sensor.lag, d.sensor.calibration_floor, d.sensor.counter_sees_all ? 1 : 0);
}

std::int64_t Writer::Impl::source(const GpuId& gpu, const Source& source) {
  Device& of = device(gpu);
  for (const auto& [known, id] : of.sources)
    if (same(known, source)) return id;
  of.sources.emplace_back(source, next_source);
  write(insert_source, next_source, of.id, source.name, source.unit, name_of(source.scope),
        name_of(source.kind), source.quality, std::nullopt);
  return next_source++;
}

std::int64_t Writer::Impl::channel_source(std::int64_t channel, const Source& source) {
  write(insert_source, next_source, std::nullopt, source.name, source.unit, name_of(source.scope),
        name_of(source.kind), source.quality, channel);
  return next_source++;
}

void Writer::Impl::device_end(const DeviceEnd& d) {
  const std::int64_t id = device(d.gpu).id;
  const auto row = [&](const auto&... energy) {
    write(insert_device_end, id, energy..., d.found ? 1 : 0, d.found.value_or(Setting{}), d.requested ? 1 : 0,
          d.requested.value_or(Setting{}), name_of(d.restoration), d.restoration_detail,
          d.used_by_job ? std::optional<std::int64_t>(*d.used_by_job ? 1 : 0) : std::nullopt);
  };
  const auto none = std::nullopt;
  if (const auto& e = d.energy)
    row(e->begin, e->end, e->energy, e->band_sampling, e->band_calibration, source(d.gpu, e->source));
  else
    row(none, none, none, none, none, none);
  for (const EnergyWindow& other : d.other_scopes)
    write(insert_device_energy, id, other.begin, other.end, other.energy, other.band_sampling,
          other.band_calibration, source(d.gpu, other.source));
}

void Writer::Impl::channel_end(const ChannelEnd& end) {
  const auto id = channel_row(end.channel);
  if (!id) return;
  const auto row = [&](const auto&... energy) {
    write(insert_channel_end, *id, energy..., end.lag, end.lag_quality);
  };
  const auto none = std::nullopt;
  if (const auto& e = end.energy)
    row(e->begin, e->end, e->energy, e->band_sampling, e->band_calibration, channel_source(*id, e->source));
  else
    row(none, none, none, none, none, none);
}

void Writer::device(const DeviceInfo& device) {
  impl_->write_device(impl_->device(device.identity.id).id, device);
}

void Writer::source(const GpuId& gpu, const Source& source) {
  static_cast<void>(impl_->source(gpu, source));
}

void Writer::sample(const GpuId& gpu, const FastReading& reading) {
  if (!impl_->failure) impl_->device(gpu).fast.add(reading);
}

void Writer::sample(const GpuId& gpu, const SlowReading& reading) {
  if (!impl_->failure) impl_->device(gpu).slow.add(reading);
}

void Writer::counter_edge(const CounterEdge& edge) {
  impl_->write(impl_->insert_edge, edge.at, impl_->device(edge.gpu).id, edge.counter, edge.reset ? 1 : 0);
}

void Writer::channel(const ChannelInfo& c) {
  Impl& w = *impl_;
  w.channels.push_back({.id = static_cast<std::int64_t>(w.channels.size()) + 1});
  const MeterChannel& of = c.channel;
  w.write(w.insert_channel, w.channels.back().id, c.meter, of.name, name_of(of.scope), of.inside, of.place,
          of.has_energy ? 1 : 0, of.has_power ? 1 : 0, of.sensor.update_period, of.sensor.averaging_window,
          of.sensor.counter_period, of.sensor.calibration_band, of.sensor.source);
}

void Writer::sample(std::size_t channel, const FastReading& reading) {
  if (!impl_->failure && channel < impl_->channels.size()) impl_->channels[channel].readings.add(reading);
}

void Writer::block(const Block& b) {
  const std::int64_t device = impl_->device(b.gpu).id;
  const auto row = [&](const auto&... energy) {
    impl_->write(impl_->insert_window, name_of(b.role), device, b.setting, b.begin, b.end, b.iterations,
                 energy...);
  };
  const auto none = std::nullopt;
  if (const auto& e = b.energy)
    row(e->begin, e->end, e->energy, e->band_sampling, e->band_calibration, impl_->source(b.gpu, e->source));
  else
    row(none, none, none, none, none, none);
}

void Writer::setting_change(const SettingChange& c) {
  impl_->write(impl_->insert_change, c.at, impl_->device(c.gpu).id, c.who, c.asked, c.requested, c.enforced,
               c.reached_sm_clock, c.outcome);
}

void Writer::decision(const Decision& d) {
  impl_->write(impl_->insert_decision, d.at, d.action, d.setting, d.why);
}

void Writer::goal(const GoalInForce& g) {
  impl_->write(impl_->insert_goal, g.at, g.strategy, name_of(g.goal.objective), g.goal.max_slowdown,
               g.goal.host_watts, g.goal.second, g.goal.idle, g.goal.power_budget);
}

void Writer::expectation(const ExpectationAt& e) {
  Impl& w = *impl_;
  const std::int64_t id = w.next_expectation++;
  w.write(w.insert_expectation, id, e.at);
  for (const ExpectedSetting& s : e.expectation.settings)
    w.write(w.insert_expected, id, s.setting, s.time.value, s.time.low, s.time.high, s.energy.value,
            s.energy.low, s.energy.high, s.holds, s.measured ? 1 : 0, s.on_curve ? 1 : 0);
}

void Writer::gap(const Gap& g) {
  impl_->write(impl_->insert_gap, g.begin, g.end, impl_->device_row(g.gpu), g.why,
               impl_->channel_row(g.channel));
}

}  // namespace rubato::record
