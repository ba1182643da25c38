#include "sim_facts/runs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <tuple>

#include "base/random.h"
#include "sim_facts/numbers.h"

namespace rubato::facts {
namespace {

using device::sim::Scenario;
using device::sim::SimWorld;

template <class Value>
Value must(Result<Value> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().what.c_str());
  std::exit(1);
}
void must(const Status& status) {
  if (!status) must(Result<int>(tl::unexpected(status.error())));
}

class Bench {
 public:
  Bench(const std::string& profile, const Program& program, const Knobs& knobs, const Scenario& scenario) {
    world_ = must(SimWorld::create_private(std::vector<std::string>{profile}, scenario, now_));
    if (knobs.limit) must(world_->set_power_limit(0, *knobs.limit, now_));
    if (knobs.sm) must(world_->lock_sm_clock(0, {*knobs.sm, *knobs.sm}, now_));
    if (knobs.memory && world_->profile(0).has_memory_lock)
      must(world_->lock_memory_clock(0, {*knobs.memory, *knobs.memory}, now_));
    context_ = must(world_->add_context(0, 1, 0, program.segments, now_));
  }

  /// To the end of the iteration that runs now; each later one is `scale()` times as long as the program.
  template <class Scale>
  TimePoint iterate(Scale scale) {
    while (submitted_ < completed_ + device::sim::kMostQueued) {
      must(world_->submit(0, context_, scale(), now_));
      ++submitted_;
    }
    now_ = must(world_->completion(0, context_, completed_, now_));
    ++completed_;
    return now_;
  }
  TimePoint iterate() {
    return iterate([] { return 1.0; });
  }
  void run_for(Seconds span) {
    const TimePoint end = now_ + span;
    while (now_ < end) iterate();
  }
  [[nodiscard]] device::sim::Truth truth() const { return must(world_->truth(0, now_)); }
  [[nodiscard]] device::sim::Readout read() const {
    return must(world_->read(device::sim::CallId::read_power, 0, now_));
  }
  [[nodiscard]] TimePoint now() const { return now_; }

 private:
  std::unique_ptr<SimWorld> world_;
  device::sim::ContextId context_;
  TimePoint now_{1'000'000'000};
  std::uint64_t submitted_ = 0;
  std::uint64_t completed_ = 0;
};

struct Window {
  Seconds span;
  Joules energy;
};

Window window(Bench& bench, Seconds at_least) {
  const TimePoint begin = bench.now();
  const Joules before = bench.truth().energy;
  bench.run_for(at_least);
  return {bench.now() - begin, bench.truth().energy - before};
}

Cost measure(const std::string& profile, const Program& program, const Knobs& knobs) {
  const Profile& p = board(profile);
  // Heat takes minutes to settle and the rest seconds: begin where the power of a short run would end.
  double celsius = p.ambient.value() + p.thermal_c_per_w * (knobs.limit ? knobs.limit->value() * 0.8
                                                                        : p.limit_default.value() * 0.7);
  {
    Bench warm(profile, program, knobs, {.temperature = Celsius(celsius)});
    warm.run_for(Seconds(2));
    const Window w = window(warm, Seconds(1));
    celsius = p.ambient.value() + p.thermal_c_per_w * (w.energy / w.span).value();
  }
  Bench bench(profile, program, knobs, {.temperature = Celsius(celsius)});
  bench.run_for(Seconds(3));
  const TimePoint begin = bench.now();
  const Joules before = bench.truth().energy;
  constexpr int kIterations = 20;
  for (int i = 0; i < kIterations; ++i) bench.iterate();
  const double seconds = (bench.now() - begin).value();
  const double joules = (bench.truth().energy - before).value();
  const device::sim::Truth end = bench.truth();
  const double watts = joules / seconds;
  return {.seconds = seconds / kIterations,
          .joules = joules / kIterations,
          .watts = watts,
          .shown_watts = end.sensor_gain * watts + end.sensor_offset.value(),
          .sm_mhz = end.sm_clock.value(),
          .celsius = end.temperature.value()};
}

}  // namespace

Program program(const std::string& workload) {
  const Workload* w = must(device::sim::find_workload(workload));
  return {w->name, w->segments};
}

std::vector<Program> all_programs() {
  std::vector<Program> out;
  for (const auto& summary : device::sim::list_workloads()) out.push_back(program(summary.name));
  std::sort(out.begin(), out.end(), [](const Program& a, const Program& b) { return a.name < b.name; });
  return out;
}

const Profile& board(const std::string& name) {
  return *must(device::sim::find_profile(name));
}

Megahertz nearest(const std::vector<Megahertz>& clocks, double mhz) {
  return *std::min_element(clocks.begin(), clocks.end(), [&](Megahertz a, Megahertz b) {
    return std::abs(a.value() - mhz) < std::abs(b.value() - mhz);
  });
}

Cost steady(const std::string& profile, const Program& program, const Knobs& knobs) {
  using Key = std::tuple<std::string, std::string, double, double, double>;
  static std::map<Key, Cost> known;
  const auto number = [](const auto& knob) { return knob ? knob->value() : -1.0; };
  const Key key{profile, program.name, number(knobs.limit), number(knobs.sm), number(knobs.memory)};
  const auto at = known.find(key);
  if (at != known.end()) return at->second;
  return known[key] = measure(profile, program, knobs);
}

Repeats repeats(const std::string& profile, const Workload& workload, int runs, int iterations) {
  std::vector<double> seconds;
  std::vector<double> joules;
  std::vector<double> sensed;
  for (int run = 0; run < runs; ++run) {
    const auto seed = static_cast<std::uint64_t>(run) + 1;
    Random random(seed);
    Bench bench(profile, {workload.name, workload.segments}, {}, {.seed = 1, .temperature = Celsius(60)});
    const auto jittered = [&] { return std::max(0.5, 1.0 + workload.jitter * random.normal()); };
    for (int i = 0; i < 20; ++i) bench.iterate(jittered);
    const TimePoint begin = bench.now();
    const Joules before = bench.truth().energy;
    const Joules counted = bench.read().energy_counter.value_or(Joules(0));
    for (int i = 0; i < iterations; ++i) bench.iterate(jittered);
    seconds.push_back((bench.now() - begin).value());
    joules.push_back((bench.truth().energy - before).value());
    sensed.push_back((bench.read().energy_counter.value_or(Joules(0)) - counted).value());
  }
  return {spread(seconds), spread(joules), spread(sensed)};
}

}  // namespace rubato::facts
