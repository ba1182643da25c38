// Writes the record of a long training, as rubato would have: FOLDER [HOURS [GPUS [RATE_HZ [SEED]]]].
//
// Nothing runs for that long and no simulated GPU is asked: the figures are drawn from a seed, with the shape
// of a training (dips between iterations, slow warming, a search, control blocks, a stall), so that a page
// has as many samples and as much noise in them as a real one. What they come to means nothing.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "base/random.h"
#include "base/text.h"
#include "record/writer.h"

namespace rubato {
namespace {

constexpr TimePoint kBegin{1'000'000'000'000};
constexpr double kIteration = 0.43;  // s, at the found setting

struct Plan {
  double hours = 24;
  int gpus = 8;
  double rate = 10;
  std::uint64_t seed = 1;
  [[nodiscard]] double length() const { return hours * 3600; }
  [[nodiscard]] bool stalled(double t) const {
    return t > 0.4 * length() && t < 0.4 * length() + std::min(120.0, 0.01 * length());
  }
};

struct Phase {
  BlockRole role = BlockRole::hold;
  Setting setting;
  double watts = 0;   // at full work
  double slower = 1;  // iteration time over the found setting's
  double megahertz = 0;
  bool operator==(const Phase&) const = default;
};

Phase phase_at(double t) {
  const Phase found{BlockRole::baseline, {}, 640, 1, 1890};
  if (t < 120) return {BlockRole::warmup, {}, 640, 1, 1890};
  if (t < 600) return found;
  if (t < 1500) {
    const double step = std::floor((t - 600) / 180);
    const double limit = 420 + 45 * step;
    return {BlockRole::trial, Setting{.power_limit = Watts(limit)}, limit - 8,
            1 + 0.16 * std::pow((650 - limit) / 230, 2), 1300 + 110 * step};
  }
  if (std::fmod(t, 3600) < 36) return {BlockRole::control, {}, 640, 1, 1890};
  return {BlockRole::hold, Setting{.power_limit = Watts(510)}, 503, 1.047, 1560};
}

/// Wrong at first, and never sure: by a band that becomes narrower with each try.
Expectation expected(double t) {
  const double known = std::clamp((t - 600) / 900, 0.0, 1.0);
  const auto about = [&](double value, double off) {
    const double believed = value * (1 + 0.05 * off * (1 - known));
    const double half = std::abs(value - 1) * (0.3 - 0.25 * known);
    return ExpectedRatio{believed, believed - half, believed + half};
  };
  Expectation out;
  for (int watts = 705; watts >= 300; watts -= 15) {
    const double limit = watts;
    const bool found = watts > 700;
    const double slower = 1 + 0.16 * std::pow(std::max(0.0, 650 - limit) / 230, 2);
    const double energy = std::min(640.0, limit - 8) / 640 * slower;
    const ExpectedRatio exact{1, 1, 1};
    out.settings.push_back({.setting = found ? Setting{} : Setting{.power_limit = Watts(limit)},
                            .time = found ? exact : about(slower, 0.3),
                            .energy = found ? exact : about(energy, 1),
                            .holds = slower < 1.05 ? 0.97 : 0.03,
                            .measured = found});
  }
  return out;
}

GpuId gpu_id(int gpu) {
  return {cat("GPU-made-", gpu)};
}

Source counter() {
  return {"nvml_energy_counter", "J", Scope::gpu, Kind::modelled, "made up: bench/report_page"};
}

/// One GPU of the job: its readings in order of time, and the energy they tell of.
class MadeGpu {
 public:
  MadeGpu(int index, std::uint64_t seed)
      : index_(index), random_(Random(seed).fork(17 + static_cast<std::uint64_t>(index))) {}

  void read(record::Writer& writer, const Plan& plan, const Phase& phase, double t, double step) {
    const bool dip = std::fmod(t / (kIteration * phase.slower), 1) > 0.86;
    const double load = plan.stalled(t) ? 0.16 : dip ? 0.55 : 1;
    const double watts = std::max(60.0, phase.watts * load + 4.0 * index_ + 7 * random_.normal());
    joules_ += watts * step;
    celsius_ += (0.075 * watts + 21 - celsius_) * step / 90;
    // The scheduler is never quite on time.
    const TimePoint at = kBegin + Seconds(t + 0.0008 * std::abs(random_.normal()));
    FastReading fast{.at = at};
    fast.power = Watts(std::round(watts * 1000) / 1000);
    fast.energy_counter = Joules(std::round(joules_ * 1000) / 1000);
    writer.sample(gpu_id(index_), fast);
    if (t < next_slow_) return;
    next_slow_ += 1;
    SlowReading slow{.at = at};
    slow.sm_clock = Megahertz(phase.megahertz - 15 * std::floor(2 * random_.uniform()));
    slow.memory_clock = Megahertz(2619);
    slow.sm_utilisation = plan.stalled(t) ? 0.02 : 0.97;
    slow.temperature = Celsius(std::round(celsius_));
    slow.requested_limit = slow.enforced_limit = phase.setting.power_limit.value_or(Watts(700));
    writer.sample(gpu_id(index_), slow);
  }
  [[nodiscard]] Joules energy() const { return Joules(joules_); }

 private:
  int index_;
  Random random_;
  double joules_ = 0;
  double celsius_ = 31;
  double next_slow_ = 0;
};

class LongRun {
 public:
  LongRun(const Plan& plan, record::Writer& writer) : plan_(plan), writer_(writer) {
    for (int i = 0; i < plan.gpus; ++i) {
      gpus_.emplace_back(i, plan.seed);
      writer.device({.identity = {gpu_id(i), "NVIDIA H100 80GB HBM3", static_cast<unsigned>(i),
                                  cat("00000000:", i, "A:00.0")},
                     .kind = Kind::modelled,
                     .backend = "made",
                     .driver_version = "550.54.15",
                     .sensor = {.update_period = Seconds(0.1), .calibration_band = 0.05, .source = "made"},
                     .found = PowerLimits{200_W, 700_W, 700_W, 700_W, 700_W}});
    }
  }

  Status write() {
    const double step = 1 / plan_.rate;
    const auto ticks = static_cast<std::int64_t>(plan_.length() * plan_.rate);
    writer_.goal({kBegin, "rubato", {.max_slowdown = 0.05}});
    writer_.decision({kBegin, "strategy", {}, "rubato chooses among a power limit of 200 to 700 W"});
    for (std::int64_t i = 0; i < ticks; ++i) {
      const double t = static_cast<double>(i) * step;
      const Phase phase = phase_at(t);
      if (i == 0 || !(phase == phase_)) begin(phase, t);
      iterate(t);
      for (MadeGpu& gpu : gpus_) gpu.read(writer_, plan_, phase_, t, step);
      if (const Status stepped = writer_.step(kBegin + Seconds(t)); !stepped) return stepped;
    }
    close(plan_.length());
    return {};
  }

  [[nodiscard]] record::RunEnd end() const {
    record::RunEnd end{.end = kBegin + Seconds(plan_.length()), .exit_code = 0};
    for (int i = 0; i < plan_.gpus; ++i)
      end.devices.push_back({.gpu = gpu_id(i),
                             .energy = window(0, plan_.length(), gpus_[static_cast<std::size_t>(i)].energy()),
                             .found = Setting{.power_limit = 700_W},
                             .requested = Setting{.power_limit = 510_W},
                             .restoration = Restoration::restored,
                             .restoration_detail = "700 W is in force again"});
    end.cost = {{1'000'000, 90_s}, 60_s, 400'000'000, 864'000};
    return end;
  }

 private:
  static EnergyWindow window(double from, double to, Joules energy) {
    return {kBegin + Seconds(from), kBegin + Seconds(to), energy, 20_J, energy * 0.05, counter()};
  }

  void begin(const Phase& phase, double t) {
    close(t);
    phase_ = phase;
    began_ = t;
    const std::string why = cat("made up: the stretch that begins at ", number(t, 0), " s");
    writer_.decision({kBegin + Seconds(t), std::string(name_of(phase.role)), phase.setting, why});
    if (phase.role != BlockRole::warmup) writer_.expectation({kBegin + Seconds(t), expected(t)});
    before_.clear();
    for (const MadeGpu& gpu : gpus_) before_.push_back(gpu.energy());
    iterations_ = 0;
  }

  void close(double t) {
    if (t <= began_) return;
    for (std::size_t i = 0; i < gpus_.size(); ++i)
      writer_.block({phase_.role, gpu_id(static_cast<int>(i)), phase_.setting, kBegin + Seconds(began_),
                     kBegin + Seconds(t), iterations_, window(began_, t, gpus_[i].energy() - before_[i])});
  }

  void iterate(double t) {
    const double each = kIteration * phase_.slower * (1 + 0.004 * random_.normal());
    if (plan_.stalled(t) || t < 20) {
      iteration_begin_ = t;
      return;
    }
    if (iteration_begin_ + each > t) return;
    writer_.iteration(
        {count_++, kBegin + Seconds(iteration_begin_), kBegin + Seconds(iteration_begin_ + each)});
    ++iterations_;
    iteration_begin_ += each;
  }

  Plan plan_;
  record::Writer& writer_;
  Random random_{plan_.seed};
  std::vector<MadeGpu> gpus_;
  std::vector<Joules> before_;
  Phase phase_;
  double began_ = 0;
  double iteration_begin_ = 0;
  std::int64_t iterations_ = 0;
  std::int64_t count_ = 0;
};

int make(const std::string& folder, const Plan& plan) {
  const record::RunInfo info{.run_id = "20261122-000000-made",
                             .mode = "run",
                             .command = {"python3", "train.py", "--epochs", "90"},
                             .working_directory = "/home/ada",
                             .host = "node1",
                             .rubato_version = "0.1.0",
                             .boot_id = "made",
                             .started_at = "2026-11-22T00:00:00Z",
                             .begin = kBegin};
  auto writer = record::Writer::create(folder, info);
  if (!writer) {
    std::fprintf(stderr, "%s\n", writer.error().what.c_str());
    return 1;
  }
  LongRun run(plan, **writer);
  const Status written = run.write();
  const auto file = written ? (*writer)->finish(run.end()) : fail(written.error());
  if (!file) {
    std::fprintf(stderr, "%s\n", file.error().what.c_str());
    return 1;
  }
  std::puts(file->c_str());
  return 0;
}

}  // namespace
}  // namespace rubato

int main(int argc, char** argv) {
  rubato::Plan plan;
  std::vector<double> numbers;
  for (int i = 2; i < argc; ++i) numbers.push_back(rubato::parse_number(argv[i]).value_or(-1));
  if (argc < 2 || argc > 6 || std::any_of(numbers.begin(), numbers.end(), [](double n) { return n <= 0; })) {
    std::fprintf(stderr, "usage: %s FOLDER [HOURS [GPUS [RATE_HZ [SEED]]]]\n", argv[0]);
    return 2;
  }
  if (!numbers.empty()) plan.hours = numbers[0];
  if (numbers.size() > 1) plan.gpus = static_cast<int>(numbers[1]);
  if (numbers.size() > 2) plan.rate = numbers[2];
  if (numbers.size() > 3) plan.seed = static_cast<std::uint64_t>(numbers[3]);
  return rubato::make(argv[1], plan);
}
