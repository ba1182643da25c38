#include "exporter/exporter.h"

#include <algorithm>
#include <utility>

namespace rubato::exporter {
namespace {

constexpr Seconds kLookPeriod{10.0};
constexpr Seconds kSamePage{0.2};
// A GPU that has not answered by then does not hold up the first page.
constexpr Seconds kFirstChance{2.0};

}  // namespace

Exporter::Exporter(ExporterOptions options, const std::vector<WatchedGpu>& gpus, TimePoint begin)
    : options_(std::move(options)),
      gpus_(gpus, begin),
      jobs_(options_.jobs, options_.root),
      guards_(gpus.size(), SettingGuard::unknown),
      begin_(begin),
      look_due_(begin),
      stepped_(begin) {
  publish();
}

TimePoint Exporter::next_due() const {
  return std::min(gpus_.next_due(), look_due_);
}

void Exporter::step(TimePoint now, double unix_s) {
  stepped_ = now;
  gpus_.step(now);
  if (now >= look_due_) {
    look_due_ = now + kLookPeriod;
    jobs_.step(now, unix_s, gpus_);
    const auto states = gpus_.states();
    for (std::size_t i = 0; i < states.size(); ++i)
      guards_[i] = setting_guard_of(states[i].identity.id, options_.journals, options_.root);
  }
  publish();
}

bool Exporter::complete() const {
  const auto states = gpus_.states();
  return stepped_ - begin_ >= kFirstChance ||
         std::ranges::all_of(states, [](const GpuState& s) { return s.energy && s.slow; });
}

void Exporter::publish() {
  auto state = std::make_shared<PageState>();
  state->version = options_.version;
  state->backend = options_.backend;
  state->driver_version = options_.driver_version;
  state->gpus = gpus_.states();
  state->guards = guards_;
  state->jobs = jobs_.jobs();
  state->jobs_left_out = jobs_.left_out();
  state->jobs_unreadable = jobs_.unreadable();
  if (options_.request_times) state->requests = options_.request_times();
  state->driver = gpus_.cost();
  const std::lock_guard lock(mutex_);
  state_ = std::move(state);
}

std::shared_ptr<const PageState> Exporter::state() {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::vector<Result<std::vector<ComputeProcess>>> Exporter::processes() {
  std::vector<Result<std::vector<ComputeProcess>>> out;
  for (std::size_t gpu = 0; gpu < guards_.size(); ++gpu) out.push_back(gpus_.processes(gpu));
  return out;
}

std::shared_ptr<const std::string> Exporter::page(report::MetricsFormat format, TimePoint now,
                                                  const OwnCost& own) {
  const std::lock_guard lock(mutex_);
  Made& made = made_[format == report::MetricsFormat::open_metrics ? 1 : 0];
  if (!made.text || made.of != state_ || now - made.at >= kSamePage) {
    const auto families = page_of(*state_, own, now);
    made = {std::make_shared<const std::string>(report::render_metrics(families, format)), state_, now};
  }
  return made.text;
}

}  // namespace rubato::exporter
