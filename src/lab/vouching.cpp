#include "lab/vouching.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/measured_oracle.h"
#include "lab/phase_oracle.h"

namespace rubato::lab {
namespace {

constexpr double kStep = 0.05;  // of the bound
constexpr std::size_t kSteps = 60;
// Of the lengths of a baseline that are weighed, each is longer than the one before by one in so many;
// weighed anew when the run has become so much longer.
constexpr std::int64_t kLongerBaseline = 20;
constexpr double kPlanAgain = 1.05;

/// Of a baseline that grows with the power 2/3 of the run, when the run doubles.
double grown(double baseline) {
  return baseline * std::cbrt(4.0);
}

}  // namespace

Vouching::Vouching(const CostTable& costs, std::size_t found, double noise, double max_slowdown, Watts host)
    : noise_(noise), bound_(max_slowdown), seen_(costs.programs()) {
  for (std::size_t p = 0; p < seen_.size(); ++p) {
    std::vector<RunCost> work(seen_.size());
    work[p] = {1, 1};
    const auto joules = [&](std::size_t k) {
      return costs.at(p, k).energy + host.value() * costs.at(p, k).time;
    };
    for (std::size_t s = 0; s <= kSteps; ++s) {
      const double lose = kStep * static_cast<double>(s) * bound_ * costs.at(p, found).time;
      const ProgramShare share = share_out(costs, found, work, lose, host)[p];
      seen_[p].saves.push_back(joules(found) - (1 - share.part) * joules(share.faster) -
                               share.part * joules(share.slower));
    }
  }
}

double Vouching::saved(double slowdown) const {
  const double at = bound_ > 0 ? std::min(slowdown / (kStep * bound_), static_cast<double>(kSteps)) : 0;
  const auto below = std::min(static_cast<std::size_t>(at), kSteps - 1);
  double sum = 0;
  for (const Seen& s : seen_)
    sum += s.all() * std::lerp(s.saves[below], s.saves[below + 1], at - static_cast<double>(below));
  return sum;
}

bool Vouching::measures(std::size_t program) {
  if (noise_ <= 0) return false;
  double all = 1;
  for (const Seen& s : seen_) all += s.all();
  if (all >= plan_again_) {
    plan_again_ = all * kPlanAgain;
    const auto whole = static_cast<std::int64_t>(all);
    double most = 0;
    std::int64_t best = whole;  // nothing can be vouched for yet
    for (std::int64_t n = 1; n < whole; n += 1 + n / kLongerBaseline) {
      const double vouched = slowdown_vouched_for(n, whole, noise_, bound_);
      if (vouched <= 0) continue;
      const double saves = static_cast<double>(whole - n) * saved(vouched);
      if (saves <= most) continue;
      most = saves;
      best = n;
    }
    part_ = static_cast<double>(best) / all;
  }
  const Seen& seen = seen_[program];
  return seen.at_found < part_ * (seen.all() + 1);
}

void Vouching::ran(std::size_t program, bool at_found, double seconds) {
  Seen& seen = seen_[program];
  if (at_found) {
    ++seen.at_found;
    return;
  }
  ++seen.elsewhere;
  seen.seconds += seconds;
}

double Vouching::variance(double at_found, double elsewhere, double seconds) const {
  if (elsewhere <= 0 || noise_ <= 0) return 0;
  if (at_found <= 0) return std::numeric_limits<double>::infinity();
  return noise_ * noise_ * seconds * seconds * (1 / at_found + 1 / elsewhere);
}

double Vouching::margin_with(std::size_t program, double seconds) const {
  double sum = 0;
  for (std::size_t p = 0; p < seen_.size(); ++p) {
    const Seen& s = seen_[p];
    const bool next = p == program;
    sum += variance(s.at_found, s.elsewhere + (next ? 1 : 0), s.seconds + (next ? seconds : 0));
  }
  return kStandardErrors * std::sqrt(sum);
}

double Vouching::elsewhere_ahead(std::size_t program) const {
  const Seen& s = seen_[program];
  if (s.all() <= 0 || noise_ <= 0) return 1;
  return std::clamp(1 - (grown(s.at_found) - s.at_found) / s.all(), 0.0, 1.0);
}

double Vouching::margin_ahead() const {
  double sum = 0;
  for (const Seen& s : seen_) {
    if (s.elsewhere <= 0) continue;
    const double elsewhere = 2 * s.all() - grown(s.at_found);
    sum += variance(grown(s.at_found), elsewhere, s.seconds * elsewhere / s.elsewhere);
  }
  return kStandardErrors * std::sqrt(sum);
}

}  // namespace rubato::lab
