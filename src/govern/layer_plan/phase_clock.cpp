#include "govern/layer_plan/phase_clock.h"

#include <rubato/mark_layout.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "progress/stats.h"

namespace rubato::govern {
namespace {

constexpr std::size_t kKept = 8;    // iterations that the period is the median of
constexpr std::size_t kFewest = 4;  // before anything is said
// Iterations further from the median than this are pauses, evaluations, or two of which one was not seen.
constexpr double kSameIteration = 0.25;
// Jobs whose iterations scatter more than this (robust standard deviation over median) are not predicted.
constexpr double kIrregular = 0.05;
// A begin known no better than this share of the shortest phase puts too much of it at the wrong clock.
constexpr double kMostError = 0.25;
constexpr double kMostErrorRunning = 0.4;
// Without records for longer than this nothing says that the job still does what it did.
constexpr Seconds kStale{8};
constexpr double kLate = 1.5;  // periods without a begin while records come: the job does something else
constexpr double kMadToDeviation = 1.4826;  // of a normal distribution

std::uint64_t hash_of_name(std::string_view name) {
  std::uint64_t hash = RUBATO_MARK_HASH_OFFSET;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * RUBATO_MARK_HASH_PRIME;
  return hash;
}

std::uint64_t id_of(LayerPass pass) {
  if (pass == LayerPass::forward) return RUBATO_PHASE_FORWARD;
  return pass == LayerPass::backward ? RUBATO_PHASE_BACKWARD : RUBATO_PHASE_OPTIMIZER;
}

auto not_ready(std::string why) {
  return fail(ErrorCode::unavailable, std::move(why));
}

void keep(std::deque<double>& values, double value) {
  values.push_back(value);
  if (values.size() > kKept) values.pop_front();
}

/// Between two changes of clocks; the end of an iteration goes on in the next.
Seconds shortest_stretch(const plan::LayerPlan& plan) {
  const auto& phases = plan.phases;
  Seconds first;  // up to the first change
  Seconds present;
  std::optional<Seconds> shortest;
  bool changed = false;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    if (i > 0 && phases[i].clocks != phases[i - 1].clocks) {
      if (changed) shortest = std::min(shortest.value_or(present), present);
      if (!changed) first = present;
      changed = true;
      present = {};
    }
    present += phases[i].duration;
  }
  if (!changed) return present;
  if (phases.front().clocks == phases.back().clocks)
    present += first;
  else
    shortest = std::min(shortest.value_or(first), first);
  return std::min(shortest.value_or(present), present);
}

std::optional<double> median_of(const std::deque<double>& values) {
  const std::vector<double> flat(values.begin(), values.end());
  return progress::median(flat);
}

}  // namespace

bool PhaseClock::Phase::begins_with(std::uint64_t layer) const {
  return layer != 0 && (layer == ids[0] || layer == ids[1]);
}

double PhaseClock::Phase::start() const {
  return median_of(starts).value_or(planned_start);
}

// A layer's kernels run in both directions: its name tells a phase's begin where the direction is known
// already.
PhaseClock::PhaseClock(const plan::LayerPlan& plan) {
  Seconds whole;
  for (const auto& phase : plan.phases) whole += phase.duration;
  Seconds so_far;
  for (std::size_t i = 0; i < plan.phases.size(); ++i) {
    const plan::PlannedPhase& planned = plan.phases[i];
    Phase phase;
    const bool turns = i == 0 || plan.phases[i - 1].pass != planned.pass;
    const bool with_its_pass = turns && planned.begins_pass;
    if (!with_its_pass || planned.pass == LayerPass::forward) phase.ids[0] = hash_of_name(planned.first);
    if (with_its_pass) phase.ids[1] = id_of(planned.pass);
    // Inside the backward pass, with none of its phases before: the layer has run forward by then. An
    // optimizer's kernels tell no layer.
    if (turns && !with_its_pass && planned.pass == LayerPass::backward) phase.entry = 2;
    if (turns && !with_its_pass && planned.pass == LayerPass::optimizer) phase.ids[0] = 0;
    phase.planned_start = so_far / whole;
    so_far += planned.duration;
    phases_.push_back(std::move(phase));
  }
  begins_.resize(phases_.size());
  shortest_ = shortest_stretch(plan) / whole;
}

void PhaseClock::add(const KernelRecord& record) {
  any_record_ = true;
  if (record.lost_before > 0) cycle_ended(record.begin);
  seen_until_ = std::max(seen_until_.value_or(record.end), record.end);
  if (record.layer == 0) return;
  any_layer_ = true;
  const bool first = phases_.front().begins_with(record.layer);
  const bool entered = first && in_first_ == false;
  in_first_ = first;
  for (Phase& phase : phases_) {
    const bool inside = phase.ids[0] == record.layer;
    if (inside && !phase.inside) ++phase.entered;
    phase.inside = inside;
  }
  if (entered) return iteration_begins(record.begin);
  if (!begin_ || !unbroken_) return;
  for (std::size_t i = next_phase_; i < phases_.size(); ++i) {
    const auto& ids = phases_[i].ids;
    const bool by_pass = ids[1] == record.layer;
    const bool by_layer =
        i == next_phase_ && ids[0] == record.layer && phases_[i].entered >= phases_[i].entry;
    if (!by_pass && !by_layer) continue;
    begins_[i] = record.begin;
    next_phase_ = i + 1;
    return;
  }
}

void PhaseClock::iteration_begins(TimePoint at) {
  if (begin_ && at > *begin_) {
    const Seconds length = at - *begin_;
    const auto usual = period();
    const bool fits = usual && abs(length - *usual) <= kSameIteration * *usual;
    const bool learns = fits || (unbroken_ && intervals_s_.size() < kFewest);
    if (unbroken_) in_step_ = fits || !usual;
    if (learns) keep(intervals_s_, length.value());
    for (std::size_t i = 1; i < phases_.size() && learns && unbroken_; ++i)
      if (begins_[i]) keep(phases_[i].starts, (*begins_[i] - *begin_) / length);
  }
  begin_ = at;
  unbroken_ = true;
  next_phase_ = 1;
  std::fill(begins_.begin(), begins_.end(), std::nullopt);
  for (Phase& phase : phases_) phase.entered = phase.inside ? 1 : 0;
}

void PhaseClock::cycle_ended(TimePoint end) {
  seen_until_ = std::max(seen_until_.value_or(end), end);
  unbroken_ = false;
  in_first_.reset();
}

void PhaseClock::pace_changed(double factor) {
  for (double& interval : intervals_s_) interval *= factor;
}

std::size_t PhaseClock::measured() const {
  return static_cast<std::size_t>(
      std::count_if(phases_.begin() + 1, phases_.end(), [](const Phase& p) { return !p.starts.empty(); }));
}

std::optional<Seconds> PhaseClock::period() const {
  if (const auto middle = median_of(intervals_s_)) return Seconds(*middle);
  return std::nullopt;
}

std::optional<Seconds> PhaseClock::spread() const {
  const auto middle = median_of(intervals_s_);
  if (!middle) return std::nullopt;
  std::deque<double> away;
  for (const double interval : intervals_s_) away.push_back(std::abs(interval - *middle));
  return Seconds(kMadToDeviation * *median_of(away));
}

Result<PhaseReading> PhaseClock::at(TimePoint now, bool runs) const {
  if (!any_record_) return not_ready("no kernel records came yet");
  if (!any_layer_)
    return not_ready("kernel records carry neither layers nor phases, so nothing tells where a pass begins");
  if (!begin_ || intervals_s_.size() < kFewest)
    return not_ready(cat("only ", intervals_s_.size(), " of ", kFewest,
                         " iterations were seen from begin to begin in kernel records"));
  const Seconds usual = *period();
  const Seconds deviation = *spread();
  if (deviation > kIrregular * usual)
    return not_ready(cat("iterations scatter by ", number(100 * (deviation / usual), 1),
                         " %: where the next one begins cannot be predicted"));
  if (!in_step_) return not_ready("the latest iteration took another time than those before");
  if (now - *seen_until_ > kStale)
    return not_ready(cat("the latest kernel record is ", number((now - *seen_until_).value(), 1), " s old"));
  if (unbroken_ && *seen_until_ - *begin_ > kLate * usual)
    return not_ready("kernels run, but none begins an iteration: the job does something else");
  const double ahead = std::max(0.0, std::floor((now - *begin_) / usual));
  // The begin itself walks as a sum of iterations; the period's own error adds up with each of them.
  const double kept = static_cast<double>(intervals_s_.size());
  const Seconds error = 2.0 * deviation * (std::sqrt(ahead + 1) + (ahead + 1) / std::sqrt(kept));
  if (error > (runs ? kMostErrorRunning : kMostError) * shortest_ * usual)
    return not_ready(cat("the begin of an iteration is known to ", number(error.value() * 1e3, 1),
                         " ms only, and the shortest stretch between two changes lasts ",
                         number((shortest_ * usual).value() * 1e3, 1), " ms"));
  PhaseReading reading{*begin_ + ahead * usual, usual, error, {}};
  for (const Phase& phase : phases_) reading.starts.push_back(phase.start());
  return reading;
}

}  // namespace rubato::govern
