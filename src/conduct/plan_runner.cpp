#include "conduct/plan_runner.h"

#include <rubato/mark_layout.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "govern/layer_plan/same_job.h"

namespace rubato::conduct {
namespace {

// Requests are handed over for so long ahead, and predicted anew so often: what comes in between is more
// exact, and a job that changed is not switched for longer.
constexpr Seconds kHorizon{1.0};
constexpr Seconds kPeriod{0.25};
constexpr std::size_t kMostNames = 4096;
// A job whose iteration is further from the plan's, either way, trains something else: what was measured
// comes out alike, what was modelled may be off by this much.
constexpr double kUnlikeMeasured = 1.5;
constexpr double kUnlikeModelled = 3;
// NCCL and RCCL call their kernels ncclDevKernel_… and ncclKernel_…; NVSHMEM and MSCCL++ by their own names.
constexpr std::string_view kCollectives[] = {"nccl", "rccl", "nvshmem", "mscclpp", "allreduce"};

constexpr std::array kPrecisions = {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16};
static_assert(RUBATO_PRECISION_BF16 - RUBATO_PRECISION_FP32 + 1 == kPrecisions.size());

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

PlanRunner::PlanRunner(plan::LayerPlan plan, govern::SwitchLimits limits, std::unique_ptr<Switcher> switcher)
    : plan_(std::move(plan)), limits_(limits), switcher_(std::move(switcher)), clock_(plan_) {}

void PlanRunner::kernels(const KernelNews& news) {
  // Cycles tell of the past up to their end; what begins later belongs to the next. Those of a process that
  // runs no layer tell nothing of the layers.
  const auto ended = [this](const record::KernelCycle& cycle) {
    if (!trains_ || cycle.pid == *trains_) clock_.cycle_ended(cycle.end);
  };
  auto cycle = news.cycles.begin();
  for (const KernelRecord& kernel : news.kernels) {
    for (; cycle != news.cycles.end() && cycle->end < kernel.begin; ++cycle) ended(*cycle);
    devices_.insert(kernel.device_uuid);
    if (kernel.layer != 0) trains_ = kernel.pid;
    clock_.add(kernel);
  }
  for (; cycle != news.cycles.end(); ++cycle) ended(*cycle);
}

void PlanRunner::mark(const Mark& mark) {
  if (mark.kind == RUBATO_MARK_MODEL) model_ = mark;
  if (mark.kind == RUBATO_MARK_NAME) name(mark);
}

void PlanRunner::name(const Mark& mark) {
  std::array<char, sizeof mark.detail> text{};
  std::memcpy(text.data(), mark.detail.data(), text.size());
  std::string& name = names_[mark.id];
  if (mark.flags >> 16 == 0) name.clear();  // told again, by another thread
  name += std::string_view(text.data(), strnlen(text.data(), text.size()));
  const std::string plain = lower(name);
  for (const std::string_view sign : kCollectives)
    if (!collective_ && plain.find(sign) != std::string::npos) collective_ = name;
  if (names_.size() > kMostNames) names_.clear();
}

std::optional<TrainedModel> PlanRunner::trained() const {
  if (!model_) return std::nullopt;
  const auto& [parameters, batch, precision, none] = model_->detail;
  TrainedModel out;
  if (const auto name = names_.find(model_->id); model_->id != 0 && name != names_.end())
    out.name = name->second;
  if (parameters > 0) out.parameters = static_cast<double>(parameters);
  if (std::in_range<unsigned>(batch) && batch > 0) out.batch = static_cast<unsigned>(batch);
  if (precision >= RUBATO_PRECISION_FP32 && precision <= RUBATO_PRECISION_BF16)
    out.precision = kPrecisions[precision - RUBATO_PRECISION_FP32];
  return out;
}

Result<govern::PhaseReading> PlanRunner::reading(TimePoint now) const {
  if (collective_)
    return fail(ErrorCode::unavailable,
                cat("the job runs a collective (", *collective_,
                    "): other GPUs wait for this one, and a plan for one does not know"));
  if (devices_.size() > 1)
    return fail(ErrorCode::unavailable,
                cat("the job runs on ", devices_.size(), " GPUs, and a plan is for one"));
  if (const auto job = trained())
    if (std::string why = govern::another_job(plan_, *job); !why.empty())
      return fail(ErrorCode::conflict, std::move(why));
  auto reading = clock_.at(now, running_);
  if (!reading) return reading;
  const Seconds expected = running_ ? plan_.planned.time : plan_.at_single.time;
  const double ratio = reading->period / expected;
  const double most = plan_.kind == Kind::measured ? kUnlikeMeasured : kUnlikeModelled;
  if (ratio > most || ratio < 1 / most)
    return fail(ErrorCode::conflict,
                cat("an iteration takes ", number(reading->period.value() * 1e3, 1), " ms, and ",
                    number(expected.value() * 1e3, 1), " ms in the plan: another model, batch or input than ",
                    plan_.network, " at batch ", plan_.batch));
  if (const Status fine = can_be_sent(plan_, *reading, limits_); !fine) return fail(fine.error());
  return reading;
}

govern::PlanNow PlanRunner::now(TimePoint now) const {
  const auto seen = reading(now);
  if (seen) return {true, {}};
  return {false, seen.error().what, seen.error().code == ErrorCode::conflict};
}

void PlanRunner::start(TimePoint now) {
  if (running_) return;
  running_ = true;
  next_ = now;
  clock_.pace_changed(plan_.planned.time / plan_.at_single.time);
}

void PlanRunner::stop() {
  if (!running_) return;
  running_ = false;
  switcher_->stop();
  clock_.pace_changed(plan_.at_single.time / plan_.planned.time);
}

bool PlanRunner::step(TimePoint now) {
  if (!running_) return true;
  if (now >= next_) {
    next_ = now + kPeriod;
    const auto seen = reading(now);
    if (!seen) {
      switcher_->plan({});
      return false;
    }
    switcher_->plan(switch_times(plan_, *seen, now, kHorizon));
  }
  switcher_->step(now);
  return true;
}

std::optional<TimePoint> PlanRunner::next_due() const {
  if (!running_) return std::nullopt;
  return std::min(next_, switcher_->next_due().value_or(next_));
}

std::string PlanRunner::in_words() const {
  const SwitcherState state = switcher_->state();
  std::string out = cat(state.counts.sent, " changes of clocks asked for");
  if (state.counts.sent > 0 && state.inside > Seconds(0))
    out += cat(" (", number((state.inside / static_cast<double>(state.counts.sent)).value() * 1e3, 2),
               " ms each)");
  if (state.counts.late > 0) out += cat(", ", state.counts.late, " dropped as too late");
  if (state.counts.limited > 0) out += cat(", ", state.counts.limited, " dropped as too many");
  out += cat("; ", clock_.measured(), " of ", plan_.phases.size() - 1,
             " boundaries inside the iteration timed by kernel records; ", recognised());
  return out;
}

std::string PlanRunner::recognised() const {
  const auto job = trained();
  const std::string told = job ? govern::in_words(*job) : std::string();
  if (told.empty())
    return "the job did not tell its model or batch: only the length of its iteration was compared";
  if (!govern::another_job(plan_, *job).empty()) return cat("the job told ", told);
  return cat("the job told ", told, ", and nothing of it speaks against the plan");
}

}  // namespace rubato::conduct
