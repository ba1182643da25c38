#include "lab/correction.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "lab/oracle.h"
#include "lab/truth.h"

namespace rubato::lab {
namespace {

constexpr double kRounding = 1e-12;

std::vector<Point> points_of(const RowGrid& rows, TruthKind truth) {
  const Costs costs = costs_of(rows, truth);
  std::vector<Point> out;
  for (std::size_t i = 0; i < costs.time.size(); ++i) out.push_back({costs.time[i], costs.energy[i]});
  return out;
}

/// What somebody picks who takes a table at its word: positions in its points.
struct Picked {
  std::size_t fixed = 0;
  std::size_t fast = 0;
  std::size_t slow = 0;
  double slow_share = 0;  // of the iterations
};

Picked pick(const std::vector<Point>& points, double longest) {
  const auto same = [](const Point& a, const Point& b) { return a.time == b.time && a.energy == b.energy; };
  const auto position = [&](const Point& p) {
    return static_cast<std::size_t>(
        std::find_if(points.begin(), points.end(), [&](const Point& q) { return same(p, q); }) -
        points.begin());
  };
  Picked out;
  // The fastest is inside any bound, as the found setting is.
  Point best = *std::min_element(points.begin(), points.end(),
                                 [](const Point& a, const Point& b) { return a.time < b.time; });
  for (const Point& p : points)
    if (p.time <= longest && p.energy < best.energy) best = p;
  out.fixed = position(best);
  const std::vector<Point> hull = lower_hull(points);
  std::size_t i = 0;
  while (i + 1 < hull.size() && hull[i + 1].time <= longest) ++i;
  out.fast = out.slow = position(hull[i]);
  if (i + 1 < hull.size()) {
    out.slow = position(hull[i + 1]);
    out.slow_share = (longest - hull[i].time) / (hull[i + 1].time - hull[i].time);
  }
  return out;
}

/// Energy of `a`, or of what of it fits into the bound.
double held(const Point& a, double longest) {
  if (a.time <= longest) return a.energy;
  return 1 + (a.energy - 1) * (longest - 1) / (a.time - 1);
}

/// The share that was picked: who sees only the noisy table cannot pick a better one.
double shared(const Point& fast, const Point& slow, double slow_share, double longest) {
  const auto mean = [&](double a, double b) { return a + slow_share * (b - a); };
  return held({mean(fast.time, slow.time), mean(fast.energy, slow.energy)}, longest);
}

struct Gains {
  double fixed = 0;
  double sharing = 0;
};

Gains valued(const Picked& picked, const std::vector<Point>& clean, double longest) {
  const double fixed = held(clean[picked.fixed], longest);
  return {1 - fixed, fixed - shared(clean[picked.fast], clean[picked.slow], picked.slow_share, longest)};
}

/// How rows scatter about their monotone fit, to be drawn from.
class RowNoise {
 public:
  /// A regression that is free to move with its rows hides noise: of n rows it leaves n less the number of
  /// its level stretches to judge the noise by (Meyer and Woodroofe, Annals of Statistics 28, 2000). The
  /// shape is that of the residuals where rows were pooled: outliers stay outliers.
  RowNoise(std::span<const RowGrid> workloads, std::vector<double> RowGrid::*values, bool rising) {
    double squares = 0;
    double freedom = 0;
    for (const RowGrid& w : workloads) {
      const std::vector<double>& rows = w.*values;
      const std::vector<double> fit = made_monotone(w.axes, rows, rising);
      freedom += static_cast<double>(rows.size()) - static_cast<double>(levels_of(fit));
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double residual = std::log(rows[i] / fit[i]);
        if (std::abs(residual) < kPooled) continue;
        squares += residual * residual;
        shape_.push_back(residual);
      }
    }
    if (shape_.empty() || !(freedom > 0)) return;
    deviation_ = std::sqrt(squares / freedom);
    const double scale = deviation_ / std::sqrt(squares / static_cast<double>(shape_.size()));
    for (double& residual : shape_) residual *= scale;
  }

  [[nodiscard]] double deviation() const { return deviation_; }
  [[nodiscard]] double factor(Random& random) const {
    return deviation_ > 0 ? std::exp(shape_[random.index(shape_.size())]) : 1.0;
  }

 private:
  static constexpr double kPooled = 1e-9;

  static std::ptrdiff_t levels_of(std::vector<double> fit) {
    std::sort(fit.begin(), fit.end());
    const auto equal = [](double a, double b) { return b - a <= kPooled * std::abs(a); };
    return std::unique(fit.begin(), fit.end(), equal) - fit.begin();
  }

  double deviation_ = 0;
  std::vector<double> shape_;
};

class Mean {
 public:
  void add(double value) {
    ++n_;
    const double step = value - mean_;
    mean_ += step / n_;
    squares_ += step * (value - mean_);
  }
  [[nodiscard]] double mean() const { return mean_; }
  [[nodiscard]] double variance() const { return n_ > 1 ? squares_ / (n_ - 1) : 0.0; }
  [[nodiscard]] double count() const { return n_; }

 private:
  double n_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

/// Sampled: which noise a table had, and which workloads somebody happened to measure.
CorrectedGain summed(const Mean& apparent, const Mean& by_table, const Mean& by_workload) {
  return {apparent.mean(), by_workload.mean(),
          std::sqrt(by_table.variance() + by_workload.variance() / by_workload.count())};
}

}  // namespace

Correction corrected(std::span<const RowGrid> workloads, double max_slowdown, std::uint64_t seed,
                     int tables) {
  const double longest = 1 + max_slowdown + kRounding;
  Correction out;
  const RowNoise time_noise(workloads, &RowGrid::time, false);
  const RowNoise power_noise(workloads, &RowGrid::power, true);
  out.time_noise = time_noise.deviation();
  out.power_noise = power_noise.deviation();
  Random random(seed);
  const auto count = static_cast<std::size_t>(tables);
  std::vector<Gains> by_table(count);
  const auto n = static_cast<double>(workloads.size());
  Mean apparent_fixed;
  Mean apparent_sharing;
  Mean workload_fixed;
  Mean workload_sharing;
  for (const RowGrid& w : workloads) {
    const std::vector<Point> seen = points_of(w, TruthKind::raw);
    const Gains apparent = valued(pick(seen, longest), seen, longest);
    apparent_fixed.add(apparent.fixed);
    apparent_sharing.add(apparent.sharing);
    RowGrid fit = w;
    fit.time = made_monotone(w.axes, w.time, false);
    fit.power = made_monotone(w.axes, w.power, true);
    const std::vector<Point> clean = points_of(fit, TruthKind::denoised);
    Mean fixed;
    Mean sharing;
    RowGrid noisy = fit;
    for (Gains& table : by_table) {
      for (std::size_t i = 0; i < fit.time.size(); ++i) {
        noisy.time[i] = fit.time[i] * time_noise.factor(random);
        noisy.power[i] = fit.power[i] * power_noise.factor(random);
      }
      const Gains gains = valued(pick(points_of(noisy, TruthKind::raw), longest), clean, longest);
      fixed.add(gains.fixed);
      sharing.add(gains.sharing);
      table.fixed += gains.fixed / n;
      table.sharing += gains.sharing / n;
    }
    workload_fixed.add(fixed.mean());
    workload_sharing.add(sharing.mean());
  }
  Mean table_fixed;
  Mean table_sharing;
  for (const Gains& table : by_table) {
    table_fixed.add(table.fixed);
    table_sharing.add(table.sharing);
  }
  out.fixed = summed(apparent_fixed, table_fixed, workload_fixed);
  out.sharing = summed(apparent_sharing, table_sharing, workload_sharing);
  return out;
}

}  // namespace rubato::lab
