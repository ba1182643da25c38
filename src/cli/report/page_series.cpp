#include "cli/report/page_series.h"

#include <algorithm>

#include "base/text.h"

namespace rubato::cli {
namespace {

using report::PackedSeries;
using report::SeriesPacker;

// About what fits into a few megabytes at the finer resolution.
constexpr std::size_t kFew = 1'000'000;
constexpr double kCoarsest = 0.8;  // W: still less than the noise of any board's sensor

template <class Q>
std::optional<double> number_of(const std::optional<Q>& value) {
  if (!value) return std::nullopt;
  if constexpr (std::is_same_v<Q, double>)
    return *value;
  else
    return value->value();
}

class Packing {
 public:
  Packing(const record::RunRecord& run, const PageResolution& resolution, std::string prefix, int first_id,
          report::SeriesOutline* outline, const std::function<void()>& one_done)
      : run_(run),
        resolution_(resolution),
        prefix_(std::move(prefix)),
        next_id_(first_id),
        outline_(outline),
        one_done_(one_done) {}

  Result<std::vector<PackedSeries>> take() {
    for (const record::DeviceRecord& device : run_.devices) {
      const std::string owner = cat(prefix_, "GPU ", device.info.identity.index);
      fast(device.fast, owner);
      slow(device.slow, owner);
      done();
    }
    for (const record::ChannelRecord& channel : run_.channels) {
      meter(channel);
      done();
    }
    iterations();
    done();
    if (failure_) return fail(std::move(*failure_));
    return std::move(out_);
  }

 private:
  /// One series while it is made, and its part of the outline.
  struct Making {
    std::size_t count;
    SeriesPacker::Read moment;
    SeriesPacker packer{count};
  };

  template <class Rows>
  Making making(const Rows& rows, TimePoint Rows::value_type::*at) const {
    Making out{rows.size(), [this, &rows, at](std::size_t i) { return since_begin(rows[i].*at); }};
    out.packer.moments(resolution_.moment_s, out.moment);
    return out;
  }

  void values(Making& of, const char* name, double quantum, const SeriesPacker::Read& read) {
    of.packer.values(name, quantum, read);
    if (outline_ != nullptr) outline_->add(cat(next_id_, ".", name), quantum, of.count, of.moment, read);
  }

  void keep(Making of, const std::string& owner, bool meter = false) {
    if (failure_ || of.packer.only_moments()) return;
    auto packed = std::move(of.packer).finish(next_id_);
    if (!packed) {
      failure_ = packed.error();
      return;
    }
    packed->head.set("owner", owner);
    packed->head.set("meter", meter);
    out_.push_back(std::move(*packed));
    ++next_id_;
  }

  void fast(const std::vector<FastReading>& samples, const std::string& owner) {
    Making fast = making(samples, &FastReading::at);
    values(fast, "power_w", resolution_.power_w, [&](std::size_t i) { return number_of(samples[i].power); });
    keep(std::move(fast), owner);
  }

  void slow(const std::vector<SlowReading>& samples, const std::string& owner) {
    Making slow = making(samples, &SlowReading::at);
    const auto add = [&](const char* name, double quantum, auto SlowReading::*member) {
      values(slow, name, quantum, [&, member](std::size_t i) { return number_of(samples[i].*member); });
    };
    add("sm_clock_mhz", 0.5, &SlowReading::sm_clock);
    add("memory_clock_mhz", 0.5, &SlowReading::memory_clock);
    add("temperature_c", 0.1, &SlowReading::temperature);
    add("sm_utilisation_fraction", 0.001, &SlowReading::sm_utilisation);
    add("enforced_limit_w", resolution_.power_w, &SlowReading::enforced_limit);
    add("requested_limit_w", resolution_.power_w, &SlowReading::requested_limit);
    keep(std::move(slow), owner);
  }

  // A register that only counts joules is shown as the mean between two readings.
  void meter(const record::ChannelRecord& channel) {
    const std::vector<FastReading>& readings = channel.readings;
    const bool watts = std::any_of(readings.begin(), readings.end(),
                                   [](const FastReading& r) { return r.power.has_value(); });
    Making power = making(readings, &FastReading::at);
    values(power, "power_w", resolution_.power_w, [&](std::size_t i) -> std::optional<double> {
      if (watts) return number_of(readings[i].power);
      if (i == 0 || !readings[i].energy_counter || !readings[i - 1].energy_counter) return std::nullopt;
      const Joules used = *readings[i].energy_counter - *readings[i - 1].energy_counter;
      return (used / (readings[i].at - readings[i - 1].at)).value();
    });
    keep(std::move(power),
         cat(prefix_, channel.info.meter, " ", channel.info.channel.name,
             watts ? "" : " (mean between readings)"),
         true);
  }

  void iterations() {
    const std::vector<Iteration>& all = run_.iterations;
    Making durations = making(all, &Iteration::end);
    values(durations, "duration_s", 1e-4,
           [&](std::size_t i) -> std::optional<double> { return (all[i].end - all[i].begin).value(); });
    keep(std::move(durations), cat(prefix_, "iterations"));
  }

  void done() const {
    if (one_done_) one_done_();
  }

  [[nodiscard]] std::optional<double> since_begin(TimePoint at) const {
    return (at - run_.info.begin).value();
  }

  const record::RunRecord& run_;
  PageResolution resolution_;
  std::string prefix_;
  int next_id_;
  report::SeriesOutline* outline_;
  const std::function<void()>& one_done_;
  std::optional<Error> failure_;
  std::vector<PackedSeries> out_;
};

}  // namespace

std::string PageResolution::sentence(const std::string& run) const {
  return cat("Powers are drawn to ", number(power_w), " W and moments to ", number(moment_s * 1e3),
             " ms, as the driver told them; the record has them whole: rubato export ", run,
             " --format csv.");
}

PageResolution resolution_for(std::size_t readings) {
  return readings <= kFew ? PageResolution{} : PageResolution{.moment_s = 1e-3, .power_w = 0.1};
}

std::optional<PageResolution> coarser(const PageResolution& resolution) {
  if (resolution.power_w >= kCoarsest) return std::nullopt;
  return PageResolution{.moment_s = resolution.moment_s * 2, .power_w = resolution.power_w * 2};
}

std::size_t steps_of(const record::RunRecord& run) {
  return run.devices.size() + run.channels.size() + 1;
}

std::size_t readings_of(const record::RunRecord& run) {
  std::size_t n = run.iterations.size();
  for (const record::DeviceRecord& device : run.devices) n += device.fast.size() + device.slow.size();
  for (const record::ChannelRecord& channel : run.channels) n += channel.readings.size();
  return n;
}

Result<std::vector<PackedSeries>> page_series(const record::RunRecord& run, const PageResolution& resolution,
                                              const std::string& prefix, int first_id,
                                              report::SeriesOutline* outline,
                                              const std::function<void()>& one_done) {
  return Packing(run, resolution, prefix, first_id, outline, one_done).take();
}

}  // namespace rubato::cli
