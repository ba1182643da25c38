#include "govern/reference/gpoeo.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/text.h"

namespace rubato::govern {
namespace {

// 9251 of 9501 MHz still counts as the full memory clock.
constexpr double kFullMemoryClock = 0.97;

std::optional<Gears> memory_gears(const plan::KnobSpace& space, std::size_t axis) {
  const auto memory = axis_of(space, Knob::memory_clock);
  if (!memory || *memory == axis) return std::nullopt;
  return Gears(space, *memory);
}

}  // namespace

Gpoeo::Gpoeo(GpoeoOptions options, plan::KnobSpace space, std::size_t axis, const Aim& aim)
    : options_(std::move(options)),
      space_(std::move(space)),
      gears_(space_, axis),
      memory_(memory_gears(space_, axis)),
      aim_(aim),
      spread_(options_.spread) {}

predict::KnobPoint Gpoeo::point(const Place& place) const {
  predict::KnobPoint out = gears_.point(place.gear);
  if (memory_) out.memory_clock = memory_->point(place.memory).memory_clock;
  return out;
}

Gpoeo::Place Gpoeo::place_of(const TrialResult& result) const {
  if (result.found) return {gears_.found(), memory_ ? memory_->found() : 0};
  return {gears_.of(result.at), memory_ ? memory_->of(result.at) : 0};
}

SearchStep Gpoeo::step(SearchStep::Kind kind, const Place& place, std::string why) const {
  const bool found = place.gear == gears_.found() && (!memory_ || place.memory == memory_->found());
  return {kind, point(place), found, options_.length, std::move(why)};
}

// SM and memory clock apart, each with the other as found.
Gpoeo::Place Gpoeo::predicted(const TrialResult& baseline) const {
  const Place found = place_of(baseline);
  if (!options_.model) return found;
  predict::Known known{
      .gpu = space_.gpu,
      .at_default = {.at = baseline.at, .time = baseline.cost.time, .energy = *baseline.cost.energy},
      .highest = space_.highest,
      .features = features_,
      .probes = {}};
  const Scale scale(aim_, baseline.cost);
  const auto best = [&](const std::vector<Place>& places) -> std::optional<Place> {
    std::vector<predict::KnobPoint> at;
    at.reserve(places.size());
    for (const Place& place : places) at.push_back(point(place));
    const auto prediction = options_.model->predict(known, at);
    if (!prediction) return std::nullopt;
    std::vector<Score> scores;
    for (Eigen::Index i = 0; i < prediction->log_time.size(); ++i)
      scores.push_back(scale.of(baseline.cost.time * std::exp(prediction->log_time(i)),
                                *baseline.cost.energy * std::exp(prediction->log_energy(i))));
    return places[best_of(scores).value_or(places.size() - 1)];
  };
  std::vector<Place> clocks;
  for (std::size_t g = lowest_gear_searched(gears_); g <= gears_.top(); ++g)
    clocks.push_back({g, found.memory});
  const auto clock = best(clocks);
  if (!clock) return found;  // it knows nothing of such a board or job
  Place out = *clock;
  if (memory_) {
    std::vector<Place> memories;
    for (std::size_t m = 0; m < memory_->count(); ++m) memories.push_back({found.gear, m});
    if (const auto memory = best(memories)) out.memory = memory->memory;
  }
  return out;
}

Gpoeo::Place Gpoeo::start_from(const TrialResult& baseline) const {
  return from_held_ && held_ ? *held_ : predicted(baseline);
}

SearchStep Gpoeo::next(std::span<const TrialResult> seen) {
  if (seen.size() == 1) {
    start_ = start_from(seen[0]);
    period_ = seen[0].cost.time;
  }
  const Scale scale(aim_, seen[0].cost);
  std::vector<Score> scores;
  for (const TrialResult& result : seen) scores.push_back(scale.of(result.cost));
  const auto index_of = [&](const Place& place) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (place_of(seen[i]) == place) return i;
    return std::nullopt;
  };
  const auto score_of = [&](const Place& place) {
    const auto i = index_of(place);
    return i ? &scores[*i] : nullptr;
  };

  Place at = start_;
  if (memory_) {
    std::vector<std::size_t> tried;
    const auto memory_score = [&](std::size_t m) {
      const Score* const score = score_of({start_.gear, m});
      if (score) tried.push_back(m);
      return score;
    };
    if (const auto wanted = next_memory_gear(start_.memory, memory_->count(), aim_.bound, memory_score))
      return step(SearchStep::Kind::measure, {start_.gear, *wanted},
                  cat("gpoeo: memory clocks around the start, ", memory_->text(*wanted)));
    std::vector<Score> of_tried;
    of_tried.reserve(tried.size());
    for (const std::size_t m : tried) of_tried.push_back(*score_of({start_.gear, m}));
    const auto best = best_of(of_tried);
    at.memory = best ? tried[*best] : *std::max_element(tried.begin(), tried.end());
  }

  std::vector<std::size_t> used;  // each once
  const auto clock_score = [&](std::size_t gear) {
    const Score* const score = score_of({gear, at.memory});
    if (score && std::find(used.begin(), used.end(), gear) == used.end()) used.push_back(gear);
    return score;
  };
  const bool lowered =
      memory_ && memory_->value(at.memory) < kFullMemoryClock * memory_->value(memory_->top());
  const GearRange range{std::min(lowest_gear_searched(gears_), at.gear), gears_.top(),
                        bracket_radius(gears_.count(), lowered), options_.tie};
  if (const auto wanted = next_clock_gear(at.gear, range, aim_.bound, clock_score))
    return step(SearchStep::Kind::measure, {*wanted, at.memory},
                cat("gpoeo: bracket and golden section, ", gears_.text(*wanted)));
  std::vector<MeasuredGear> measured;
  measured.reserve(used.size());
  for (const std::size_t gear : used) measured.push_back({gear, seen[*index_of({gear, at.memory})].cost});
  at.gear = smoothed_choice(measured, scale);
  held_ = at;
  spread_.restart();
  return step(SearchStep::Kind::hold, at,
              cat("gpoeo: the best gear of the curves smoothed over ", measured.size(), " gears"));
}

bool Gpoeo::again(const Cost& held) {
  const double spread = spread_.look(*held.energy / held.time + std::min(aim_.beside, Watts(0)));
  if (!spread_.broken(spread)) return false;
  from_held_ = spread < options_.all_again;
  return true;
}

TrialLength Gpoeo::watch() const {
  return {.settle = period_ * spread_.sleep(), .time = period_ + 1_s};
}

}  // namespace rubato::govern
