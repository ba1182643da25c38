#include "simgpu/trainer/train.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "base/text.h"
#include "simgpu/trainer/mark_writer.h"

namespace rubato::sim_trainer {
namespace {

// Longest sleep, on the wall: somebody may raise the clocks, and then the iteration ends before it was
// expected to.
constexpr Seconds kLongestSleep{0.25};

/// While it lives, the signals that end a program wait and are fetched by sleep_until().
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&set_);
    for (const int s : {SIGTERM, SIGINT, SIGHUP}) {
      struct sigaction action {};
      // One that was ignored from the start (nohup, a background job) stays ignored.
      if (::sigaction(s, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&set_, s);
    }
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~EndSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  /// Sleeps on the wall; the signal that came meanwhile, or 0.
  [[nodiscard]] int sleep(Seconds wall) const {
    const double seconds = std::clamp(wall.value(), 0.0, kLongestSleep.value());
    const timespec ts{0, static_cast<long>(seconds * 1e9)};
    const int got = ::sigtimedwait(&set_, nullptr, &ts);
    return got > 0 ? got : 0;
  }

 private:
  sigset_t set_;
  sigset_t before_;
};

Result<std::unique_ptr<device::sim::SimWorld>> open_world() {
  const std::optional<std::filesystem::path> path = device::sim::world_path_from_environment();
  if (!path)
    return fail(ErrorCode::unavailable,
                "RUBATO_SIM_WORLD is not set, so there is no simulated GPU to train on",
                "run it under rubato: rubato run --gpu sim:v100 -- rubato sim train resnet50");
  return device::sim::SimWorld::open(*path);
}

Result<unsigned> choose_gpu(const device::sim::SimWorld& world, const TrainOptions& options) {
  const char* list = std::getenv("RUBATO_SIM_GPUS");
  if (list == nullptr || *list == '\0') return static_cast<unsigned>(options.gpu);
  const std::vector<std::string> uuids = split(list, ',');
  if (options.gpu < 0 || static_cast<std::size_t>(options.gpu) >= uuids.size())
    return fail(ErrorCode::not_found,
                cat("RUBATO_SIM_GPUS names ", uuids.size(), " GPUs, and none of index ", options.gpu));
  const std::string& uuid = uuids[static_cast<std::size_t>(options.gpu)];
  if (const std::optional<unsigned> index = world.find(uuid)) return *index;
  return fail(ErrorCode::not_found, cat("the simulated world ", world.path().string(), " has no GPU ", uuid));
}

/// A line for every tenth of the way.
class ProgressLine {
 public:
  ProgressLine(std::string_view workload, int iterations) : workload_(workload), iterations_(iterations) {}

  void show(std::uint64_t completed, Seconds elapsed) {
    const auto tenth = static_cast<int>(completed * 10 / static_cast<std::uint64_t>(iterations_));
    if (tenth <= shown_ || completed == 0) return;
    shown_ = tenth;
    std::printf("%s: iteration %llu/%d, %.4f s/iteration\n", workload_.c_str(),
                static_cast<unsigned long long>(completed), iterations_,
                elapsed.value() / static_cast<double>(completed));
    std::fflush(stdout);
  }

 private:
  std::string workload_;
  int iterations_;
  int shown_ = 0;
};

}  // namespace

Result<int> train(const TrainOptions& options) {
  const Result<std::unique_ptr<device::sim::SimWorld>> opened = open_world();
  if (!opened) return fail(opened.error());
  device::sim::SimWorld& world = **opened;
  TrainOptions chosen = options;
  const Result<unsigned> gpu = choose_gpu(world, options);
  if (!gpu) return fail(gpu.error());
  chosen.gpu = static_cast<int>(*gpu);
  Result<std::optional<MarkWriter>> writer = MarkWriter::from_environment();
  if (!writer) return fail(writer.error());

  const auto clock = world.clock();
  int signal = 0;
  {
    const EndSignals signals;
    const TimePoint begin = clock->now();
    TimePoint last = begin;
    const auto on_mark = [&](const Mark& mark) {
      last = mark.at;
      if (*writer) (*writer)->write(mark.at, static_cast<rubato_mark_kind>(mark.kind), mark.id);
    };
    const Result<std::unique_ptr<VirtualTrainer>> trainer =
        VirtualTrainer::start(world, chosen, ::getpid(), begin, on_mark);
    if (!trainer) return fail(trainer.error());
    ProgressLine line(options.workload, options.iterations);
    while (!(*trainer)->finished() && signal == 0) {
      const TimePoint now = clock->now();
      if (const TimePoint due = *(*trainer)->next_due(); due > now) {
        signal = signals.sleep(clock->wall(due - now));
      }
      if (Status s = (*trainer)->step(clock->now()); !s) return fail(s.error());
      line.show((*trainer)->completed(), last - begin);
    }
  }
  if (signal == 0) return 0;
  // The context is gone; die as if the signal had not been held up.
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  return 128 + signal;
}

}  // namespace rubato::sim_trainer
