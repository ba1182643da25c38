#include "simgpu/trainer/train.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>

#include "base/text.h"
#include "simgpu/trainer/kernel_writer.h"
#include "simgpu/trainer/mark_writer.h"
#include "simgpu/trainer/stage.h"

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
  sigset_t set_{};
  sigset_t before_{};
};

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

// A training goes on without its kernels; why is said in a mark, as an injected library does.
std::optional<KernelWriter> kernel_writer(const Stage& stage, std::optional<MarkWriter>& marks) {
  if (!marks) return std::nullopt;
  Result<std::optional<KernelWriter>> writer = KernelWriter::from_environment(stage.gpu_uuid);
  if (writer) return std::move(*writer);
  const std::string sentence = cat("kernels are not recorded: ", writer.error().what);
  const TimePoint now = stage.clock->now();
  marks->write_name(now, hash_of_name(sentence), sentence);
  marks->write(now, RUBATO_MARK_PROBLEM, hash_of_name(sentence));
  return std::nullopt;
}

}  // namespace

Result<int> train(const TrainOptions& options) {
  const Result<Stage> stage = stage_for(options);
  if (!stage) return fail(stage.error());
  Result<std::optional<MarkWriter>> writer = MarkWriter::from_environment();
  if (!writer) return fail(writer.error());
  std::optional<KernelWriter> kernels = kernel_writer(*stage, *writer);

  int signal = 0;
  {
    const EndSignals signals;
    const TimePoint begin = stage->clock->now();
    TimePoint last = begin;
    if (*writer && stage->model) (*writer)->write_model(begin, *stage->model);
    const auto on_mark = [&](const Mark& mark) {
      last = mark.at;
      if (*writer) (*writer)->write(mark.at, static_cast<rubato_mark_kind>(mark.kind), mark.id);
    };
    const Result<std::unique_ptr<VirtualTrainer>> trainer = stage->start(::getpid(), begin, on_mark);
    if (!trainer) return fail(trainer.error());
    if (kernels) (*trainer)->watch_gpu([&](const GpuIteration& i) { kernels->write(i, **writer); });
    ProgressLine line(stage->workload, options.iterations);
    while (!(*trainer)->finished() && signal == 0) {
      const TimePoint now = stage->clock->now();
      if (const TimePoint due = *(*trainer)->next_due(); due > now) {
        signal = signals.sleep(stage->clock->wall(due - now));
      }
      if (Status s = (*trainer)->step(stage->clock->now()); !s) return fail(s.error());
      line.show((*trainer)->completed(), last - begin);
    }
    if (kernels) kernels->finish();
  }
  if (signal == 0) return 0;
  // The context is gone; die as if the signal had not been held up.
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  return 128 + signal;
}

}  // namespace rubato::sim_trainer
