// Items 1 to 3: a V100 under clock locks, 757 to 1530 MHz.
#include <cmath>

#include "sim_facts/numbers.h"
#include "sim_facts/page.h"
#include "sim_facts/runs.h"

namespace rubato::facts {
namespace {

const std::string kV100 = "v100-sxm2-32gb";

struct Curve {
  std::vector<double> ghz;
  std::vector<double> seconds;
  std::vector<double> joules;
  std::vector<double> watts;
};

Curve curve(const Program& program, double from, double to) {
  Curve out;
  for (int i = 0; i < 13; ++i) {
    const Megahertz clock = nearest(board(kV100).sm_clocks, from + (to - from) * i / 12.0);
    const Cost cost = steady(kV100, program, {.sm = clock});
    out.ghz.push_back(clock.value() / 1000.0);
    out.seconds.push_back(cost.seconds);
    out.joules.push_back(cost.joules);
    out.watts.push_back(cost.watts);
  }
  return out;
}

template <class Basis>
std::vector<double> terms(const std::vector<double>& ghz, const std::vector<double>& y, Basis basis) {
  std::vector<std::vector<double>> rows;
  rows.reserve(ghz.size());
  for (const double f : ghz) rows.push_back(basis(f));
  return fit(rows, y);
}

template <class Basis>
double error_of(const std::vector<double>& ghz, const std::vector<double>& y, Basis basis) {
  const std::vector<double> c = terms(ghz, y, basis);
  std::vector<double> errors;
  for (std::size_t i = 0; i < ghz.size(); ++i) {
    const std::vector<double> b = basis(ghz[i]);
    double sum = 0.0;
    for (std::size_t k = 0; k < b.size(); ++k) sum += c[k] * b[k];
    errors.push_back(std::abs(sum / y[i] - 1.0));
  }
  return mean(errors);
}

std::vector<double> hyperbola(double f) {
  return {1.0, 1.0 / f};
}

double clock_share(const Curve& c) {
  const std::vector<double> ab = terms(c.ghz, c.seconds, hyperbola);
  const double b = ab[1] / c.ghz.back();
  return b / (ab[0] + b);
}

Row share_row(const std::string& workload, double low, double high, const std::string& measured) {
  const double share = clock_share(curve(program(workload), 757, 1530));
  return {"share of time that follows the clock, " + workload, measured, number(share, 2),
          share >= low - 0.05 && share <= high + 0.05 ? kBuiltIn : kBuiltIn + ", and off by more than 0.05"};
}

void print_optimum() {
  std::vector<double> best;
  int inside = 0;
  for (const Program& p : all_programs()) {
    const Curve c = curve(p, 757, 1530);
    const auto at = std::min_element(c.joules.begin(), c.joules.end()) - c.joules.begin();
    best.push_back(1000.0 * c.ghz[static_cast<std::size_t>(at)]);
    inside += best.back() >= 757 && best.back() <= 1080 ? 1 : 0;
  }
  print_section("1. The V100's best clock hardly depends on the work", "",
                {{"clock of least energy", "952 MHz for 24 of 33 workloads, 757 to 1080 for the rest",
                  number(quantile(best, 0.0)) + " to " + number(largest(best)) + " MHz, median " +
                      number(quantile(best, 0.5)) + " (" + std::to_string(best.size()) + " workloads, " +
                      std::to_string(inside) + " of them in 757 to 1080)",
                  kBuiltIn + ": the voltage floor was put at 952 MHz because of this item"}});
}

void print_time() {
  std::vector<double> errors;
  for (const Program& p : all_programs()) {
    const Curve c = curve(p, 757, 1530);
    errors.push_back(error_of(c.ghz, c.seconds, hyperbola));
  }
  const Curve wide = curve(program("stream"), 465, 1530);
  const double stream = error_of(wide.ghz, wide.seconds, hyperbola);
  const double knee = wide.seconds[static_cast<std::size_t>(4)] / wide.seconds.back();
  print_section("2. Time against the clock", "t = a + b/f, 757 to 1530 MHz.",
                {{"error of the fit, mean", "2.3 %", percent(mean(errors)),
                  judged(mean(errors) <= 0.046, "no more than twice the measured")},
                 {"error of the fit, largest", "12 %", percent(largest(errors)),
                  judged(largest(errors) <= 0.12, "no more than measured")},
                 share_row("gemm", 0.92, 0.92, "0.92 (GEMM)"),
                 share_row("resnet50", 0.64, 0.67, "0.64 to 0.67"),
                 share_row("vgg16", 0.63, 0.63, "0.63 (VGG19)"),
                 share_row("rnn", 0.62, 0.62, "0.62"),
                 share_row("transformer", 0.60, 0.92, "between 0.60 (ViT-b) and 0.92 (GEMM)"),
                 share_row("shufflenet", 0.05, 0.05, "0.05"),
                 share_row("rl-ppo", 0.01, 0.01, "0.01"),
                 {"bandwidth-bound work: flat above a knee, a + b/f is wrong", "a knee",
                  "at " + number(1000 * wide.ghz[4]) + " MHz " + change(knee - 1.0) +
                      " time; the fit from 465 MHz on is off by " + percent(stream),
                  judged(stream > mean(errors), "worse than the mean fit above") +
                      "; where the knee lies is " + kBuiltIn}});
}

void print_power() {
  std::vector<double> cubic;
  std::vector<double> mixed;
  for (const Program& p : all_programs()) {
    const Curve c = curve(p, 757, 1530);
    cubic.push_back(error_of(c.ghz, c.watts, [](double f) { return std::vector<double>{1.0, f * f * f}; }));
    mixed.push_back(error_of(c.ghz, c.watts, [](double f) {
      return std::vector<double>{1.0, f, f * f * f};
    }));
  }
  print_section("3. Power against the clock", "757 to 1530 MHz.",
                {{"error of P = a + c f³, mean", "1.3 %", percent(mean(cubic)),
                  within(mean(cubic), 0.013, 0.013, "1.3 points")},
                 {"error of P = a + b f + c f³, mean", "0.9 %", percent(mean(mixed)),
                  within(mean(mixed), 0.009, 0.009, "0.9 points")}});
}

}  // namespace

void print_time_and_power() {
  print_optimum();
  print_time();
  print_power();
}

}  // namespace rubato::facts
