// A whole run in virtual time: a private simulated world, a training in it, a real guard at the other end of
// a function call, a real record. Small enough that an experiment can grow from it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conduct/virtual_driver.h"
#include "device/sim/world.h"
#include "guard/guard.h"
#include "record/reader.h"
#include "simgpu/trainer/virtual_trainer.h"

namespace rubato::conduct {

struct VirtualRunOptions {
  std::vector<std::string> profiles{"v100"};
  device::sim::Scenario scenario{.found_power_limit = 200_W};
  std::optional<sim_trainer::TrainOptions> train = sim_trainer::TrainOptions{.iterations = 200};
  Setting wanted{.power_limit = 150_W};  // empty: measure only
  Seconds length{100'000};               // at most; exactly, where nothing is trained
  bool marks = true;                     // false: the session sees none of the trainer's
  /// In the place of `fixed` at `wanted`, from the GPUs of the run.
  std::function<std::unique_ptr<govern::Strategy>(const std::vector<std::unique_ptr<device::Gpu>>&)>
      strategy{};
  std::string counters{};  // who counts; empty: nobody
  /// In the place of a training, with kJobPid; and what else the session is to be given.
  std::function<std::unique_ptr<VirtualJob>(device::sim::SimWorld&)> job{};
  std::function<void(SessionParts&)> adjust{};
};

/// What really happened on a GPU while the run lasted, and how the GPU was left.
struct TrueRun {
  Joules energy;
  Seconds duration;
  device::sim::Truth end;
};

class VirtualRun {
 public:
  static constexpr TimePoint kBegin{1'000'000'000'000};
  static constexpr std::int64_t kJobPid = 77;

  explicit VirtualRun(VirtualRunOptions options);
  ~VirtualRun();
  VirtualRun(const VirtualRun&) = delete;
  VirtualRun& operator=(const VirtualRun&) = delete;

  /// Something else that happens in the world, `after` the begin of the run.
  void at(Seconds after, std::function<void(device::sim::SimWorld&, TimePoint)> what);
  /// No heartbeat leaves rubato in that time.
  void silence(Seconds from, Seconds to);

  /// The record, read back.
  record::RunRecord run();

  [[nodiscard]] const TrueRun& truth(unsigned gpu = 0) const { return truth_.at(gpu); }
  /// By the trainer, whether the session saw them or not.
  [[nodiscard]] const std::vector<Mark>& marks_made() const { return marks_made_; }
  [[nodiscard]] const std::vector<Error>& warnings() const { return warnings_; }
  /// To the guard, as they went over the wire.
  [[nodiscard]] const std::vector<std::string>& requests() const { return requests_; }
  /// Journals that lie in the guard's folder now.
  [[nodiscard]] std::vector<std::string> journals() const;

 private:
  struct Event {
    TimePoint at;
    std::function<void(device::sim::SimWorld&, TimePoint)> what;
  };

  guard::GuardOptions guard_options() const;
  SessionParts parts(std::vector<Mark>& marks, wire::LeaseClient& client);

  VirtualRunOptions options_;
  std::filesystem::path folder_;
  std::shared_ptr<VirtualClock> clock_ = std::make_shared<VirtualClock>();
  std::shared_ptr<device::sim::SimWorld> world_;
  std::vector<Event> events_;  // in time order
  TimePoint silent_from_;
  TimePoint silent_to_;
  std::vector<TrueRun> truth_;
  std::vector<Error> warnings_;
  std::vector<std::string> requests_;
  std::vector<Mark> marks_made_;
};

/// Every row of a record as text, but for what the machine's own time is in: two runs are the same where
/// these are.
[[nodiscard]] std::string rows_of(const record::RunRecord& run);

}  // namespace rubato::conduct
