#include "experiment/sweep_unlike.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/median.h"
#include "base/percent.h"
#include "base/text.h"

namespace rubato::experiment {
namespace {

constexpr double kMostBand = 0.25;
constexpr double kFarApart = 0.15;  // by the logarithm of time
constexpr double kScatters = 6;
constexpr std::size_t kFewestTold = 5;        // deviations that tell a scatter
constexpr std::size_t kFewestOfASetting = 3;  // of two nobody knows which is the odd one
constexpr std::size_t kKept = 2;
constexpr double kMadToDeviation = 1.4826;  // of a normal distribution

using Group = std::vector<SweepMeasurement*>;

std::vector<Group> settings_of(std::span<SweepMeasurement> measured) {
  std::vector<Group> groups;
  for (SweepMeasurement& m : measured) {
    if (!m.used() || m.time <= Seconds(0)) continue;
    const auto known =
        std::find_if(groups.begin(), groups.end(), [&m](const Group& g) { return g.front()->at == m.at; });
    if (known == groups.end())
      groups.push_back({&m});
    else
      known->push_back(&m);
  }
  return groups;
}

double middle_of(const Group& group) {
  std::vector<double> logs;
  for (const SweepMeasurement* m : group) logs.push_back(std::log(m->time.value()));
  return *median(logs);
}

/// Of all runs around the median of their own setting; absent: too few.
std::optional<double> scatter_of(const std::vector<Group>& groups) {
  std::vector<double> away;
  for (const Group& group : groups) {
    if (group.size() < kFewestOfASetting) continue;
    const double middle = middle_of(group);
    for (const SweepMeasurement* m : group) away.push_back(std::abs(std::log(m->time.value()) - middle));
  }
  if (away.size() < kFewestTold) return std::nullopt;
  return kMadToDeviation * *median(away);
}

class Leaving {
 public:
  explicit Leaving(std::span<SweepMeasurement> measured) : measured_(measured) {}

  void leave(SweepMeasurement& m, std::string why) {
    std::size_t of_setting = 0;
    std::size_t controls = 0;
    for (const SweepMeasurement& other : measured_) {
      if (!other.used()) continue;
      of_setting += other.at == m.at ? 1 : 0;
      controls += other.control() && other.session == m.session ? 1 : 0;
    }
    if (of_setting <= kKept || (m.control() && controls <= 1)) return;
    m.not_used = std::move(why);
  }

 private:
  std::span<SweepMeasurement> measured_;
};

}  // namespace

void leave_out_unlike(std::span<SweepMeasurement> measured) {
  Leaving all(measured);
  for (SweepMeasurement& m : measured)
    if (m.used() && m.energy_band > kMostBand)
      all.leave(
          m, cat("its energy is known to ", short_percent(m.energy_band, 2), " only: too few readings came"));
  const std::vector<Group> groups = settings_of(measured);
  const auto scatter = scatter_of(groups);
  if (!scatter) return;
  const double most = std::max(std::log1p(kFarApart), kScatters * *scatter);
  for (const Group& group : groups) {
    if (group.size() < kFewestOfASetting) continue;
    const double middle = middle_of(group);
    for (SweepMeasurement* m : group)
      if (std::abs(std::log(m->time.value()) - middle) > most)
        all.leave(*m, cat("it took ", m->time, ", and the others of its setting ", Seconds(std::exp(middle)),
                          " (median): something else held it up, or hurried it"));
  }
}

}  // namespace rubato::experiment
