#include "lab/oracle.h"

#include <algorithm>
#include <utility>

#include "plan/lower_hull.h"

namespace rubato::lab {
namespace {

// Rounding of the sums over a run, not slack.
constexpr double kRounding = 1e-12;

class OracleStrategy final : public govern::Strategy {
 public:
  explicit OracleStrategy(const Setting& setting) : setting_(setting) {}
  [[nodiscard]] std::string_view name() const override { return kOracle; }
  [[nodiscard]] govern::Decision next(const govern::Observation&) override {
    if (std::exchange(asked_, true))
      return {
          .action = govern::Action::wait, .setting = {}, .role = BlockRole::hold, .why = {}, .ask_again = {}};
    return {.action = govern::Action::use_setting,
            .setting = setting_,
            .role = BlockRole::hold,
            .why = "the best fixed setting, known beforehand",
            .ask_again = {}};
  }

 private:
  Setting setting_;
  bool asked_ = false;
};

}  // namespace

std::vector<Point> lower_hull(std::vector<Point> points) {
  return plan::lower_hull(std::move(points), &Point::time, &Point::energy);
}

Point best_share(std::span<const Point> hull, double time) {
  Point best{1, 1};
  for (std::size_t i = 0; i < hull.size(); ++i) {
    if (hull[i].time <= time) {
      if (hull[i].energy < best.energy) best = hull[i];
      continue;
    }
    if (i > 0) {
      const double share = (time - hull[i - 1].time) / (hull[i].time - hull[i - 1].time);
      const double energy = hull[i - 1].energy + share * (hull[i].energy - hull[i - 1].energy);
      if (energy < best.energy) best = {time, energy};
    }
    break;
  }
  return best;
}

Oracles oracles_of(std::span<const RunCost> runs, std::size_t found, double max_slowdown) {
  const RunCost& base = runs[found];
  const double longest = 1 + max_slowdown + kRounding;
  Oracles out{.setting = found};
  std::vector<Point> points;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const Point p{runs[k].time / base.time, runs[k].energy / base.energy};
    points.push_back(p);
    if (p.time > longest || 1 - p.energy <= out.fixed.saving) continue;
    out.setting = k;
    out.fixed = {1 - p.energy, p.time - 1};
  }
  const Point mixed = best_share(lower_hull(std::move(points)), longest);
  out.mixed = {1 - mixed.energy, mixed.time - 1};
  return out;
}

std::unique_ptr<govern::Strategy> make_oracle(const Setting& setting) {
  return std::make_unique<OracleStrategy>(setting);
}

}  // namespace rubato::lab
