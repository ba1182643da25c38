#include "exporter/page.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

#include "base/text.h"
#include "exporter/catalogue.h"

namespace rubato::exporter {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

constexpr double kHertzPerMegahertz = 1e6;

/// The catalogue's families, filled by name.
class Page {
 public:
  Page() {
    for (const MetricInfo& info : catalogue())
      families_.push_back(
          {std::string(info.name), info.type, std::string(info.unit), std::string(info.help), {}});
  }

  void add(std::string_view name, Labels labels, double value, std::string_view suffix = {}) {
    const auto family = std::ranges::find(families_, name, &report::MetricFamily::name);
    assert(family != families_.end());
    family->samples.push_back({std::move(labels), value, suffix});
  }
  template <class Tag>
  void add(std::string_view name, Labels labels, Quantity<Tag> value) {
    add(name, std::move(labels), value.value());
  }
  void add(std::string_view name, Labels labels, Megahertz value) {
    add(name, std::move(labels), value.value() * kHertzPerMegahertz);
  }
  void add(std::string_view name, Labels labels, bool value) {
    add(name, std::move(labels), value ? 1.0 : 0.0);
  }
  template <class T>
  void add(std::string_view name, const Labels& labels, const std::optional<T>& value) {
    if (value) add(name, labels, *value);
  }
  void info(std::string_view name, Labels labels) { add(name, std::move(labels), 1.0); }

  std::vector<report::MetricFamily> take() { return std::move(families_); }

 private:
  std::vector<report::MetricFamily> families_;
};

Labels with(Labels labels, std::string name, std::string_view value) {
  labels.emplace_back(std::move(name), value);
  return labels;
}

Labels labels_of(const GpuIdentity& gpu) {
  return {{"uuid", gpu.id.uuid}, {"name", gpu.name}};
}

void add_limits(Page& page, const Labels& gpu, const GpuState& state) {
  if (state.limits) {
    page.add("rubato_gpu_power_limit_default_watts", gpu, state.limits->default_limit);
    page.add("rubato_gpu_power_limit_min_watts", gpu, state.limits->min);
    page.add("rubato_gpu_power_limit_max_watts", gpu, state.limits->max);
  }
  page.add("rubato_gpu_power_limit_requested_watts", gpu, state.slow->requested_limit);
  page.add("rubato_gpu_power_limit_enforced_watts", gpu, state.slow->enforced_limit);
}

void add_limiter(Page& page, const Labels& gpu, const SlowReading& slow) {
  if (slow.limiter) {
    const LimiterReasons& why = *slow.limiter;
    const std::array<std::pair<std::string_view, bool>, 6> all = {{{"idle", why.idle},
                                                                   {"power_cap", why.power_cap},
                                                                   {"thermal", why.thermal},
                                                                   {"hardware", why.hardware},
                                                                   {"user_clocks", why.user_clocks},
                                                                   {"other", why.other}}};
    for (const auto& [name, active] : all)
      page.add("rubato_gpu_limiter_active", with(gpu, "limiter", name), active);
  }
  const LimiterTimes& times = slow.limited;
  constexpr std::string_view kTimes = "rubato_gpu_limited_seconds_total";
  page.add(kTimes, with(gpu, "limiter", "power_cap"), times.power_cap);
  page.add(kTimes, with(gpu, "limiter", "thermal"), times.thermal);
  page.add(kTimes, with(gpu, "limiter", "hw_thermal"), times.hw_thermal);
  page.add(kTimes, with(gpu, "limiter", "power_brake"), times.power_brake);
}

void add_energy(Page& page, const Labels& gpu, const GpuState& state) {
  page.add("rubato_gpu_driver_energy_joules_total", gpu, state.fast->energy_counter);
  if (!state.energy) return;
  page.add("rubato_gpu_energy_joules_total", with(gpu, "quality", name_of(state.kind)), state.energy->energy);
  page.add("rubato_gpu_energy_sampling_band_joules", gpu, state.energy->band_sampling);
  if (!state.fast->energy_counter) return;
  constexpr std::string_view kFaults = "rubato_gpu_energy_faults_total";
  page.add(kFaults, with(gpu, "fault", "reset"), static_cast<double>(state.faults.resets));
  page.add(kFaults, with(gpu, "fault", "jump"), static_cast<double>(state.faults.jumps));
  page.add(kFaults, with(gpu, "fault", "still"), static_cast<double>(state.faults.stills));
}

void add_slow(Page& page, const Labels& gpu, const GpuState& state) {
  const SlowReading& slow = *state.slow;
  add_limits(page, gpu, state);
  page.add("rubato_gpu_sm_clock_hertz", gpu, slow.sm_clock);
  page.add("rubato_gpu_memory_clock_hertz", gpu, slow.memory_clock);
  page.add("rubato_gpu_temperature_celsius", gpu, slow.temperature);
  page.add("rubato_gpu_sm_utilisation_ratio", gpu, slow.sm_utilisation);
  page.add("rubato_gpu_memory_utilisation_ratio", gpu, slow.memory_utilisation);
  if (slow.performance_state)
    page.add("rubato_gpu_performance_state", gpu, static_cast<double>(*slow.performance_state));
  add_limiter(page, gpu, slow);
}

void add_gpu(Page& page, const PageState& all, const GpuState& state, SettingGuard guard, TimePoint now) {
  const Labels gpu = labels_of(state.identity);
  Labels info = with(gpu, "index", cat(state.identity.index));
  info = with(std::move(info), "pci_bus_id", state.identity.pci_bus_id);
  info = with(std::move(info), "backend", all.backend);
  info = with(std::move(info), "driver_version", all.driver_version);
  page.info("rubato_gpu_info", with(std::move(info), "quality", name_of(state.kind)));
  page.add("rubato_gpu_calibration_band_ratio", gpu, state.sensor.calibration_band);
  page.add("rubato_gpu_calibration_floor_watts", gpu, state.sensor.calibration_floor);
  if (state.fast) page.add("rubato_gpu_reading_age_seconds", gpu, std::max(Seconds(0), now - state.fast->at));
  page.add("rubato_gpu_silent", gpu, state.silent(now));
  page.add("rubato_gpu_silent_seconds_total", gpu, state.silence);
  if (guard != SettingGuard::unknown) {
    page.add("rubato_gpu_setting_held", gpu, guard == SettingGuard::alive);
    page.add("rubato_gpu_setting_unrestored", gpu, guard == SettingGuard::dead);
  }
  if (state.silent(now)) return;
  add_energy(page, gpu, state);
  page.add("rubato_gpu_power_watts", with(gpu, "quality", name_of(state.kind)), state.fast->power);
  page.add("rubato_gpu_module_power_watts", gpu, state.fast->module_power);
  page.add("rubato_gpu_memory_power_watts", gpu, state.fast->memory_power);
  if (state.slow && now - state.slow->at <= state.stale_after) add_slow(page, gpu, state);
}

void add_savings(Page& page, const std::string& run_id, const analyse::Savings& savings) {
  const Labels run = {{"run_id", run_id}, {"quality", std::string(name_of(savings.kind))}};
  page.add("rubato_job_saved_joules", run, savings.run_saved);
  page.add("rubato_job_saving_ratio", run, savings.run_energy.value);
  page.add("rubato_job_slowdown_ratio", run, savings.run_slowdown.value);
  if (!savings.run_energy.interval) return;
  page.add("rubato_job_saving_low_ratio", run, savings.run_energy.interval->low);
  page.add("rubato_job_saving_high_ratio", run, savings.run_energy.interval->high);
}

void add_job_gpu(Page& page, const std::string& run_id, const JobGpu& gpu) {
  Labels of = {{"run_id", run_id}};
  for (auto& label : labels_of(gpu.identity)) of.push_back(std::move(label));
  page.add("rubato_job_energy_joules_total", with(of, "quality", name_of(gpu.kind)), gpu.energy);
  page.add("rubato_job_power_limit_found_watts", of, gpu.found_limit);
  if (gpu.requested) {
    page.add("rubato_job_power_limit_requested_watts", of, gpu.requested->power_limit);
    if (gpu.requested->sm_clock)
      page.add("rubato_job_sm_clock_requested_hertz", of, gpu.requested->sm_clock->max);
    if (gpu.requested->memory_clock)
      page.add("rubato_job_memory_clock_requested_hertz", of, gpu.requested->memory_clock->max);
  }
  if (!gpu.restoration) return;
  const bool fine = *gpu.restoration == Restoration::restored || *gpu.restoration == Restoration::not_needed;
  page.add("rubato_job_setting_restored", with(of, "outcome", name_of(*gpu.restoration)), fine);
}

void add_job(Page& page, const JobState& job) {
  const Labels run = {{"run_id", job.run_id}};
  page.info("rubato_job_info", with(with(run, "mode", job.mode), "started_at", job.started_at));
  page.add("rubato_job_running", run, job.running);
  page.add("rubato_job_duration_seconds", run, job.duration);
  for (const JobGpu& gpu : job.gpus) add_job_gpu(page, job.run_id, gpu);
  if (job.savings) add_savings(page, job.run_id, *job.savings);
  if (!job.cost) return;
  page.add("rubato_job_own_cpu_seconds", run, job.cost->cpu);
  page.add("rubato_job_own_driver_seconds", run, job.cost->driver.inside);
}

struct Bucket {
  double end_s;
  std::string_view le;
};
constexpr std::array kBuckets = {Bucket{1e-4, "0.0001"}, Bucket{2.5e-4, "0.00025"}, Bucket{5e-4, "0.0005"},
                                 Bucket{1e-3, "0.001"},  Bucket{2.5e-3, "0.0025"},  Bucket{5e-3, "0.005"},
                                 Bucket{1e-2, "0.01"},   Bucket{2.5e-2, "0.025"},   Bucket{5e-2, "0.05"},
                                 Bucket{0.1, "0.1"},     Bucket{0.25, "0.25"},      Bucket{0.5, "0.5"},
                                 Bucket{1.0, "1.0"}};

/// rubatod's bins end where these buckets end too, and between.
void add_request(Page& page, const wire::Timed& request) {
  constexpr std::string_view kName = "rubatod_request_seconds";
  constexpr double kSameEnd = 1 + 1e-9;
  for (const wire::TimedPart& part : request.parts) {
    const Labels labels = {{"request", request.request}, {"part", part.name}};
    const auto up_to = [&](double end) {
      double count = 0;
      for (const wire::TimedBin& bin : part.bins)
        if (bin.up_to.value() <= end * kSameEnd) count += static_cast<double>(bin.count);
      return count;
    };
    for (const Bucket& bucket : kBuckets)
      page.add(kName, with(labels, "le", bucket.le), up_to(bucket.end_s), "_bucket");
    const double all = up_to(std::numeric_limits<double>::infinity());
    page.add(kName, with(labels, "le", "+Inf"), all, "_bucket");
    page.add(kName, labels, part.sum.value(), "_sum");
    page.add(kName, labels, all, "_count");
  }
}

}  // namespace

std::vector<report::MetricFamily> page_of(const PageState& state, const OwnCost& own, TimePoint now) {
  Page page;
  for (std::size_t i = 0; i < state.gpus.size(); ++i)
    add_gpu(page, state, state.gpus[i], i < state.guards.size() ? state.guards[i] : SettingGuard::unknown,
            now);
  for (const JobState& job : state.jobs) add_job(page, job);
  for (const wire::Timed& request : state.requests) add_request(page, request);
  page.info("rubato_exporter_info", {{"version", state.version}});
  page.add("rubato_exporter_driver_calls_total", {}, static_cast<double>(state.driver.calls));
  page.add("rubato_exporter_driver_seconds_total", {}, state.driver.inside);
  page.add("rubato_exporter_jobs_left_out", {}, static_cast<double>(state.jobs_left_out));
  page.add("rubato_exporter_jobs_unreadable", {}, static_cast<double>(state.jobs_unreadable));
  page.add("process_cpu_seconds_total", {}, own.cpu);
  if (own.memory_bytes) page.add("process_resident_memory_bytes", {}, static_cast<double>(*own.memory_bytes));
  page.add("process_start_time_seconds", {}, own.started_unix_s);
  return page.take();
}

}  // namespace rubato::exporter
