#include "experiment/sweep_schedule.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/random.h"
#include "base/text.h"

namespace rubato::experiment {
namespace {

constexpr std::array<std::pair<SweepOrder, std::string_view>, 3> kOrders = {
    {{SweepOrder::random, "random"},
     {SweepOrder::interleaved, "interleaved"},
     {SweepOrder::ascending, "ascending"}}};

void shuffle(std::vector<std::size_t>& points, Random& random) {
  for (std::size_t left = points.size(); left > 1; --left)
    std::swap(points[left - 1], points[random.index(left)]);
}

std::vector<SweepStep> settings_in_order(std::size_t points, const ScheduleOptions& options) {
  std::vector<SweepStep> steps;
  if (options.order == SweepOrder::ascending) {
    for (std::size_t point = 0; point < points; ++point)
      for (unsigned repeat = 0; repeat < options.repeats; ++repeat) steps.push_back({point, repeat});
    return steps;
  }
  Random random(options.seed);
  std::vector<std::size_t> round(points);
  std::iota(round.begin(), round.end(), std::size_t{0});
  for (unsigned repeat = 0; repeat < options.repeats; ++repeat) {
    if (options.order == SweepOrder::random) shuffle(round, random);
    for (const std::size_t point : round) steps.push_back({point, repeat});
    if (options.order == SweepOrder::interleaved) std::reverse(round.begin(), round.end());
  }
  return steps;
}

}  // namespace

std::string_view name_of(SweepOrder order) {
  for (const auto& [known, name] : kOrders)
    if (known == order) return name;
  return {};
}

Result<SweepOrder> parse_sweep_order(std::string_view name) {
  for (const auto& [order, known] : kOrders)
    if (known == name) return order;
  return fail(ErrorCode::invalid_argument,
              cat("--order ", name, ": the orders are random, interleaved and ascending"));
}

std::vector<SweepStep> sweep_schedule(std::size_t points, const ScheduleOptions& options) {
  const auto settings = settings_in_order(points, options);
  // Three stretches between four controls tell a drift from scatter; a long sweep has more.
  const auto every = std::clamp<std::size_t>(settings.size() / 3, 1, std::max(1U, options.control_every));
  std::vector<SweepStep> steps;
  unsigned controls = 0;
  std::size_t since = 0;
  steps.push_back({std::nullopt, controls++});
  for (const SweepStep& step : settings) {
    if (since == every) {
      steps.push_back({std::nullopt, controls++});
      since = 0;
    }
    steps.push_back(step);
    ++since;
  }
  steps.push_back({std::nullopt, controls});
  return steps;
}

}  // namespace rubato::experiment
