#include "cli/evidence_conductor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/log.h"
#include "base/text.h"
#include "cli/calibrate_child.h"
#include "cli/evidence_watch.h"
#include "cli/print_run.h"
#include "cli/sweep_facts.h"
#include "cli/terminal_kind.h"
#include "experiment/sweep_grid.h"
#include "experiment/sweep_within.h"
#include "govern/sweep_strategy.h"
#include "govern/switch_strategy.h"
#include "plan/setting_of.h"
#include "report/format.h"
#include "report/layout.h"

namespace rubato::cli {
namespace {

using experiment::SweepMeasurement;

constexpr int kEndedByUs = 128 + SIGTERM;
// A job that nobody ends, because its rubato was killed, ends by itself: a run may take this much longer than
// planned, as a board takes up to three minutes to get warm and low clocks stretch the work.
constexpr double kSlack = 1.5;
constexpr Seconds kLongestWarmup{180};
// Shorter than any unit of work: so many of them outlast the run.
constexpr Seconds kShortestUnit{0.01};
// A job that holds the GPU this long without anything that may be set there: a lease lost does not come back.
constexpr Seconds kNothingMayBeSet{20};

// What a child says: the last words of its strategy on a line, then the record's file.
constexpr char kEndOfWords = '\n';

/// How a run shows how far it is.
struct Shown {
  bool on_terminal = false;
  std::string what;
  Seconds left;     // of everything, as planned
  double rate = 1;  // of the GPU's clock
};

/// Ends the job once `Inner` is through, as nothing else would tell a kernel that it has run long enough.
template <class Inner>
class UntilThrough final : public govern::Strategy {
 public:
  UntilThrough(Inner inner, Shown shown, int say)
      : inner_(std::move(inner)), shown_(std::move(shown)), say_(say) {}

  [[nodiscard]] std::string_view name() const override { return inner_.name(); }
  [[nodiscard]] govern::Decision next(const govern::Observation& o) override {
    govern::Decision decision = inner_.next(o);
    if (shown_.on_terminal) show(o, decision);
    if (!o.under_load || o.may_set) could_set_ = o.now;
    const bool lost = could_set_ && o.now - *could_set_ >= kNothingMayBeSet;
    if (((inner_.through() && o.in_force.empty()) || lost) && !ended_) {
      ended_ = true;
      say_all(say_, decision.why + kEndOfWords);
      // rubato passes it on to its job, and puts back what there is.
      kill(getpid(), SIGTERM);
    }
    return decision;
  }

 private:
  void show(const govern::Observation& o, const govern::Decision& decision) {
    if (o.now - shown_at_ < Seconds(1) * shown_.rate) return;
    shown_at_ = o.now;
    const Seconds left = std::max(Seconds(0), shown_.left - (o.now - o.run_begin)) / shown_.rate;
    const std::string line = cat(shown_.what, ": ", decision.why, "; about ", report::text_of(left), " left");
    const auto width = static_cast<std::size_t>(text_options(STDERR_FILENO).width) - 1;
    fmt::print(stderr, "\r\x1b[K{}", report::cut(line, width));
    std::fflush(stderr);
  }

  Inner inner_;
  Shown shown_;
  int say_;
  TimePoint shown_at_;
  std::optional<TimePoint> could_set_;
  bool ended_ = false;
};

/// One setting with every knob that will be moved: what the lease has to cover.
predict::KnobPoint all_knobs(const experiment::EvidencePlan& plan) {
  predict::KnobPoint out;
  for (const predict::KnobPoint& at : plan.points) {
    if (at.power_limit) out.power_limit = at.power_limit;
    if (at.sm_clock) out.sm_clock = at.sm_clock;
  }
  return out;
}

}  // namespace

std::string EvidenceConductor::gpu_list() const {
  return simulated() ? invocation_.gpu : facts_.uuid;
}

std::vector<std::string> EvidenceConductor::job(std::string_view kernel, Seconds at_most) const {
  if (!simulated())
    return {own_program(), "calibrate-kernel", std::string(kernel),       "--uuid",
            facts_.uuid,   "--seconds",        number(at_most.value(), 0)};
  return {own_program(),  "sim",
          "train",        cat("calibrate-", kernel),
          "--iterations", number(at_most / kShortestUnit, 0)};
}

bool EvidenceConductor::on_terminal() const {
  return obeys_sequences(STDERR_FILENO) && !invocation_.quiet;
}

bool EvidenceConductor::interrupted() {
  interrupts_.take(0);
  if (interrupts_.asked_to_end() != 0) status_ = 128 + interrupts_.asked_to_end();
  return interrupts_.asked_to_end() != 0;
}

void EvidenceConductor::miss(std::string part, std::string why) {
  log::warning(cat(part, ": ", why));
  evidence_.missing.push_back({std::move(part), std::move(why)});
}

std::optional<EvidenceConductor::Made> EvidenceConductor::one_run(
    const std::string& part, std::string_view kernel, Seconds length,
    const std::function<std::unique_ptr<govern::Strategy>(int say)>& strategy) {
  const ChildEnd child = in_child(interrupts_, [&](int say) {
    // What the kernel says of itself is nothing for whoever watches.
    if (const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0)
      dup2(nowhere, STDOUT_FILENO);
    if (log::level() == log::Level::info) log::set_level(log::Level::warning);
    Invocation own = invocation_;
    own.gpu = gpu_list();
    own.command = job(kernel, length * kSlack + kLongestWarmup);
    own.separated = true;
    Experiment experiment;
    experiment.strategy = strategy(say);
    experiment.conclude = [say](const Result<std::filesystem::path>& file) {
      if (file) say_all(say, file->string());
      return 0;
    };
    return run_job(own, options_at(options_, all_knobs(plan_)), std::move(experiment));
  });
  if (on_terminal()) fmt::print(stderr, "\r\x1b[K");
  left_ -= length;
  const bool ended = interrupted();
  const std::size_t words = child.said.find(kEndOfWords) + 1;  // 0: none
  const std::string file = child.said.substr(words);
  if (file.empty()) {
    if (!ended) {
      miss(part, cat("a run could not be measured (status ", child.status, "); the message above says why"));
      status_ = 1;
    }
    return std::nullopt;
  }
  auto run = record::read_run(file);
  if (!run) {
    miss(part, run.error().what);
    status_ = 1;
    return std::nullopt;
  }
  const bool failed =
      run->end && std::any_of(run->end->devices.begin(), run->end->devices.end(),
                              [](const auto& d) { return d.restoration == Restoration::failed; });
  if (failed) {
    miss("putting back", "the GPU could not be put back as it was found: nothing more is set");
    status_ = 1;
  } else if (!ended && child.status != 0 && child.status != kEndedByUs) {
    miss(part, cat(kernel, " ended with status ", child.status));
  }
  return Made{std::move(*run), words == 0 ? "the run ended too early" : child.said.substr(0, words - 1)};
}

/// A setting of the sweep that no step of it tells of.
void EvidenceConductor::judge(const experiment::KernelEvidence& kernel) {
  std::vector<predict::KnobPoint> settings = plan_.points;
  settings.emplace_back();
  for (const predict::KnobPoint& at : settings) {
    std::string why = "not measured";
    const bool told = std::any_of(kernel.sweep.begin(), kernel.sweep.end(), [&](const SweepMeasurement& m) {
      if (m.at == at && !m.used()) why = m.not_used;
      return m.at == at && m.used();
    });
    if (!told) miss(cat(kernel.kernel, " at ", experiment::describe(at)), why);
  }
}

EvidenceConductor::End EvidenceConductor::one_kernel(const experiment::EvidenceRun& run) {
  std::vector<Setting> steps;
  for (const predict::KnobPoint& at : run.steps) steps.push_back(plan::setting_of(at));
  const govern::SweepOptions walk{steps, plan_.iterations, !options_.wanted.found_sm_clock.empty()};
  const auto made = one_run(
      std::string(run.kernel), run.kernel, run.length, [&](int say) -> std::unique_ptr<govern::Strategy> {
        return std::make_unique<UntilThrough<govern::SweepStrategy>>(
            govern::SweepStrategy(walk),
            Shown{on_terminal(), std::string(run.kernel), left_, facts_.clock_rate}, say);
      });
  if (!made) return End::stop;
  auto measured = experiment::measurements_within(made->record, run.steps, plan_.iterations);
  const bool ended = interrupted();
  const bool both = plan_.switches.targets.size() > 1;
  if (measured.empty() && !ended && status_ == 0 && evidence_.kernels.empty() && both) {
    // Clocks that somebody has locked cannot be put back, as no driver tells the lock.
    miss(std::string(name_of(Knob::sm_clock)), made->last_words);
    experiment::drop_clocks(plan_, options_.seed);
    return End::given_up;
  }
  experiment::KernelEvidence kernel{std::string(run.kernel), {}, {}};
  for (std::size_t i = 0; i < measured.size(); ++i)
    (i < run.sweep.size() ? kernel.sweep : kernel.blocks).push_back(std::move(measured[i]));
  if (!ended && measured.size() < run.steps.size())
    miss(kernel.kernel,
         cat(measured.size(), " of ", run.steps.size(), " steps were measured: ", made->last_words));
  if (!ended && !measured.empty()) judge(kernel);
  evidence_.kernels.push_back(std::move(kernel));
  return ended || status_ != 0 ? End::stop : End::through;
}

void EvidenceConductor::all_switches() {
  const experiment::EvidenceSwitches& plan = plan_.switches;
  govern::SwitchOptions walk{{}, plan.cycles, plan.hold, !options_.wanted.found_sm_clock.empty()};
  for (const predict::KnobPoint& at : plan.targets) walk.targets.push_back(plan::setting_of(at));
  auto watch = EvidenceWatch::start(gpu_list());
  if (!watch) {
    miss("switching", watch.error().what);
    return;
  }
  const auto made =
      one_run("switching", plan.kernel, plan.length, [&](int say) -> std::unique_ptr<govern::Strategy> {
        return std::make_unique<UntilThrough<govern::SwitchStrategy>>(
            govern::SwitchStrategy(walk, Random(options_.seed)),
            Shown{on_terminal(), "switching", left_, facts_.clock_rate}, say);
      });
  const std::vector<experiment::Glance> glances = watch->stop();
  if (!made) return;
  if (glances.empty()) {
    miss("switching", "the GPU could not be watched beside the run");
    return;
  }
  experiment::WatchedSwitches seen{std::string(plan.kernel), experiment::resolution_of(glances), {}};
  for (const experiment::Switch& change : experiment::switches_of(made->record, plan.hold))
    seen.each.push_back(experiment::times_of(change, glances));
  const std::size_t wanted = std::size_t{2} * plan.cycles * plan.targets.size();
  if (seen.each.size() < wanted && !interrupted())
    miss("switching", cat(seen.each.size(), " of ", wanted, " switches were made: ", made->last_words));
  evidence_.switches = std::move(seen);
}

experiment::Evidence EvidenceConductor::run() {
  left_ = plan_.length();
  evidence_.missing = facts_.left_out;
  bool go_on = !interrupted();
  for (std::size_t i = 0; go_on && i < plan_.runs.size(); ++i) {
    End end = one_kernel(plan_.runs[i]);
    if (end == End::given_up) end = one_kernel(plan_.runs[i]);
    go_on = end == End::through;
  }
  if (go_on) all_switches();
  if (interrupted()) miss("the rest", "interrupted");
  return std::move(evidence_);
}

}  // namespace rubato::cli
