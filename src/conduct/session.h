// One run, without threads and without waiting: step(now) reads what is due, follows the iterations, asks the
// strategy, acts through the lease and records. A live and a virtual driver call it; neither knows more.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "conduct/beside.h"
#include "conduct/energy_now.h"
#include "conduct/expectation_keeper.h"
#include "conduct/gpu_unit.h"
#include "conduct/iteration_watch.h"
#include "conduct/kernel_reader.h"
#include "conduct/lease_holder.h"
#include "conduct/load_watch.h"
#include "conduct/meter_watch.h"
#include "conduct/ownership.h"
#include "conduct/plan_runner.h"
#include "conduct/so_far.h"
#include "conduct/tally_keeper.h"
#include "core/objective.h"
#include "device/gpu.h"
#include "govern/strategy.h"
#include "measure/sampler.h"
#include "progress/iteration_tracker.h"
#include "record/run_state.h"
#include "record/types.h"
#include "record/writer.h"

namespace rubato::conduct {

/// How the job ended, for the record; both absent: there was none, or it was left running.
struct JobEnd {
  std::optional<int> exit_code;
  std::optional<int> exit_signal;
};

struct SessionParts {
  std::vector<std::unique_ptr<device::Gpu>> gpus;
  std::unique_ptr<govern::Strategy> strategy;
  std::optional<Goal> goal{};              // what the strategy was made for, for the record; absent: nothing
  std::unique_ptr<LeaseHolder> lease;      // null: this run sets nothing
  std::unique_ptr<record::Writer> writer;  // null: `open_record` makes it, or there is none
  /// The first thing done on the thread that steps: a disk can hang as a driver can. Null: no record could be
  /// made.
  std::function<std::unique_ptr<record::Writer>()> open_record{};
  std::function<std::vector<Mark>(TimePoint, bool last)> marks;
  std::function<KernelNews(TimePoint, bool last)>
      kernels{};                       // what the job's GPUs ran, told since the last call
  std::unique_ptr<PlanRunner> plan{};  // for a strategy that switches inside the iteration; null: none does
  std::optional<Seconds> keep_kernels{};  // from the first on they go into the record; absent: all of them
  std::function<void(TimePoint until, std::span<const GpuNow>, std::span<const ChannelNow>)>
      board{};  // for the job, which may ask what it has drawn
  std::function<void(const std::filesystem::path& record)>
      forecast_ready{};    // once: two epochs are over and recorded
  std::string counters{};  // who counts (feature/provider.h); empty: nobody
  std::function<void(const progress::Ruling&)> iteration_found{};  // first, and where it is another now
  std::function<void(const GpuId&, const Shift&)> shift_noticed{};
  std::function<void(const record::Decision&)> decided{};  // as it goes into the record
  /// After each block away from the found setting: what the run has come to.
  std::function<void(const SoFar&, std::int64_t iterations, const Setting& in_force)> so_far{};
  /// For whoever watches the run, every `state_period` of the run's clock: what only the session knows; the
  /// rest is the caller's to fill in.
  std::function<void(record::RunState)> state{};
  Seconds state_period{1.0};
  std::vector<record::ChannelInfo> channels;  // of all meters, in the order of the numbers in MeterNews
  std::function<std::vector<MeterNews>(TimePoint)> meter_news;  // what meters told since the last call
  std::function<Ownership(const std::vector<ComputeProcess>&)> ownership;
  std::shared_ptr<Beside> beside{};  // agents of this job on other nodes; null: there are none
  bool allow_shared = false;
  std::optional<Watts> power_budget{};         // for the GPUs of the job together, which the strategy divides
  std::optional<ClockRange> found_sm_clock{};  // as the user states it; the driver cannot be asked
  std::function<void(const Error&)> warn;      // for the person at the terminal, while the job runs
  std::string backend;
  std::string driver_version;
};

class Session final : public measure::SampleSink {
 public:
  Session(SessionParts parts, TimePoint begin);

  [[nodiscard]] TimePoint next_due() const;
  void step(TimePoint now);
  /// Closes the lease, the blocks and the record. No step() after it.
  void finish(TimePoint now, const JobEnd& end);

  /// Where the record lies, or why there is none. Valid after finish().
  [[nodiscard]] const Result<std::filesystem::path>& record_file() const { return record_file_; }
  [[nodiscard]] bool restoration_failed() const { return restoration_failed_; }
  /// Whether the job wrote any mark: where a framework's hook is in place it says at least that.
  [[nodiscard]] bool marks_seen() const { return marks_seen_; }
  /// Asked by another thread: a step, or finish(), is busy with the record, so what takes long is a disk and
  /// no driver.
  [[nodiscard]] bool at_the_disk() const { return at_the_disk_.load(); }

  void on_fast(std::size_t gpu, const FastReading& reading) override;
  void on_slow(std::size_t gpu, const SlowReading& reading) override;
  void on_silence(std::size_t gpu, TimePoint begin, const Error& why) override;
  void on_gap(std::size_t gpu, TimePoint begin, TimePoint end, const std::string& why) override;

 private:
  /// A strategy is asked after each iteration, and at least this often.
  static constexpr Seconds kDecisionPeriod{1.0};

  /// What is known of the sensor, from its table and from earlier runs.
  void open_sensor(GpuUnit& unit);
  void follow_sensor(std::size_t gpu, const FastReading& reading);
  void learn(std::size_t gpu, const measure::SensorFindings& findings);
  void follow_other_scopes(GpuUnit& unit, const FastReading& reading);
  void name_series(GpuUnit& unit, const FastReading& reading) const;
  void judge_counter(GpuUnit& unit, const FastReading& reading, const measure::CounterStep& step);
  /// Reset or reloaded by somebody else: our settings are gone, and theirs stand.
  void driver_restarted(GpuUnit& unit, TimePoint now);
  [[nodiscard]] std::vector<EnergyWindow> other_scopes(const GpuUnit& unit, TimePoint now) const;
  void record_device(const GpuUnit& unit);

  /// The first files and driver calls, on the thread that steps: whoever makes a session waits for neither.
  void open();
  void make_units();
  bool notice_death_of_guard(TimePoint now);
  [[nodiscard]] ReadLimits limits_reader();
  void notice_pause(TimePoint now);
  /// True where the guard had restored: the strategy then finds its setting gone and asks for it again.
  bool lease_lapsed(TimePoint now);
  /// True where the strategy is to be asked for the sake of other agents.
  bool look_beside(TimePoint now);
  /// The GPU was not where its blocks say, since the last reading that showed it there.
  static void spoil_blocks(GpuUnit& unit, TimePoint now);
  /// Somebody else has a hand in what the job takes now: no block of it may be judged.
  [[nodiscard]] bool disturbed() const;
  /// A GPU could not be put back: what is in force there is not known.
  [[nodiscard]] bool owes_found() const;
  /// Tries again where that is so.
  void pay_found(TimePoint now);
  void follow_meters(TimePoint now);
  void follow_kernels(TimePoint now, bool last);
  /// A sensor that sees part of the time is fooled by iterations in step with it: the meters have to know.
  void learn_step(const progress::TrackedIteration& tracked);
  void watch_epochs(const Mark& mark, TimePoint now);
  /// Marks of the program itself; true where an iteration ended.
  bool follow_marks(TimePoint now, bool last);
  void count_iteration(const progress::TrackedIteration& tracked);
  [[nodiscard]] bool works_for_job(const GpuUnit& unit) const;
  /// The iteration, whoever tells of it; true where one ended that no mark told of.
  bool watch_iterations(TimePoint now, bool last);
  void watch_shifts(TimePoint now);
  void watch_counters(TimePoint now);
  [[nodiscard]] bool counters_due(TimePoint now) const;
  /// From here on everything takes another time and another power, for a reason that is known.
  void explain_change(GpuUnit& unit, TimePoint now);
  void publish(TimePoint now);
  /// Work and energy up to the latest iteration whose energy is known.
  void tally();
  /// Which GPUs' energy is told to the strategy: the job's; all of them until it is known which those are.
  [[nodiscard]] bool tallied(const GpuUnit& unit) const;
  /// True where at least one iteration ended.
  bool follow_iterations(TimePoint now, bool last = false);
  void watch_ownership(TimePoint now);
  /// False only where every look could tell and the job computed on another GPU; absent: not known.
  [[nodiscard]] std::optional<bool> used_by_job(const GpuUnit& unit) const;
  void watch_limit(GpuUnit& unit, const SlowReading& reading);
  /// Of a GPU on which nothing is ours. Where another hand is on it, that is recorded, what is measured from
  /// then on is of their setting, and who meant to set it stands back.
  void see_their_limit(GpuUnit& unit, Watts requested, std::optional<Watts> enforced, TimePoint at);
  void settle_blocks(TimePoint now, bool last);
  void tell_so_far(const record::Block& block);
  void tell_state(TimePoint now);
  void flush_change(GpuUnit& unit);
  void decide(TimePoint now);
  void give_way(TimePoint now);
  [[nodiscard]] govern::Observation observe(TimePoint now);
  /// A GPU is told what to set, and leaves the rest as it is: what is no longer wanted has to go first.
  [[nodiscard]] static bool leaves_out(const Setting& in_force, const Setting& wanted);
  [[nodiscard]] bool waits_for_another(const govern::Decision& decision);
  void carry_out(const govern::Decision& decision, TimePoint now);
  bool hold_lease(TimePoint now);
  /// From the single setting, which is in force.
  void start_plan(const Setting& range, TimePoint now);
  /// Before any other request: from here on nobody else sends any.
  void stop_plan(TimePoint now);
  void follow_plan(TimePoint now);
  void tell_plan_at_the_end(TimePoint now);
  bool set(GpuUnit& unit, const Setting& setting, TimePoint now);
  /// Why not, where the guard refused.
  [[nodiscard]] Status apply(GpuUnit& unit, const Setting& setting, TimePoint now);
  /// Under a power budget: each GPU its own limit, lowered first, so that the sum is never above it.
  void set_limits(const govern::Decision& decision, TimePoint now);
  void set_limit(GpuUnit& unit, Watts limit, bool first, TimePoint now);
  /// The sum of the limits that count but for this GPU's.
  [[nodiscard]] Watts other_limits(const GpuUnit& unit) const;
  [[nodiscard]] static Watts limit_in_force(const GpuUnit& unit);
  /// Its limit is part of the sum: the job computes there, or did.
  [[nodiscard]] bool counts(const GpuUnit& unit) const;
  [[nodiscard]] bool steered(const GpuUnit& unit) const;
  [[nodiscard]] std::vector<govern::Board> boards() const;
  void follow_boards(TimePoint from, TimePoint until);
  /// What has changed of the shares, once.
  void note_shares(const govern::Decision& decision, TimePoint now);
  /// False where the setting is still in force, or nobody knows.
  bool put_back(GpuUnit& unit, TimePoint now);
  void still_set(GpuUnit& unit, const RestorationReport& report, record::SettingChange change, TimePoint now);
  /// Every GPU but `except` back to the setting it was found at.
  void put_all_back(TimePoint now, const GpuUnit* except = nullptr);
  void stand_back(const Error& error, TimePoint now);
  void note(const std::string& action, const std::string& why, TimePoint now, const Setting& setting);
  /// What the strategy chose from, where that is news.
  void keep_expectation(const Setting& chosen, TimePoint now);
  void close_lease(TimePoint now);
  void warn(const Error& error) const;
  template <class Row>
  void put(void (record::Writer::*add)(const Row&), const Row& row) {
    if (!parts_.writer) return;
    const DiskWork work(at_the_disk_);
    (parts_.writer.get()->*add)(row);
  }

  class DiskWork {
   public:
    explicit DiskWork(std::atomic<bool>& flag) : flag_(flag), before_(flag.exchange(true)) {}
    DiskWork(const DiskWork&) = delete;
    ~DiskWork() { flag_.store(before_); }

   private:
    std::atomic<bool>& flag_;
    bool before_;
  };

  SessionParts parts_;
  TimePoint begin_;
  std::vector<GpuUnit> units_;
  measure::Sampler sampler_;
  progress::IterationTracker tracker_;
  std::optional<IterationWatch> watch_;
  std::optional<MeterWatch> meters_;
  TimePoint next_ownership_;
  TimePoint next_marks_;
  TimePoint next_meters_;
  TimePoint next_decision_;
  TimePoint next_state_;
  bool open_ = false;
  std::atomic<bool> at_the_disk_{false};
  std::optional<TimePoint> last_step_;
  TimePoint pause_begin_;  // of the latest time rubato itself stood still, which is one gap for all GPUs
  TimePoint pause_end_;
  bool restart_told_ = false;
  bool kernels_elsewhere_told_ = false;
  bool marks_seen_ = false;
  std::deque<double> steps_s_;  // of the latest iterations
  std::optional<std::pair<std::int32_t, std::int32_t>>
      epoch_stream_;  // process and thread that tell of epochs first
  int epochs_over_ = 0;
  std::optional<TimePoint> forecast_due_;
  TallyKeeper tally_;
  LoadWatch load_;
  TimePoint tallied_until_;
  Joules tallied_energy_;
  SoFarAccount so_far_;
  std::shared_ptr<const std::map<std::string, double>> features_;
  std::optional<std::string> shift_;  // not yet told to the strategy
  std::optional<govern::Decision> last_decision_;
  std::set<std::string> waited_for_;  // by the job's warm-up, and told
  bool warmed_up_ = false;            // something else than that was decided once
  ExpectationKeeper expectations_;
  std::string shares_told_;              // of a power budget, the latest sentence in the record
  record::Decision doing_;               // and why, as a watcher is told
  std::optional<TimePoint> plan_began_;  // while it runs
  Seconds plan_ran_;                     // together, before that
  std::optional<TimePoint> first_kernel_;
  Setting in_force_;
  bool stand_back_ =
      false;  // somebody else has a hand on a GPU, or the lease is gone: measure only from here
  bool restoration_failed_ = false;
  Result<std::filesystem::path> record_file_ = fail(ErrorCode::unavailable, "no record was made");
};

}  // namespace rubato::conduct
