// What the page says of rubato's runs, from their records: those that go on, and those that ended not long
// ago, at most so many. The command is not told: it may hold secrets, and every user of the machine can read
// the page.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyse/summary.h"
#include "base/fs_root.h"
#include "base/result.h"
#include "core/restoration.h"
#include "exporter/gpu_watch.h"
#include "record/live.h"
#include "record/reader.h"

namespace rubato::exporter {

struct JobGpu {
  GpuIdentity identity;
  Kind kind = Kind::measured;
  std::optional<Joules> energy;  // from the run's begin; never falls while this process lives
  std::optional<Watts> found_limit;
  std::optional<Setting> requested;        // the last one the run had in force
  std::optional<Restoration> restoration;  // absent: the run goes on, or was cut short
};

struct JobState {
  std::string run_id;
  std::string mode;  // "run", "measure"
  std::string started_at;
  bool running = false;
  std::optional<Seconds> duration;
  std::vector<JobGpu> gpus;
  std::optional<analyse::Savings> savings;
  std::optional<analyse::OwnCostSummary> cost;
};

[[nodiscard]] std::vector<JobGpu> job_gpus_of(const analyse::Summary& summary);

struct JobOptions {
  std::vector<std::filesystem::path> folders;  // of run records
  std::size_t most = 20;
  Seconds kept{3600};  // after the end of a run, so that every scraper has seen its last figures
  /// Who writes a record now; tests hand in their own answers.
  std::function<std::optional<pid_t>(const std::filesystem::path&)> writer_of = record::writer_of;
};

class JobWatch {
 public:
  explicit JobWatch(JobOptions options, FsRoot root = {})
      : options_(std::move(options)), root_(std::move(root)) {}

  /// Looks at the folders. `now` is on the GPUs' clock, `unix_s` the time of day in seconds since 1970. What
  /// cannot be read this time stays as it was.
  void step(TimePoint now, double unix_s, GpuWatch& gpus);

  /// Newest first.
  [[nodiscard]] const std::vector<JobState>& jobs() const { return jobs_; }
  [[nodiscard]] std::size_t left_out() const { return left_out_; }
  [[nodiscard]] std::size_t unreadable() const { return unreadable_; }

 private:
  struct Candidate {
    std::filesystem::path file;
    double changed_s = 0;  // since 1970, of the record or its log
    std::uintmax_t size = 0;
  };
  /// What is kept of one record from look to look.
  struct Known {
    JobState job;
    double changed_s = 0;
    bool whole = false;                  // read with its samples, or too large for that
    bool over = false;                   // nothing more will come
    std::set<std::string> used;          // UUIDs on which the job was seen to compute
    std::map<std::string, Joules> most;  // per UUID: what was told last
    TimePoint begin;
  };

  [[nodiscard]] std::vector<Candidate> candidates(double unix_s);
  [[nodiscard]] Status look(const Candidate& candidate, Known& known, TimePoint now, GpuWatch& gpus);
  void add_live(const record::RunRecord& run, Known& known, TimePoint now, GpuWatch& gpus,
                pid_t rubato) const;
  [[nodiscard]] bool computes_on(GpuWatch& gpus, std::size_t gpu, pid_t rubato) const;
  [[nodiscard]] bool descends(pid_t pid, pid_t from) const;

  JobOptions options_;
  FsRoot root_;
  std::map<std::filesystem::path, Known> known_;
  std::vector<JobState> jobs_;
  std::size_t left_out_ = 0;
  std::size_t unreadable_ = 0;
  bool may_read_whole_ = true;  // in this step
};

}  // namespace rubato::exporter
