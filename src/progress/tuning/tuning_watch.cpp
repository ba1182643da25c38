#include <algorithm>
#include <deque>
#include <utility>

#include "base/text.h"
#include "progress/tuning.h"
#include "progress/tuning/novelty.h"
#include "progress/tuning/steadiness.h"

namespace rubato::progress {

using tuning::Novelty;
using tuning::Steadiness;

namespace {

/// Iterations of a few microseconds have a length, too.
std::string in_words(Seconds duration) {
  return duration < Seconds(0.01) ? cat(number(duration.value() * 1e3, 3), " ms") : cat(duration);
}

constexpr Seconds kLongest{300};              // nobody waits longer, whatever is seen
constexpr std::size_t kMostIterations = 100;  // nor for more iterations than these
constexpr Seconds kNothingSeen{60};           // without iterations and kernels
constexpr Seconds kNothingNew{10};            // without iterations: kernels, none of them new
constexpr std::uint64_t kEnoughKernels = 200;
constexpr double kLonger = 1.5;  // than what was settled on
constexpr std::size_t kLatest = 4;
constexpr std::ptrdiff_t kLongOfLatest = 2;  // so many of the latest: no single stall
constexpr std::size_t kTrials = 3;           // new names that are more than a log line

}  // namespace

struct TuningWatch::Impl {
  TuningState state{.tuning = true, .since = std::nullopt, .why = "nothing seen yet"};
  Steadiness durations;  // since the state or the setting changed
  Novelty novelty;
  std::size_t iterations = 0;                     // since tuning began
  std::optional<Seconds> usual;                   // of an iteration, since it settled; absent: to be learned
  std::deque<std::pair<TimePoint, bool>> latest;  // iterations while settled: begin, and whether it was long
  std::optional<TimePoint> changed;               // the setting
  std::optional<TimePoint> now;
  std::optional<TimePoint> last_iteration;
  bool whole_cycle_old = false;  // the latest cycle had kernels, none of them new
  std::optional<TimePoint> cycle_begin;

  void reach(TimePoint t);
  void learn();
  void tune(TimePoint since, std::string why);
  void settle(TimePoint at, std::string why);
  void while_tuning(const Iteration& i);
  void while_settled(const Iteration& i);
  void without_iterations();
};

void TuningWatch::Impl::reach(TimePoint t) {
  now = std::max(now.value_or(t), t);
  if (!state.since) state.since = t;
}

void TuningWatch::Impl::tune(TimePoint since, std::string why) {
  state = {.tuning = true, .since = since, .why = std::move(why)};
  durations.clear();
  latest.clear();
  iterations = 0;
}

void TuningWatch::Impl::settle(TimePoint at, std::string why) {
  learn();
  state = {.tuning = false, .since = at, .why = std::move(why)};
  latest.clear();
}

// What is usual: of iterations that vary, as long as any.
void TuningWatch::Impl::learn() {
  if (durations.agree()) {
    usual = durations.median();
  } else if (durations.count() >= Steadiness::kVarying) {
    usual = durations.longest();
  }
}

void TuningWatch::Impl::while_tuning(const Iteration& i) {
  ++iterations;
  durations.add(i.duration());
  if (novelty.new_between(i.begin, i.end) > 0) {
    // What tries kernels is no measure of what is to come.
    durations.clear();
    state.why = "kernels come that were never seen before";
  } else if (durations.steady()) {
    settle(i.end, durations.agree() ? cat("the latest ", Steadiness::kAgreeing, " iterations agree, ",
                                          in_words(durations.median().value_or(Seconds(0))), " each")
                                    : std::string("iterations vary, but do not get shorter any more"));
    return;
  } else {
    state.why = cat(durations.count(), " iterations seen, not yet steady");
  }
  if (iterations >= kMostIterations)
    settle(i.end, cat("never became steady in ", kMostIterations, " iterations; taken as they are"));
}

// Long iterations are tuning again where new kernels come with them, or where no kernels are told at all.
void TuningWatch::Impl::while_settled(const Iteration& i) {
  if (changed && i.begin < *changed) return;  // partly under the old setting
  durations.add(i.duration());
  if (!usual) {
    learn();
    return;
  }
  const bool kernels_told = novelty.last_kernel() && *novelty.last_kernel() >= i.begin;
  const std::size_t fresh = novelty.new_between(i.begin, i.end);
  const bool is_long = i.duration() > kLonger * *usual;
  if (is_long && fresh >= kTrials) {
    tune(i.begin, cat(fresh, " new kernels in an iteration of ", i.duration(), " instead of ", *usual));
    return;
  }
  if (kernels_told && fresh == 0) return;
  latest.emplace_back(i.begin, is_long);
  if (latest.size() > kLatest) latest.pop_front();
  if (std::ranges::count(latest, true, &std::pair<TimePoint, bool>::second) < kLongOfLatest) return;
  const auto first = std::ranges::find(latest, true, &std::pair<TimePoint, bool>::second);
  tune(first->first, cat("iterations take ", in_words(i.duration()), " instead of ", in_words(*usual)));
}

void TuningWatch::Impl::without_iterations() {
  if (!state.tuning || !now || !state.since) return;
  const Seconds waited = *now - *state.since;
  if (waited >= kLongest) {
    settle(*now, cat("waited ", kLongest, ", which is the longest"));
    return;
  }
  if (last_iteration && *now - *last_iteration < kNothingSeen) return;
  if (novelty.kernels() >= kEnoughKernels) {
    const bool long_ago = *novelty.last_kernel() - novelty.last_new().value_or(*state.since) >= kNothingNew;
    if (whole_cycle_old || long_ago) settle(*now, "no kernel that was never seen before comes any more");
  } else if (!novelty.any() && waited >= kNothingSeen) {
    settle(*now, cat("neither iterations nor kernels are told; waited ", kNothingSeen));
  }
}

TuningWatch::TuningWatch() : impl_(std::make_unique<Impl>()) {}
TuningWatch::~TuningWatch() = default;
TuningWatch::TuningWatch(TuningWatch&&) noexcept = default;
TuningWatch& TuningWatch::operator=(TuningWatch&&) noexcept = default;

void TuningWatch::iteration(const Iteration& iteration) {
  if (iteration.end <= iteration.begin) return;
  Impl& s = *impl_;
  if (s.last_iteration && iteration.end <= *s.last_iteration) return;
  s.last_iteration = iteration.end;
  s.reach(iteration.begin);
  s.reach(iteration.end);
  if (s.state.tuning) {
    if (!(s.changed && iteration.begin < *s.changed)) s.while_tuning(iteration);
  } else {
    s.while_settled(iteration);
  }
  s.without_iterations();
}

void TuningWatch::kernel(const KernelRecord& record) {
  Impl& s = *impl_;
  s.reach(record.begin);
  if (!s.cycle_begin) s.cycle_begin = record.begin;
  s.novelty.add(record);
  s.without_iterations();
}

void TuningWatch::cycle_ended(TimePoint end) {
  Impl& s = *impl_;
  s.reach(end);
  if (s.cycle_begin) {
    const auto fresh = s.novelty.last_new();
    s.whole_cycle_old = !fresh || *fresh < *s.cycle_begin;
  }
  s.cycle_begin.reset();
  s.without_iterations();
}

void TuningWatch::pass(TimePoint now) {
  impl_->reach(now);
  impl_->without_iterations();
}

void TuningWatch::setting_changed(TimePoint at) {
  Impl& s = *impl_;
  s.reach(at);
  s.changed = at;
  s.usual.reset();
  s.durations.clear();
  s.latest.clear();
}

TuningState TuningWatch::state() const {
  return impl_->state;
}

}  // namespace rubato::progress
