#include "lab/suites/settled_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace rubato::lab {
namespace {

using device::sim::Profile;
using device::sim::SimWorld;

constexpr unsigned kGpu = 0;

void done(const Status& status) {
  ASSERT_TRUE(status) << status.error().what;
}

std::unique_ptr<SimWorld> world_of(const Profile& board) {
  const std::string name = board.name;
  std::unique_ptr<SimWorld> best;
  double nearest = 1;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    device::sim::Scenario scenario;
    scenario.seed = seed;
    auto world = SimWorld::create_private({&name, 1}, scenario).value();
    const double away = std::abs(world->truth(kGpu, {}).value().sensor_gain - board.sensor_gain);
    if (away >= nearest) continue;
    nearest = away;
    best = std::move(world);
  }
  return best;
}

}  // namespace

Settled settle(const Profile& board, std::span<const device::sim::Segment> iteration,
               const Setting& setting) {
  const auto world = world_of(board);
  TimePoint now{};
  if (setting.power_limit) done(world->set_power_limit(kGpu, *setting.power_limit, now));
  if (setting.sm_clock) done(world->lock_sm_clock(kGpu, *setting.sm_clock, now));
  if (setting.memory_clock) done(world->lock_memory_clock(kGpu, *setting.memory_clock, now));
  const auto context = world->add_context(kGpu, 1, 1U << 30U, iteration, now).value();
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;
  const auto until = [&](std::uint64_t iterations) {
    while (completed < iterations) {
      while (submitted < completed + device::sim::kMostQueued) {
        done(world->submit(kGpu, context, 1.0, now));
        ++submitted;
      }
      now = world->completion(kGpu, context, completed, now).value();
      completed = std::max(completed + 1, world->progress(kGpu, context, now).value().completed);
    }
  };
  double nominal = 0;
  for (const device::sim::Segment& s : iteration)
    nominal += std::max(s.compute_s / board.compute_rate, s.memory_s / board.memory_rate) + s.fixed_s;
  const auto warm = static_cast<std::uint64_t>(8 * board.thermal_time.value() / nominal);
  const auto measured = static_cast<std::uint64_t>(60 / nominal);
  until(warm);
  const TimePoint begin = now;
  const Joules before = world->truth(kGpu, now).value().energy;
  until(completed + measured);
  const Seconds span = now - begin;
  return {span / static_cast<double>(measured), (world->truth(kGpu, now).value().energy - before) / span};
}

}  // namespace rubato::lab
