// Items 12 and 13: how far "the mean curve of the others" predicts simulated work, and how much runs differ.
#include <algorithm>
#include <cmath>

#include "sim_facts/numbers.h"
#include "sim_facts/page.h"
#include "sim_facts/runs.h"

namespace rubato::facts {
namespace {

// Relative to the last setting, which is the found one.
struct Curve {
  std::vector<double> time;
  std::vector<double> energy;
};

Curve curve(const std::string& profile, const Program& p, const std::vector<Knobs>& settings) {
  Curve out;
  const Cost found = steady(profile, p, settings.back());
  for (const Knobs& knobs : settings) {
    const Cost c = steady(profile, p, knobs);
    out.time.push_back(c.seconds / found.seconds);
    out.energy.push_back(c.joules / found.joules);
  }
  return out;
}

struct Baseline {
  double energy_error = 0.0;
  double time_error = 0.0;
  std::vector<double> energy_regret;
  std::vector<double> edp_regret;
};

std::size_t least(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::min_element(values.begin(), values.end()) - values.begin());
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> out;
  for (std::size_t i = 0; i < a.size(); ++i) out.push_back(a[i] * b[i]);
  return out;
}

Baseline leave_one_out(const std::vector<Curve>& curves) {
  Baseline out;
  std::vector<double> energy_errors;
  std::vector<double> time_errors;
  for (const Curve& truth : curves) {
    Curve guess{std::vector<double>(truth.time.size(), 0.0), std::vector<double>(truth.time.size(), 0.0)};
    for (const Curve& other : curves) {
      if (&other == &truth) continue;
      for (std::size_t i = 0; i < truth.time.size(); ++i) {
        guess.time[i] += other.time[i] / static_cast<double>(curves.size() - 1);
        guess.energy[i] += other.energy[i] / static_cast<double>(curves.size() - 1);
      }
    }
    for (std::size_t i = 0; i + 1 < truth.time.size(); ++i) {
      energy_errors.push_back(std::abs(guess.energy[i] / truth.energy[i] - 1.0));
      time_errors.push_back(std::abs(guess.time[i] / truth.time[i] - 1.0));
    }
    const auto regret = [](const std::vector<double>& guessed, const std::vector<double>& real) {
      return real[least(guessed)] / real[least(real)] - 1.0;
    };
    out.energy_regret.push_back(regret(guess.energy, truth.energy));
    out.edp_regret.push_back(regret(product(guess.energy, guess.time), product(truth.energy, truth.time)));
  }
  out.energy_error = mean(energy_errors);
  out.time_error = mean(time_errors);
  return out;
}

std::string text(const Baseline& b) {
  return "energy " + percent(b.energy_error) + ", time " + percent(b.time_error) + ", energy regret " +
         percent(mean(b.energy_regret)) + " / " + percent(largest(b.energy_regret)) + ", EDP regret " +
         percent(mean(b.edp_regret)) + " / " + percent(largest(b.edp_regret));
}

Row baseline_row(const std::string& what, const std::string& profile, const std::vector<Knobs>& settings,
                 double energy, double time, const std::string& measured) {
  std::vector<Curve> curves;
  for (const Program& p : all_programs()) curves.push_back(curve(profile, p, settings));
  const Baseline b = leave_one_out(curves);
  const auto same_size = [](double a, double c) { return a >= 0.5 * c && a <= 2.0 * c; };
  return {what, measured, text(b),
          judged(same_size(b.energy_error, energy) && same_size(b.time_error, time),
                 "both errors between half and twice the measured")};
}

void print_baseline() {
  std::vector<Knobs> sweep;
  const Profile& v100 = board("v100-sxm2-32gb");
  sweep.reserve(13);
  for (int i = 0; i < 13; ++i)
    sweep.push_back({.sm = nearest(v100.sm_clocks, 757 + (1530 - 757) * i / 12.0)});
  std::vector<Knobs> kernels;
  const Profile& pcie = board("v100-pcie-16gb");
  for (const double f : {405, 502, 600, 705, 802, 945, 1087, 1102, 1237, 1380})
    kernels.push_back({.sm = nearest(pcie.sm_clocks, f)});
  std::vector<Knobs> caps;
  for (const double w : steps(150, 450, 20)) caps.push_back({.limit = Watts(w)});
  print_section(
      "12. What the mean curve of the other workloads predicts",
      "Each simulated workload by the mean of the other " + std::to_string(all_programs().size() - 1) +
          "; a set of few, very different programs should be harder than one of many networks. Regrets are "
          "mean / largest.",
      {baseline_row(
           "V100, 13 clocks", v100.name, sweep, 0.038, 0.074,
           "33 workloads: energy 3.8 %, time 7.4 %, energy regret 0.4 points, EDP regret 2.6 / 10.4 %"),
       baseline_row(
           "V100, 10 clocks from 405 MHz", pcie.name, kernels, 0.070, 0.109,
           "20 kernels: energy 7.0 %, time 10.9 %, energy regret 0.4 / 6.2 points, EDP regret 4.0 / 23.6 %"),
       baseline_row("Ada, caps from a third of the default", "rtx4090", caps, 0.074, 0.091,
                    "RTX 4000 Ada training, 7 workloads: energy 7.4 %, time 9.1 %, energy regret 1.8 / 7.8 "
                    "points, EDP "
                    "regret 2.6 / 6.8 %")});
}

void print_noise() {
  const auto* workload = device::sim::find_workload("resnet50").value();
  const Repeats r = repeats("v100-pcie-16gb", *workload, 8, 100);
  print_section(
      "13. Noise", "Eight runs of 100 iterations of resnet50 on a V100, each with another seed.",
      {{"energy of repeated runs, spread",
        "0.1 to 0.4 % on server boards, 1.0 % on kernels; another day 0.4 to 0.7 %",
        percent(r.energy_spread, 2) + " in truth, " + percent(r.sensed_spread, 2) + " by the energy counter",
        judged(r.sensed_spread >= 0.001 && r.sensed_spread <= 0.01, "0.1 to 1.0 %")},
       {"time of repeated runs, spread", "0.03 % well controlled; another day 0.4 to 1.3 %",
        percent(r.time_spread, 2),
        judged(r.time_spread >= 0.00015 && r.time_spread <= 0.013, "0.015 to 1.3 %")}});
}

}  // namespace

void print_prediction() {
  print_baseline();
  print_noise();
}

}  // namespace rubato::facts
