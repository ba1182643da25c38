// The exporter without its threads: one passive sampler that is stepped, and pages made of what it saw last,
// for any number of readers, also while a step hangs in the driver.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "exporter/gpu_watch.h"
#include "exporter/job_watch.h"
#include "exporter/page.h"

namespace rubato::exporter {

struct ExporterOptions {
  std::string version;
  std::string backend;
  std::string driver_version;
  std::filesystem::path journals;  // see setting_guard_of()
  JobOptions jobs;
  FsRoot root{};
  std::function<std::vector<wire::Timed>()> request_times{};  // of rubatod
};

class Exporter {
 public:
  /// The GPUs must outlive it.
  Exporter(ExporterOptions options, const std::vector<WatchedGpu>& gpus, TimePoint begin);

  [[nodiscard]] TimePoint next_due() const;
  /// Reads what is due: GPUs at their own pace, runs and journals every ten seconds. `unix_s`: the time of
  /// day, seconds since 1970.
  void step(TimePoint now, double unix_s);
  /// Every GPU has been read once, or has had its chance to.
  [[nodiscard]] bool complete() const;

  /// From any thread, at any time. The same page is given again for a fifth of a second, so that what
  /// scrapers cost does not grow with their number.
  [[nodiscard]] std::shared_ptr<const std::string> page(report::MetricsFormat format, TimePoint now,
                                                        const OwnCost& own);

  /// What was last seen. From any thread.
  [[nodiscard]] std::shared_ptr<const PageState> state();
  /// Who computes on each GPU, asked now: by the thread that steps.
  [[nodiscard]] std::vector<Result<std::vector<ComputeProcess>>> processes();

 private:
  struct Made {
    std::shared_ptr<const std::string> text;
    std::shared_ptr<const PageState> of;
    TimePoint at;
  };
  void publish();

  ExporterOptions options_;
  GpuWatch gpus_;
  JobWatch jobs_;
  std::vector<SettingGuard> guards_;
  TimePoint begin_;
  TimePoint look_due_;
  TimePoint stepped_;

  std::mutex mutex_;  // of what follows
  std::shared_ptr<const PageState> state_;
  Made made_[2];  // one per format
};

}  // namespace rubato::exporter
