#include "progress/period/rivals.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace rubato::progress {

namespace {

constexpr double kLeastPhases = 2;
constexpr double kMostPhases = 256;
constexpr double kLeastLoad = 0.01;  // variance that repeats, over the noise: beforehand nothing is known
constexpr double kLeastLeft = 1e-4;  // of the variance: rounding leaves as much

/// Of each reading in some cycle, where it is and its phase; by cycles.
struct Placed {
  std::size_t phases = 0;
  std::vector<std::size_t> at;
  std::vector<std::size_t> phase;
  std::vector<std::size_t> ends;  // of the cycles, in `at`
};

Placed place(const Series& level, const Rival& rival, double finest_s) {
  Placed out;
  out.phases =
      static_cast<std::size_t>(std::clamp(std::floor(rival.length_s / finest_s), kLeastPhases, kMostPhases));
  const auto phases = static_cast<double>(out.phases);
  for (const Cycle& cycle : *rival.cycles) {
    const double begin = (cycle.begin_s - level.begin_s) / level.step_s - 0.5;
    const double length = cycle.length_s() / level.step_s;
    const auto last = std::min(static_cast<double>(level.size), std::ceil(begin + length));
    for (auto i = static_cast<std::size_t>(std::max(0.0, std::ceil(begin))); static_cast<double>(i) < last;
         ++i) {
      const double turn = (static_cast<double>(i) - begin) / length;
      out.at.push_back(i);
      out.phase.push_back(std::min(out.phases - 1, static_cast<std::size_t>(turn * phases)));
    }
    out.ends.push_back(out.at.size());
  }
  return out;
}

struct Sum {
  double value = 0;
  double count = 0;
};

constexpr float kNotHeld = -1;

/// Squares that the other cycles leave of each reading of one column; kNotHeld where it is in no cycle.
/// Returns the logarithm of the likelihood gained, for each reading that is.
double foretell(const std::vector<double>& x, const Placed& placed, std::vector<Sum>& all,
                std::vector<Sum>& own, float* rest) {
  all.assign(placed.phases, {});
  own.assign(placed.phases, {});
  double squares = 0;
  for (std::size_t k = 0; k < placed.at.size(); ++k) {
    const double value = x[placed.at[k]];
    Sum& sum = all[placed.phase[k]];
    sum.value += value;
    sum.count += 1;
    squares += value * value;
  }
  if (squares <= 0) return 0;
  double held = 0;
  double means = 0;
  for (const Sum& sum : all) {
    if (sum.count < 1) continue;
    held += sum.value * sum.value / sum.count;
    means += 1;
  }
  const auto count = static_cast<double>(placed.at.size());
  const double noise = std::max(0.0, squares - held) / std::max(1.0, count - means);
  const double load = std::max(squares / count - noise, kLeastLoad * noise);
  // The mean of a phase is beforehand as uncertain as the load varies.
  const double doubt = load > 0 ? noise / load : 0;
  double left = 0;
  std::size_t from = 0;
  for (const std::size_t to : placed.ends) {
    for (std::size_t k = from; k < to; ++k) {
      own[placed.phase[k]].value += x[placed.at[k]];
      own[placed.phase[k]].count += 1;
    }
    for (std::size_t k = from; k < to; ++k) {
      const Sum& sum = all[placed.phase[k]];
      const Sum& here = own[placed.phase[k]];
      const double others = sum.count - here.count;
      const double mean = others > 0 ? (sum.value - here.value) / (others + doubt) : 0;
      const double off = x[placed.at[k]] - mean;
      left += off * off;
      rest[placed.at[k]] = static_cast<float>(off * off);
    }
    for (std::size_t k = from; k < to; ++k) own[placed.phase[k]] = {};
    from = to;
  }
  return 0.5 * std::log(squares / std::max(left, kLeastLeft * squares));
}

/// Logarithm of the likelihood of the first over the second, of the readings that both hold.
double compared(const float* first, const float* second, std::size_t size) {
  double one = 0;
  double other = 0;
  double both = 0;
  for (std::size_t k = 0; k < size; ++k) {
    const bool held = first[k] >= 0 && second[k] >= 0;
    one += held ? double{first[k]} : 0;
    other += held ? double{second[k]} : 0;
    both += held ? 1 : 0;
  }
  const double most = std::max(one, other);
  if (most <= 0) return 0;
  return 0.5 * both * std::log(std::max(other, kLeastLeft * most) / std::max(one, kLeastLeft * most));
}

}  // namespace

Rivalry rivalry_of(const Series& level, const std::vector<Rival>& rivals, double update_s) {
  Rivalry out;
  const double finest_s = std::max(update_s, level.step_s);
  const double worth = level.step_s / finest_s;  // of a reading, in updates
  const std::size_t count = rivals.size();
  out.over.assign(count, std::vector<double>(count, 0.0));
  std::vector<double> gain(count, 0.0);
  std::vector<Placed> placed;
  placed.reserve(count);
  for (const Rival& rival : rivals) placed.push_back(place(level, rival, finest_s));
  std::vector<Sum> all;
  std::vector<Sum> own;
  std::vector<float> rest;
  for (const auto& column : level.columns) {
    rest.assign(count * level.size, kNotHeld);
    for (std::size_t i = 0; i < count; ++i)
      gain[i] += worth * static_cast<double>(placed[i].at.size()) *
                 foretell(column, placed[i], all, own, rest.data() + i * level.size);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = i + 1; j < count; ++j) {
        const double over =
            worth * compared(rest.data() + i * level.size, rest.data() + j * level.size, level.size);
        out.over[i][j] += over;
        out.over[j][i] -= over;
      }
  }
  out.gain = std::move(gain);
  return out;
}

}  // namespace rubato::progress
