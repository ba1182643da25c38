#include "lab/phase_oracle.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "lab/vouching.h"
#include "plan/setting_of.h"

namespace rubato::lab {
namespace {

using govern::Action;
using govern::Decision;

// Rounding of the sums over a run, not slack.
constexpr double kRounding = 1e-12;
// The causal oracle shares out anew when the run has become so much longer.
constexpr double kShareAgain = 1.01;

/// One step along a program's hull.
struct Step {
  std::size_t program = 0;
  std::size_t to = 0;
  double seconds = 0;
  double joules = 0;   // saved by it
  bool counts = true;  // of a program that has run
};

/// Settings from the one that takes least time to the one that takes least energy, convex.
std::vector<std::size_t> hull_of(const CostTable& costs, std::size_t program, const RunCost& work,
                                 double host) {
  std::vector<std::size_t> order(costs.settings());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  const auto time = [&](std::size_t k) { return work.time * costs.at(program, k).time; };
  const auto energy = [&](std::size_t k) {
    return work.energy * costs.at(program, k).energy + host * time(k);
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return time(a) != time(b) ? time(a) < time(b) : energy(a) < energy(b);
  });
  std::vector<std::size_t> hull;
  for (const std::size_t k : order) {
    if (!hull.empty() && energy(k) >= energy(hull.back())) continue;
    while (hull.size() > 1) {
      const std::size_t a = hull[hull.size() - 2];
      const std::size_t b = hull.back();
      if ((time(b) - time(a)) * (energy(k) - energy(a)) > (time(k) - time(a)) * (energy(b) - energy(a)))
        break;
      hull.pop_back();
    }
    hull.push_back(k);
  }
  return hull;
}

std::vector<Decision> decisions_of(const Job& job) {
  std::vector<Decision> out;
  for (std::size_t k = 0; k < job.grid.size(); ++k)
    out.push_back({.action = k == job.found ? Action::use_found : Action::use_setting,
                   .setting = k == job.found ? Setting{} : plan::setting_of(job.grid[k]),
                   .role = BlockRole::hold,
                   .why = "the best setting of this program, known beforehand",
                   .ask_again = {}});
  return out;
}

double time_of(const Draw& draw, std::size_t i) {
  return draw.own_time.empty() ? 1.0 : draw.own_time[i];
}
double energy_of(const Draw& draw, std::size_t i) {
  return draw.own_power.empty() ? time_of(draw, i) : time_of(draw, i) * draw.own_power[i];
}

/// Whole iterations at either setting, never more at the slower than are wanted.
class Turns {
 public:
  explicit Turns(std::size_t programs) : owed_(programs, 0.0) {}
  std::size_t next(std::size_t program, const ProgramShare& share) {
    owed_[program] += share.part;
    if (owed_[program] < 1) return share.faster;
    owed_[program] -= 1;
    return share.slower;
  }

 private:
  std::vector<double> owed_;  // iterations at the slower
};

class PhaseOracle final : public govern::Strategy {
 public:
  PhaseOracle(const Job& job, std::vector<ProgramShare> shares)
      : decisions_(decisions_of(job)), phase_(job), shares_(std::move(shares)), turns_(shares_.size()) {}
  [[nodiscard]] std::string_view name() const override { return kPhaseOracle; }
  [[nodiscard]] Decision next(const govern::Observation&) override {
    const std::size_t program = phase_.next();
    return decisions_[turns_.next(program, shares_[program])];
  }

 private:
  std::vector<Decision> decisions_;
  PhaseCursor phase_;
  std::vector<ProgramShare> shares_;
  Turns turns_;
};

class CausalOracle final : public govern::Strategy {
 public:
  CausalOracle(const Job& job, const CostTable& costs, const Draw& draw, double max_slowdown, Watts host,
               std::optional<double> noise)
      : costs_(costs),
        draw_(draw),
        bound_(max_slowdown),
        host_(host),
        found_(job.found),
        decisions_(decisions_of(job)),
        phase_(job),
        work_(job.programs.size()),
        turns_(job.programs.size()) {
    if (noise) vouching_.emplace(costs, found_, *noise, max_slowdown, host);
  }
  [[nodiscard]] std::string_view name() const override {
    return vouching_ ? kCausalMeasuredOracle : kCausalOracle;
  }

  [[nodiscard]] Decision next(const govern::Observation&) override {
    const std::size_t p = phase_.next();
    const double time = time_of(draw_, i_);
    const RunCost iteration{time, energy_of(draw_, i_)};
    ++i_;
    if (p != program_ || base_ >= share_again_) share_out_again(p, iteration);
    work_[p].time += iteration.time;
    work_[p].energy += iteration.energy;
    base_ += time * costs_.at(p, found_).time;
    const double longest = base_ * (1 + bound_ + kRounding);
    std::size_t k = found_;
    if (!vouching_ || !vouching_->measures(p)) {
      k = turns_.next(p, shares_[p]);
      if (used_ + taken(p, k, time) > longest) k = best_within(p, iteration, longest - used_);
    }
    used_ += time * costs_.at(p, k).time;
    if (vouching_) vouching_->ran(p, k == found_, time * costs_.at(p, k).time);
    return decisions_[k];
  }

 private:
  void share_out_again(std::size_t program, const RunCost& iteration) {
    program_ = program;
    share_again_ = base_ * kShareAgain;
    auto work = work_;
    work[program].time += iteration.time;
    work[program].energy += iteration.energy;
    double base = 0;
    for (std::size_t p = 0; p < work.size(); ++p) base += work[p].time * costs_.at(p, found_).time;
    double lose = bound_ * (base_ + base) - (used_ - base_);
    if (vouching_) {
      lose -= vouching_->margin_ahead();
      for (std::size_t p = 0; p < work.size(); ++p) {
        const double part = vouching_->elsewhere_ahead(p);
        work[p] = {work[p].time * part, work[p].energy * part};
      }
    }
    shares_ = share_out(costs_, found_, work, lose, host_);
  }

  /// By an iteration, and by what is not known of the run then.
  double taken(std::size_t program, std::size_t setting, double own_time) const {
    const double seconds = own_time * costs_.at(program, setting).time;
    if (!vouching_ || setting == found_) return seconds;
    return seconds + vouching_->margin_with(program, seconds);
  }

  std::size_t best_within(std::size_t program, const RunCost& iteration, double seconds) const {
    std::size_t best = found_;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < costs_.settings(); ++k) {
      const double time = iteration.time * costs_.at(program, k).time;
      const double energy = iteration.energy * costs_.at(program, k).energy + host_.value() * time;
      if (energy >= least || taken(program, k, iteration.time) > seconds) continue;
      best = k;
      least = energy;
    }
    return best;
  }

  const CostTable& costs_;
  const Draw& draw_;
  double bound_;
  Watts host_;
  std::size_t found_;
  std::vector<Decision> decisions_;
  PhaseCursor phase_;
  std::vector<RunCost> work_;  // of each program so far, as share_out takes it
  std::vector<ProgramShare> shares_;
  Turns turns_;
  std::optional<Vouching> vouching_;  // nothing: what is not measured counts as well
  std::optional<std::size_t> program_;
  std::size_t i_ = 0;
  double base_ = 0;  // s so far, at the found setting
  double used_ = 0;  // and as it went
  double share_again_ = 0;
};

}  // namespace

std::vector<ProgramShare> share_out(const CostTable& costs, std::size_t found, std::span<const RunCost> work,
                                    double lose, Watts host) {
  std::vector<ProgramShare> out(work.size());
  std::vector<Step> steps;
  for (std::size_t p = 0; p < work.size(); ++p) {
    const bool ran = work[p].time > 0;
    const RunCost sums = ran ? work[p] : RunCost{1, 1};
    const auto hull = hull_of(costs, p, sums, host.value());
    const auto time = [&](std::size_t k) { return sums.time * costs.at(p, k).time; };
    out[p] = {hull.front(), hull.front(), 0};
    if (ran) lose += time(found) - time(hull.front());
    for (std::size_t i = 1; i < hull.size(); ++i) {
      const double seconds = time(hull[i]) - time(hull[i - 1]);
      const double joules = sums.energy * (costs.at(p, hull[i - 1]).energy - costs.at(p, hull[i]).energy) -
                            host.value() * seconds;
      steps.push_back({p, hull[i], seconds, joules, ran});
    }
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.joules * b.seconds > b.joules * a.seconds; });
  for (const Step& step : steps) {
    ProgramShare& share = out[step.program];
    const double part = step.counts ? std::clamp(lose / step.seconds, 0.0, 1.0) : 1.0;
    share = part < 1 ? ProgramShare{share.faster, step.to, part} : ProgramShare{step.to, step.to, 0};
    if (part < 1) break;
    if (step.counts) lose -= step.seconds;
  }
  return out;
}

std::unique_ptr<govern::Strategy> make_phase_oracle(const Job& job, const CostTable& costs, const Draw& draw,
                                                    std::int64_t iterations, double max_slowdown,
                                                    Watts host) {
  std::vector<RunCost> work(job.programs.size());
  PhaseCursor phase(job);
  double base = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(iterations); ++i) {
    const std::size_t p = phase.next();
    work[p].time += time_of(draw, i);
    work[p].energy += energy_of(draw, i);
    base += time_of(draw, i) * costs.at(p, job.found).time;
  }
  return std::make_unique<PhaseOracle>(job, share_out(costs, job.found, work, max_slowdown * base, host));
}

std::unique_ptr<govern::Strategy> make_causal_oracle(const Job& job, const CostTable& costs, const Draw& draw,
                                                     double max_slowdown, Watts host,
                                                     std::optional<double> noise) {
  return std::make_unique<CausalOracle>(job, costs, draw, max_slowdown, host, noise);
}

}  // namespace rubato::lab
