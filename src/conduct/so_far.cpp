#include "conduct/so_far.h"

#include <algorithm>
#include <cmath>

#include "progress/shift/threshold.h"

namespace rubato::conduct {
namespace {

constexpr int kFewestBlocks = 4;
constexpr double kNormal95 = 1.645;  // both tails together: 90 %

}  // namespace

void SoFarAccount::Sum::add(double n, double v) {
  iterations += n;
  value += v;
  squares += v * v / n;
  ++blocks;
}

double SoFarAccount::Sum::variance_of_one() const {
  return std::max(0.0, squares - value * value / iterations) / (blocks - 1);
}

void SoFarAccount::add(const record::Block& block) {
  const double time = (block.end - block.begin).value();
  if (!block.energy || time <= 0) return;
  Gpu& gpu = gpus_[block.gpu.uuid];
  const double energy = block.energy->energy.value();
  gpu.energy.all += energy;
  gpu.time.all += time;
  at_ = std::max(at_, block.end);
  kind_ = std::max(kind_, block.energy->source.kind);
  const bool warmup_as_found = block.role == BlockRole::warmup && block.setting.empty();
  if (block.iterations <= 0 || warmup_as_found) return;
  const auto n = static_cast<double>(block.iterations);
  (block.setting.empty() ? gpu.energy.found : gpu.energy.away).add(n, energy);
  (block.setting.empty() ? gpu.time.found : gpu.time.away).add(n, time);
}

// An iteration away is taken to scatter as one at the found setting does.
std::optional<SoFarAccount::Difference> SoFarAccount::difference(const Side& side) {
  if (side.found.blocks < kFewestBlocks || side.away.blocks == 0) return std::nullopt;
  const double n = side.away.iterations;
  const double one = side.found.variance_of_one();
  const double student = progress::as_student(kNormal95, side.found.blocks - 1);
  Difference out{.saved = n * side.found.value / side.found.iterations - side.away.value,
                 .square = (n * n / side.found.iterations + n) * one * student * student,
                 .all = side.all};
  return out;
}

std::optional<SoFar> SoFarAccount::so_far() const {
  Difference energy;
  std::optional<Difference> time;
  for (const auto& [uuid, gpu] : gpus_) {
    // Nothing was set there: the job, whose GPUs are all set alike, computes elsewhere.
    if (gpu.energy.away.blocks == 0) continue;
    const auto one = difference(gpu.energy);
    if (!one) return std::nullopt;
    energy.saved += one->saved;
    energy.square += one->square;
    energy.all += one->all;
    // GPUs of one job take part in the same iterations.
    if (!time) time = difference(gpu.time);
  }
  if (!time) return std::nullopt;
  const auto share = [](const Difference& d, double sign) {
    const double without = d.all + d.saved;
    return Share{sign * d.saved / without, std::sqrt(d.square) / without};
  };
  return SoFar{at_, kind_, share(energy, 1), share(*time, -1)};
}

}  // namespace rubato::conduct
