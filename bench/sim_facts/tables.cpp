// The simulator against sweep tables that no profile was made from.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "core/sweep_table_csv.h"
#include "core/sweep_workloads.h"
#include "sim_facts/numbers.h"
#include "sim_facts/page.h"
#include "sim_facts/runs.h"

namespace rubato::facts {
namespace {

// Knobs in the table's own figures; -1 where it has none.
struct At {
  double limit = -1.0;
  double sm = -1.0;
  double memory = -1.0;
  auto operator<=>(const At&) const = default;
};

using Curve = std::map<At, std::pair<double, double>>;  // time, energy; relative to the default row

struct Comparison {
  std::string file;
  std::string profile;
  std::string about;
  // What a clock of the table is on the simulated board, where that is another one.
  double sm_scale = 1.0;
  double memory_scale = 1.0;
};

At at_of(const SweepRow& row) {
  const auto value = [](const auto& knob) { return knob ? knob->value() : -1.0; };
  return {value(row.power_limit), value(row.sm_clock), value(row.memory_clock)};
}

struct Measured {
  std::vector<Curve> curves;
  At found;
  std::size_t rows = 0;
};

Measured read(const std::filesystem::path& path) {
  const auto stop = [&](const Error& error) {
    std::fprintf(stderr, "%s\n", error.what.c_str());
    std::exit(1);
  };
  const Result<SweepTable> table = read_sweep_table(path);
  if (!table) stop(table.error());
  const auto workloads = workloads_of(*table);
  if (!workloads) stop(workloads.error());
  Measured out;
  for (const std::size_t i : workloads_distinct(*table, *workloads)) {
    const SweepWorkload& w = (*workloads)[i];
    const SweepRow& found = table->rows[w.default_row];
    Curve curve;
    for (const std::size_t r : w.rows) {
      const SweepRow& row = table->rows[r];
      curve[at_of(row)] = {row.time / found.time, row.energy / found.energy};
    }
    out.rows += curve.size();
    out.found = std::max(out.found, at_of(found));
    out.curves.push_back(std::move(curve));
  }
  return out;
}

Knobs knobs_of(const Comparison& c, const At& at) {
  const Profile& p = board(c.profile);
  Knobs out;
  if (at.limit >= 0) out.limit = Watts(at.limit);
  if (at.sm >= 0) out.sm = nearest(p.sm_clocks, at.sm * c.sm_scale);
  if (at.memory >= 0) out.memory = nearest(p.memory_clocks, at.memory * c.memory_scale);
  return out;
}

std::vector<Curve> simulated(const Comparison& c, const Measured& measured) {
  std::vector<Curve> out;
  for (const Program& p : all_programs()) {
    const Cost found = steady(c.profile, p, knobs_of(c, measured.found));
    Curve curve;
    for (const Curve& m : measured.curves)
      for (const auto& [at, ignored] : m) {
        const Cost cost = steady(c.profile, p, knobs_of(c, at));
        curve[at] = {cost.seconds / found.seconds, cost.joules / found.joules};
      }
    out.push_back(std::move(curve));
  }
  return out;
}

struct Optima {
  std::vector<double> setting;  // the swept knob at least energy, as a share of the found one
  std::vector<double> saved;
  std::vector<double> slower;
};

double share(const At& at, const At& found) {
  double out = 1.0;
  if (at.limit >= 0) out *= at.limit / found.limit;
  if (at.sm >= 0) out *= at.sm / found.sm;
  if (at.memory >= 0) out *= at.memory / found.memory;
  return out;
}

Optima optima(const std::vector<Curve>& curves, const At& found) {
  Optima out;
  for (const Curve& curve : curves) {
    const auto best = std::min_element(curve.begin(), curve.end(), [](const auto& a, const auto& b) {
      return a.second.second < b.second.second;
    });
    out.setting.push_back(share(best->first, found));
    out.saved.push_back(1.0 - best->second.second);
    out.slower.push_back(best->second.first - 1.0);
  }
  return out;
}

// Mean distance of two curves over the settings of the first.
std::pair<double, double> distance(const Curve& a, const Curve& b) {
  std::vector<double> time;
  std::vector<double> energy;
  for (const auto& [at, value] : a) {
    const auto other = b.find(at);
    if (other == b.end()) continue;
    time.push_back(std::abs(other->second.first / value.first - 1.0));
    energy.push_back(std::abs(other->second.second / value.second - 1.0));
  }
  if (time.empty()) return {1e9, 1e9};
  return {mean(time), mean(energy)};
}

struct Nearest {
  std::vector<double> time;
  std::vector<double> energy;
};

Nearest nearest_curves(const std::vector<Curve>& of, const std::vector<Curve>& among, bool skip_same) {
  Nearest out;
  for (std::size_t i = 0; i < of.size(); ++i) {
    std::pair<double, double> best{1e9, 1e9};
    for (std::size_t j = 0; j < among.size(); ++j) {
      if (skip_same && i == j) continue;
      const auto d = distance(of[i], among[j]);
      if (d.first + d.second < best.first + best.second) best = d;
    }
    out.time.push_back(best.first);
    out.energy.push_back(best.second);
  }
  return out;
}

std::string spread_text(const std::vector<double>& values, int digits = 0) {
  return percent(quantile(values, 0.1), digits) + " .. **" + percent(quantile(values, 0.5), digits) +
         "** .. " + percent(quantile(values, 0.9), digits);
}

Row spread_row(const std::string& what, const std::vector<double>& measured,
               const std::vector<double>& simulated) {
  const double middle = quantile(simulated, 0.5);
  const bool inside = middle >= quantile(measured, 0.1) - 1e-9 && middle <= quantile(measured, 0.9) + 1e-9;
  return {what, spread_text(measured), spread_text(simulated),
          judged(inside, "simulated median in the measured 10 to 90 %")};
}

void compare(const std::filesystem::path& data, const Comparison& c) {
  const Measured measured = read(data / "tables" / c.file);
  const std::vector<Curve> sim = simulated(c, measured);
  const Optima real = optima(measured.curves, measured.found);
  const Optima ours = optima(sim, measured.found);
  const Nearest to_sim = nearest_curves(measured.curves, sim, false);
  const std::vector<Curve> flat{[&] {
    Curve curve;
    for (const Curve& m : measured.curves)
      for (const auto& [at, ignored] : m) curve[at] = {1.0, 1.0};
    return curve;
  }()};
  const Nearest to_flat = nearest_curves(measured.curves, flat, false);
  const bool several = measured.curves.size() > 1;
  const Nearest to_others = several ? nearest_curves(measured.curves, measured.curves, true) : Nearest{};
  const auto error_row = [&](const std::string& what, const std::vector<double>& error,
                             const std::vector<double>& others, const std::vector<double>& nothing) {
    return Row{
        "distance to the nearest curve, " + what,
        several ? "to another measured one: " + spread_text(others, 1) : "",
        spread_text(error, 1) + " (to \"nothing changes\": " + percent(quantile(nothing, 0.5), 1) + ")",
        judged(quantile(error, 0.5) < 0.5 * quantile(nothing, 0.5),
               "median under half of \"nothing changes\"")};
  };
  print_section(c.file,
                c.about + " " + std::to_string(measured.curves.size()) + " distinct measured workloads, " +
                    std::to_string(sim.size()) + " simulated ones on `" + c.profile + "`.",
                {spread_row("setting of least energy, share of the found one", real.setting, ours.setting),
                 spread_row("energy saved there", real.saved, ours.saved),
                 spread_row("more time there", real.slower, ours.slower),
                 error_row("energy", to_sim.energy, to_others.energy, to_flat.energy),
                 error_row("time", to_sim.time, to_others.time, to_flat.time)});
}

}  // namespace

void print_tables(const std::string& data) {
  if (data.empty()) return;
  std::fputs(R"(
## Tables

Measured sweeps of others. Shown are the 10 % point, **the median** and the 90 % point over workloads. A simulated curve
is that of a simulated workload under the same settings; "nearest" picks, for each measured workload, the simulated one
that fits time and energy best, so it says what the best choice of a workload could reach and not how well a workload of
that name fits. It stands beside how near the measured workloads are to each other, and beside a model that says a
setting changes nothing.
)",
             stdout);
  const double sm = board("rtx3090").sm_clocks.back().value() / 2000.0;
  const double memory = board("rtx3090").memory_clocks.back().value() / 5500.0;
  const Comparison all[] = {
      {"v100-power-limit-training.csv", "v100-pcie-16gb",
       "V100, limits of 100 to 250 W, training of six networks (Zeus, NSDI'23)."},
      {"a100pcie-power-limit-and-sm-clock.csv", "a100-pcie-80gb",
       "A100 PCIe, limits and clocks together, three HPC codes. The item 4 above quotes the same "
       "measurements."},
      {"v100-sm-clock-kernels.csv", "v100-pcie-16gb",
       "V100, SM clocks of 405 to 1380 MHz, kernels. Its optimum near 945 MHz stands beside the figure the "
       "voltage floor was "
       "made from, so the first row is no independent evidence."},
      {"v100-sm-clock-microbenchmarks.csv", "v100-pcie-16gb", "The same board, microbenchmarks."},
      {"a100sxm-sm-clock-pipeline-stages.csv", "a100-sxm4-80gb",
       "A100 SXM, SM clocks of 855 to 1410 MHz, pipeline stages of large language models (Perseus, "
       "SOSP'24)."},
      {"gtx1080ti-sm-and-memory-clock-kernels.csv", "rtx3090",
       "GTX 1080 Ti, SM and memory clocks together. There is no profile of it: simulated on the RTX 3090 at "
       "the same shares of "
       "the highest clocks, of which it has two memory clocks in that range. A comparison of direction.",
       sm, memory},
  };
  for (const Comparison& c : all) compare(data, c);
  std::puts("\nNot compared: p100-power-limit-training.csv, as there is no profile of a Pascal board.");
}

}  // namespace rubato::facts
