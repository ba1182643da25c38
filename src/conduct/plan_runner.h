// Runs a plan of clocks inside the job's iterations on one GPU: follows device records, says whether the plan
// can be run now, and keeps the requests of the next moments with whoever sends them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "conduct/kernel_reader.h"
#include "conduct/switcher.h"
#include "core/iteration.h"
#include "core/trained_model.h"
#include "govern/layer_plan/phase_clock.h"
#include "govern/strategy.h"

namespace rubato::conduct {

class PlanRunner {
 public:
  PlanRunner(plan::LayerPlan plan, govern::SwitchLimits limits, std::unique_ptr<Switcher> switcher);

  void kernels(const KernelNews& news);
  /// Names of kernels come as marks: one of a collective tells that other GPUs wait for this one. So does
  /// what the job trains.
  void mark(const Mark& mark);

  [[nodiscard]] govern::PlanNow now(TimePoint now) const;
  void send_by(SendClocks send) { switcher_->send_by(std::move(send)); }
  /// From the single setting.
  void start(TimePoint now);
  /// The clocks in force are those of any phase; whoever stops it sets what is to be in force next.
  void stop();
  [[nodiscard]] bool running() const { return running_; }
  /// Predicts anew; false where the plan runs and cannot go on.
  [[nodiscard]] bool step(TimePoint now);
  [[nodiscard]] std::optional<TimePoint> next_due() const;

  [[nodiscard]] std::optional<Error> failure() const { return switcher_->state().failure; }
  /// "12 changes of clocks asked for, 1 dropped as too late"; of the run so far.
  [[nodiscard]] std::string in_words() const;
  /// What of the job was compared with the plan's model, in words.
  [[nodiscard]] std::string recognised() const;
  [[nodiscard]] const plan::LayerPlan& plan() const { return plan_; }

 private:
  [[nodiscard]] std::optional<TrainedModel> trained() const;
  /// conflict: another job than the plan was made for; unavailable: not now.
  [[nodiscard]] Result<govern::PhaseReading> reading(TimePoint now) const;
  void name(const Mark& mark);

  plan::LayerPlan plan_;
  govern::SwitchLimits limits_;
  std::unique_ptr<Switcher> switcher_;
  govern::PhaseClock clock_;
  std::map<std::uint64_t, std::string> names_;  // that are told in parts, as far as they came
  std::optional<std::string> collective_;
  std::optional<Mark> model_;  // the latest that tells what is trained
  std::set<std::array<std::uint8_t, 16>> devices_;
  std::optional<std::int32_t> trains_;  // the process that ran the latest layer
  bool running_ = false;
  TimePoint next_;
};

}  // namespace rubato::conduct
