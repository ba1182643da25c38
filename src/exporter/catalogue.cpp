#include "exporter/catalogue.h"

#include <array>

namespace rubato::exporter {
namespace {

using enum report::MetricType;

// Base units, as Prometheus' conventions ask: hertz, not megahertz.
constexpr std::array kCatalogue = {
    MetricInfo{"rubato_gpu_info", info, "",
               "A GPU the exporter reads; quality says what kind of numbers its figures are."},
    MetricInfo{"rubato_gpu_energy_joules_total", counter, "joules",
               "Energy since the exporter began, from the driver's counter, or from integrated power where "
               "there is none."},
    MetricInfo{"rubato_gpu_energy_sampling_band_joules", gauge, "joules",
               "Half width, 95 %, of what may have passed between the readings of that energy."},
    MetricInfo{"rubato_gpu_calibration_band_ratio", gauge, "ratio",
               "Half width of the sensor's own gain, as a part of each power and energy."},
    MetricInfo{"rubato_gpu_calibration_floor_watts", gauge, "watts",
               "Half width besides the gain's, whatever the power."},
    MetricInfo{
        "rubato_gpu_driver_energy_joules_total", counter, "joules",
        "The driver's own counter as read: since the driver was loaded, over restarts of the exporter."},
    MetricInfo{"rubato_gpu_energy_faults_total", counter, "",
               "Times the driver's counter could not be believed and power was integrated instead."},
    MetricInfo{"rubato_gpu_power_watts", gauge, "watts", "Latest reading of the board's power."},
    MetricInfo{"rubato_gpu_module_power_watts", gauge, "watts",
               "Of a superchip: GPU, CPU and memory together. It contains the GPU's power."},
    MetricInfo{"rubato_gpu_memory_power_watts", gauge, "watts",
               "Of the GPU's memory. The GPU's power contains it."},
    MetricInfo{"rubato_gpu_power_limit_requested_watts", gauge, "watts",
               "What somebody last asked the driver for."},
    MetricInfo{"rubato_gpu_power_limit_enforced_watts", gauge, "watts",
               "What is in force: the lowest of all sources."},
    MetricInfo{"rubato_gpu_power_limit_default_watts", gauge, "watts",
               "What the driver sets when it is loaded."},
    MetricInfo{"rubato_gpu_power_limit_min_watts", gauge, "watts", "The lowest that can be set."},
    MetricInfo{"rubato_gpu_power_limit_max_watts", gauge, "watts", "The highest that can be set."},
    MetricInfo{"rubato_gpu_sm_clock_hertz", gauge, "hertz", "Clock of the multiprocessors now."},
    MetricInfo{"rubato_gpu_memory_clock_hertz", gauge, "hertz", "Clock of the memory now."},
    MetricInfo{"rubato_gpu_temperature_celsius", gauge, "celsius", "Temperature of the GPU."},
    MetricInfo{"rubato_gpu_sm_utilisation_ratio", gauge, "ratio", "Part of the time in which a kernel ran."},
    MetricInfo{"rubato_gpu_memory_utilisation_ratio", gauge, "ratio",
               "Part of the time in which the memory moved data."},
    MetricInfo{"rubato_gpu_performance_state", gauge, "", "0 is the fastest."},
    MetricInfo{"rubato_gpu_limiter_active", gauge, "", "1: this keeps the clock below its highest now."},
    MetricInfo{"rubato_gpu_limited_seconds_total", counter, "seconds",
               "Time held back by this since the driver was loaded; the times of several overlap."},
    MetricInfo{"rubato_gpu_reading_age_seconds", gauge, "seconds",
               "Since the latest reading of power or energy."},
    MetricInfo{"rubato_gpu_silent", gauge, "",
               "1: no reading for too long; the GPU's other figures are absent."},
    MetricInfo{"rubato_gpu_silent_seconds_total", counter, "seconds",
               "Length of the silences that are over."},
    MetricInfo{"rubato_gpu_setting_held", gauge, "",
               "1: a guard of rubato's lives that puts back what it found on this GPU."},
    MetricInfo{"rubato_gpu_setting_unrestored", gauge, "",
               "1: a dead run's setting may be in force, and nobody is there to put it back."},
    MetricInfo{"rubato_job_info", info, "", "A run of rubato's that goes on, or ended not long ago."},
    MetricInfo{"rubato_job_running", gauge, "", "1: it goes on; 0: it ended, or was cut short."},
    MetricInfo{"rubato_job_duration_seconds", gauge, "seconds", "Since it began, or from begin to end."},
    MetricInfo{"rubato_job_energy_joules_total", counter, "joules",
               "Energy of a GPU while the run had it, from the run's begin; of all that ran on it."},
    MetricInfo{"rubato_job_power_limit_found_watts", gauge, "watts",
               "The limit found before the run: what comes back."},
    MetricInfo{"rubato_job_power_limit_requested_watts", gauge, "watts", "The limit the run asked for last."},
    MetricInfo{"rubato_job_sm_clock_requested_hertz", gauge, "hertz",
               "Upper end of the clock lock the run asked for last."},
    MetricInfo{"rubato_job_memory_clock_requested_hertz", gauge, "hertz",
               "Upper end of the memory clock lock the run asked for last."},
    MetricInfo{"rubato_job_setting_restored", gauge, "",
               "1: what was found is in force again, or nothing was set; 0: see outcome."},
    MetricInfo{"rubato_job_saved_joules", gauge, "joules",
               "Saved against the run's own baseline, its search included; below zero where it cost more."},
    MetricInfo{"rubato_job_saving_ratio", gauge, "ratio",
               "The same as a part of what the run would have used at the found setting."},
    MetricInfo{"rubato_job_saving_low_ratio", gauge, "ratio", "Lower end of its 90 % confidence interval."},
    MetricInfo{"rubato_job_saving_high_ratio", gauge, "ratio", "Upper end of its 90 % confidence interval."},
    MetricInfo{"rubato_job_slowdown_ratio", gauge, "ratio",
               "How much longer the run took than at the found setting, as a part of that time."},
    MetricInfo{"rubato_job_own_cpu_seconds", gauge, "seconds", "CPU time of rubato itself in that run."},
    MetricInfo{"rubato_job_own_driver_seconds", gauge, "seconds",
               "Time rubato spent inside the driver in that run."},
    MetricInfo{"rubatod_request_seconds", histogram, "seconds",
               "Time of rubatod's requests that were done, whole and by parts, as rubatod counts it."},
    MetricInfo{"rubato_exporter_info", info, "", "Version of the exporter."},
    MetricInfo{"rubato_exporter_driver_calls_total", counter, "", "Calls of the exporter into the driver."},
    MetricInfo{"rubato_exporter_driver_seconds_total", counter, "seconds",
               "Time the exporter spent inside the driver."},
    MetricInfo{"rubato_exporter_jobs_left_out", gauge, "",
               "Recent runs beyond --jobs, which are not on this page."},
    MetricInfo{"rubato_exporter_jobs_unreadable", gauge, "", "Recent run records that could not be read."},
    MetricInfo{"process_cpu_seconds_total", counter, "seconds", "CPU time of the exporter."},
    MetricInfo{"process_resident_memory_bytes", gauge, "bytes", "Memory of the exporter."},
    MetricInfo{"process_start_time_seconds", gauge, "seconds",
               "When the exporter began, in seconds since 1970."},
};

}  // namespace

std::span<const MetricInfo> catalogue() {
  return kCatalogue;
}

}  // namespace rubato::exporter
