#include "cli/top/gather.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "cli/top/processes.h"

namespace rubato::cli::top {
namespace {

// What takes several driver calls, and what people do not see change faster.
constexpr Seconds kSlowPeriod{1};
constexpr Seconds kRunsPeriod{0.5};
// Listing processes is one of the slow driver calls.
constexpr Seconds kProcessesPeriod{2};
constexpr Seconds kDaemonPeriod{2};

std::string local_time(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &local)};
}

Seconds seconds_of(const timeval& time) {
  return Seconds(static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec));
}

}  // namespace

Gatherer::Gatherer(Sources sources) : sources_(std::move(sources)) {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) host_ = host.data();
  for (const auto& gpu : sources_.gpus) {
    Lane& lane = lanes_.emplace_back();
    lane.state.identity = gpu->identity();
    lane.state.kind = gpu->kind();
  }
}

void Gatherer::read_gpu(std::size_t index, TimePoint now) {
  device::Gpu& gpu = *sources_.gpus[index];
  Lane& lane = lanes_[index];
  const auto fast = gpu.read_fast();
  lane.state.kind = gpu.kind();
  lane.state.silent = fast ? std::string() : fast.error().what;
  lane.state.power = fast ? fast->power : std::nullopt;
  if (!fast) lane.state.slow = {};
  if (!fast || now < lane.slow_due) return;
  const Seconds period = std::max(kSlowPeriod, sources_.interval);
  // The first time all are read at once; from then on they take turns.
  const double turn = begun_ ? 1.0 : 1.0 + static_cast<double>(index) / static_cast<double>(lanes_.size());
  lane.slow_due = now + period * turn;
  const auto slow = gpu.read_slow();
  lane.state.slow = slow ? *slow : SlowReading{};
}

void Gatherer::read_processes() {
  std::vector<std::vector<ComputeProcess>> by_gpu;
  processes_unknown_.clear();
  for (const auto& gpu : sources_.gpus) {
    auto listed = gpu->compute_processes();
    if (!listed) processes_unknown_ = listed.error().what;
    by_gpu.push_back(listed ? std::move(*listed) : std::vector<ComputeProcess>());
  }
  processes_ = describe_processes(FsRoot{}, by_gpu, runs_);
}

void Gatherer::ask_daemon() {
  const auto status = sources_.daemon();
  for (Lane& lane : lanes_) {
    lane.state.managed.reset();
    if (!status) continue;
    for (const wire::ManagedGpu& told : status->gpus)
      if (told.gpu == lane.state.identity.id)
        lane.state.managed = ManagedNow{status->mode, told.state, told.slurm_job};
  }
}

OwnUse Gatherer::own_use(TimePoint now) const {
  OwnUse out;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  out.wall = now - begin_;
  out.cpu = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  for (const auto& gpu : sources_.gpus) {
    const CallCost cost = gpu->cost();
    out.driver.calls += cost.calls;
    out.driver.inside += cost.inside;
  }
  return out;
}

State Gatherer::read(TimePoint now) {
  if (!begun_) {
    begin_ = runs_due_ = processes_due_ = daemon_due_ = now;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      lanes_[i].slow_due = now;
      if (const auto limits = sources_.gpus[i]->power_limits()) lanes_[i].state.limits = *limits;
    }
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i) read_gpu(i, now);
  if (now >= runs_due_ && !sources_.runtime_folder.empty()) {
    runs_due_ = now + kRunsPeriod;
    runs_.clear();
    for (auto& state : record::living_run_states(sources_.runtime_folder))
      runs_.push_back({std::move(state), {}});
  }
  for (RunNow& run : runs_) run.age = std::max(Seconds(0), now - TimePoint{run.state.written_ns});
  if (now >= processes_due_) {
    processes_due_ = now + kProcessesPeriod;
    read_processes();
  }
  if (now >= daemon_due_ && sources_.daemon) {
    daemon_due_ = now + kDaemonPeriod;
    ask_daemon();
  }
  begun_ = true;
  State out{.time_of_day = local_time("%H:%M:%S"),
            .at = local_time("%Y-%m-%dT%H:%M:%S%z"),
            .host = host_,
            .backend = sources_.backend,
            .clock_rate = sources_.clock_rate,
            .interval = sources_.interval,
            .runs = runs_,
            .processes = processes_,
            .processes_unknown = processes_unknown_,
            .own = own_use(now)};
  for (const Lane& lane : lanes_) out.gpus.push_back(lane.state);
  return out;
}

}  // namespace rubato::cli::top
