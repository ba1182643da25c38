#include "lab/suites/steady_state.h"

#include <algorithm>
#include <cmath>

#include "device/sim/physics.h"
#include "device/sim/progress.h"

namespace rubato::lab {
namespace {

template <class Row>
double mixed(const std::vector<Row>& rows, std::size_t low, double share, double Row::*member) {
  if (share == 0) return rows[low].*member;
  return (1 - share) * rows[low].*member + share * rows[low + 1].*member;
}

}  // namespace

struct SteadyState::Board {
  device::sim::GpuState gpu;
};

SteadyState::SteadyState(const device::sim::Profile& board, std::span<const device::sim::Segment> iteration)
    : board_(board),
      iteration_(iteration.begin(), iteration.end()),
      state_(std::make_unique<Board>()),
      rows_(board.memory_clocks.size()) {
  start_gpu(state_->gpu, board_, {.now = {}, .ambient = board_.ambient, .temperature = board_.ambient});
  device::sim::ContextState& context = state_->gpu.contexts[0];
  context.id = 1;
  context.submitted = 1;
  context.segment_count = 1;
  context.scale[0] = 1.0;
}

SteadyState::~SteadyState() = default;

SteadyState::Row SteadyState::row(std::size_t sm_index, std::size_t memory_index) {
  device::sim::GpuState& gpu = state_->gpu;
  gpu.sm_index = static_cast<std::uint32_t>(sm_index);
  gpu.memory_index = static_cast<std::uint32_t>(memory_index);
  const double sm = board_.sm_clocks[sm_index].value();
  const double memory = board_.memory_clocks[memory_index].value();
  constexpr double kWarmer = 10.0;  // C: power is a straight line in temperature
  Row out;
  double cold = 0;
  double warm = 0;
  for (const device::sim::Segment& segment : iteration_) {
    gpu.contexts[0].segments[0] = segment;
    const double seconds = device::sim::run_of(segment, board_, sm, memory).seconds;
    gpu.temperature_c = board_.ambient.value();
    const device::sim::Activity now = activity(gpu, board_);
    gpu.temperature_c = board_.ambient.value() + kWarmer;
    out.seconds += seconds;
    cold += seconds * now.power.value();
    warm += seconds * activity(gpu, board_).power.value();
    out.sm_busy += seconds * now.sm_busy;
    out.memory_busy += seconds * now.memory_busy;
  }
  out.sm_busy /= out.seconds;
  out.memory_busy /= out.seconds;
  // P = cold + slope (T - ambient) and T = ambient + resistance P.
  const double slope = (warm - cold) / out.seconds / kWarmer;
  out.watts = cold / out.seconds / (1 - slope * board_.thermal_c_per_w);
  out.celsius = board_.ambient.value() + board_.thermal_c_per_w * out.watts;
  return out;
}

const std::vector<SteadyState::Row>& SteadyState::rows_at(std::size_t memory_index) {
  std::vector<Row>& rows = rows_[memory_index];
  if (rows.empty())
    for (std::size_t i = 0; i <= board_.sm_top_at[memory_index]; ++i) rows.push_back(row(i, memory_index));
  return rows;
}

// Unlocked, a board gives up clock as it gets warm: it settles where the clock it may have at its temperature
// is the clock that makes this temperature, or hops between the two clocks around it.
SteadyState::Held SteadyState::allowed(const std::vector<Row>& rows, std::optional<Megahertz> lock) {
  device::sim::GpuState& gpu = state_->gpu;
  const auto highest_at = [&](double celsius) {
    gpu.temperature_c = celsius;
    return static_cast<std::size_t>(highest_allowed(gpu, board_));
  };
  gpu.in_force = {};
  if (lock && *lock < board_.boost.highest) {
    const auto at = std::upper_bound(board_.sm_clocks.begin(), board_.sm_clocks.end(), *lock);
    gpu.in_force.has_sm_lock = 1;
    gpu.in_force.sm_high =
        static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(1, at - board_.sm_clocks.begin()) - 1);
    return {highest_at(board_.ambient.value()), 0};
  }
  std::size_t low = highest_at(board_.ambient.value());
  while (low > 0 && highest_at(rows[low].celsius) < low) --low;
  if (low + 1 == rows.size() || highest_at(rows[low].celsius) == low) return {low, 0};
  double cool = rows[low].celsius;
  double hot = rows[low + 1].celsius;
  const double span = hot - cool;
  for (int i = 0; i < 40; ++i) {
    const double middle = (cool + hot) / 2;
    (highest_at(middle) > low ? cool : hot) = middle;
  }
  return {low, (cool - rows[low].celsius) / span};
}

// The limiter holds what its own sensor shows between the limit and a dead band below it.
SteadyState::Held SteadyState::under_limit(const std::vector<Row>& rows, Held allowed, Watts limit) const {
  const auto shown = [&](double watts) { return board_.sensor_gain * watts + board_.sensor_offset.value(); };
  if (shown(mixed(rows, allowed.low, allowed.share, &Row::watts)) <= limit.value()) return allowed;
  const double held = limit.value() * (1 - board_.limiter_dead_band / 2);
  const auto lowest = static_cast<std::size_t>(
      std::lower_bound(board_.sm_clocks.begin(), board_.sm_clocks.end(), board_.sm_lowest_reached) -
      board_.sm_clocks.begin());
  std::size_t low = std::min(allowed.low, rows.size() - 1);
  while (low > lowest && shown(rows[low].watts) > held) --low;
  if (low == allowed.low && allowed.share == 0) return allowed;
  const double below = shown(rows[low].watts);
  if (below > held) return {low, 0};  // limits can be broken: no lower clock is reached
  const double above = shown(rows[low + 1].watts);
  return {low, above > below ? std::min(1.0, (held - below) / (above - below)) : 0.0};
}

SteadyPoint SteadyState::at(const predict::KnobPoint& setting) {
  const Megahertz memory = setting.memory_clock.value_or(board_.memory_compute);
  const auto memory_index = static_cast<std::size_t>(
      std::lower_bound(board_.memory_clocks.begin(), board_.memory_clocks.end(), memory) -
      board_.memory_clocks.begin());
  const std::vector<Row>& rows = rows_at(memory_index);
  state_->gpu.memory_index = static_cast<std::uint32_t>(memory_index);
  const Held held =
      under_limit(rows, allowed(rows, setting.sm_clock), setting.power_limit.value_or(board_.limit_default));
  // Shares are of time, and so are power and business; iterations come at the mean of the two rates.
  const Row& low = rows[held.low];
  const Row& high = rows[std::min(held.low + 1, rows.size() - 1)];
  const double rate = (1 - held.share) / low.seconds + held.share / high.seconds;
  const double step = board_.sm_clocks[std::min(held.low + 1, board_.sm_clocks.size() - 1)].value() -
                      board_.sm_clocks[held.low].value();
  return {Seconds(1 / rate), Watts(mixed(rows, held.low, held.share, &Row::watts)),
          Megahertz(board_.sm_clocks[held.low].value() + held.share * step),
          mixed(rows, held.low, held.share, &Row::sm_busy),
          mixed(rows, held.low, held.share, &Row::memory_busy)};
}

}  // namespace rubato::lab
