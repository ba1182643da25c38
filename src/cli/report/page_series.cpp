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
  Packing(const record::RunRecord& run, const PageResolution& resolution, std::string prefix, int first_id)
      : run_(run), resolution_(resolution), prefix_(std::move(prefix)), next_id_(first_id) {}

  Result<std::vector<PackedSeries>> take() {
    for (const record::DeviceRecord& device : run_.devices) {
      const std::string owner = cat(prefix_, "GPU ", device.info.identity.index);
      fast(device.fast, owner);
      slow(device.slow, owner);
    }
    for (const record::ChannelRecord& channel : run_.channels) meter(channel);
    iterations();
    if (failure_) return fail(std::move(*failure_));
    return std::move(out_);
  }

 private:
  template <class Sample>
  SeriesPacker packer_of(const std::vector<Sample>& samples) const {
    SeriesPacker packer(samples.size());
    packer.moments(resolution_.moment_s, [&](std::size_t i) { return since_begin(samples[i].at); });
    return packer;
  }

  void keep(SeriesPacker packer, const std::string& owner, bool meter = false) {
    if (failure_ || packer.only_moments()) return;
    auto packed = std::move(packer).finish(next_id_);
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
    SeriesPacker packer = packer_of(samples);
    packer.values("power_w", resolution_.power_w, [&](std::size_t i) { return number_of(samples[i].power); });
    keep(std::move(packer), owner);
  }

  void slow(const std::vector<SlowReading>& samples, const std::string& owner) {
    SeriesPacker packer = packer_of(samples);
    const auto add = [&](const char* name, double quantum, auto SlowReading::*member) {
      packer.values(name, quantum, [&, member](std::size_t i) { return number_of(samples[i].*member); });
    };
    add("sm_clock_mhz", 0.5, &SlowReading::sm_clock);
    add("memory_clock_mhz", 0.5, &SlowReading::memory_clock);
    add("temperature_c", 0.1, &SlowReading::temperature);
    add("sm_utilisation_fraction", 0.001, &SlowReading::sm_utilisation);
    add("enforced_limit_w", resolution_.power_w, &SlowReading::enforced_limit);
    add("requested_limit_w", resolution_.power_w, &SlowReading::requested_limit);
    keep(std::move(packer), owner);
  }

  // A register that only counts joules is shown as the mean between two readings.
  void meter(const record::ChannelRecord& channel) {
    const std::vector<FastReading>& readings = channel.readings;
    const bool watts = std::any_of(readings.begin(), readings.end(),
                                   [](const FastReading& r) { return r.power.has_value(); });
    SeriesPacker packer = packer_of(readings);
    packer.values("power_w", resolution_.power_w, [&](std::size_t i) -> std::optional<double> {
      if (watts) return number_of(readings[i].power);
      if (i == 0 || !readings[i].energy_counter || !readings[i - 1].energy_counter) return std::nullopt;
      const Joules used = *readings[i].energy_counter - *readings[i - 1].energy_counter;
      return (used / (readings[i].at - readings[i - 1].at)).value();
    });
    keep(std::move(packer),
         cat(prefix_, channel.info.meter, " ", channel.info.channel.name,
             watts ? "" : " (mean between readings)"),
         true);
  }

  void iterations() {
    const std::vector<Iteration>& all = run_.iterations;
    SeriesPacker packer(all.size());
    packer.moments(resolution_.moment_s, [&](std::size_t i) { return since_begin(all[i].end); });
    packer.values("duration_s", 1e-4, [&](std::size_t i) -> std::optional<double> {
      return (all[i].end - all[i].begin).value();
    });
    keep(std::move(packer), cat(prefix_, "iterations"));
  }

  [[nodiscard]] std::optional<double> since_begin(TimePoint at) const {
    return (at - run_.info.begin).value();
  }

  const record::RunRecord& run_;
  PageResolution resolution_;
  std::string prefix_;
  int next_id_;
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

std::size_t readings_of(const record::RunRecord& run) {
  std::size_t n = run.iterations.size();
  for (const record::DeviceRecord& device : run.devices) n += device.fast.size() + device.slow.size();
  for (const record::ChannelRecord& channel : run.channels) n += channel.readings.size();
  return n;
}

Result<std::vector<PackedSeries>> page_series(const record::RunRecord& run, const PageResolution& resolution,
                                              const std::string& prefix, int first_id) {
  return Packing(run, resolution, prefix, first_id).take();
}

}  // namespace rubato::cli
