#include "shift_rate/page.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "shift_rate/trial.h"

namespace rubato::shift_rate {
namespace {

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
}

/// 95 % limits on the expectation of a count (Garwood 1936; the chi-square quantile by Wilson and Hilferty).
double count_limit(double count, bool upper) {
  const double n = upper ? count + 1 : count;
  if (n <= 0) return 0;
  const double z = upper ? 1.96 : -1.96;
  const double root = 1 - 1 / (9 * n) + z / (3 * std::sqrt(n));
  return n * root * root * root;
}

/// `work(i)` for every family, on so many threads.
void for_every_family(unsigned jobs, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> threads;
  for (unsigned job = 0; job < std::max(1U, jobs); ++job)
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < kFamilies.size(); i = next++) work(i);
    });
}

void quiet_table(const Plan& plan) {
  std::array<Quiet, kFamilies.size()> all;
  for_every_family(plan.jobs,
                   [&](std::size_t i) { all[i] = run_quiet(kFamilies[i], plan.seed, plan.hours); });
  std::printf(
      "| family | readings | hours | alarms | an hour (95 %%) | GPOEO's rule, an hour | CPU a reading |\n"
      "|---|---|---|---|---|---|---|\n");
  double hours = 0;
  double alarms = 0;
  double gpoeo = 0;
  for (std::size_t i = 0; i < kFamilies.size(); ++i) {
    const Family& family = kFamilies[i];
    const Quiet& q = all[i];
    const auto n = static_cast<double>(q.alarms);
    std::printf("| %.*s | %.*s | %.0f | %.0f | %.3f (%.3f to %.3f) | %.2f | %.1f us |\n",
                static_cast<int>(family.name.size()), family.name.data(),
                static_cast<int>(family.says.size()), family.says.data(), q.hours, n, n / q.hours,
                count_limit(n, false) / q.hours, count_limit(n, true) / q.hours,
                static_cast<double>(q.gpoeo_alarms) / q.hours, q.cpu_us_per_reading);
    hours += q.hours;
    alarms += n;
    gpoeo += static_cast<double>(q.gpoeo_alarms);
  }
  std::printf("| all | | %.0f | %.0f | %.3f (%.3f to %.3f) | %.2f | |\n", hours, alarms, alarms / hours,
              count_limit(alarms, false) / hours, count_limit(alarms, true) / hours, gpoeo / hours);
}

std::string delay_cell(const Delays& d) {
  const unsigned clean = d.runs - d.spoiled;
  if (d.told == 0 || clean == 0) return "not told";
  char cell[96];
  std::snprintf(cell, sizeof cell, "%.0f, %.0f (%.0f s)", quantile(d.readings, 0.5),
                quantile(d.readings, 0.9), quantile(d.seconds, 0.5));
  std::string text = cell;
  if (d.told < clean) {
    std::snprintf(cell, sizeof cell, "; %.0f %% told", 100.0 * d.told / clean);
    text += cell;
  }
  return text;
}

constexpr std::array<double, 5> kSizes{0.05, 0.07, 0.1, 0.2, 0.5};

struct FamilyRuns {
  const Family* family = nullptr;
  std::array<Delays, kSizes.size()> by_size;
};

std::vector<FamilyRuns> run_all(const Plan& plan, Changed what) {
  std::vector<FamilyRuns> all(kFamilies.size());
  for_every_family(plan.jobs, [&](std::size_t f) {
    all[f].family = &kFamilies[f];
    for (std::size_t i = 0; i < kSizes.size(); ++i)
      all[f].by_size[i] = run_changes(kFamilies[f], what, kSizes[i], plan.seed, plan.runs);
  });
  return all;
}

void header(const char* last) {
  std::printf("| family |");
  for (const double size : kSizes) std::printf(" %.0f %% |", 100 * size);
  std::printf(" %s |\n|---|---|---|---|---|---|%s\n", last, "---|");
}

void change_table(const std::vector<FamilyRuns>& all) {
  header("begin stated within (readings)");
  for (const FamilyRuns& runs : all) {
    std::printf("| %.*s |", static_cast<int>(runs.family->name.size()), runs.family->name.data());
    std::vector<double> off;
    for (const Delays& d : runs.by_size) {
      std::printf(" %s |", delay_cell(d).c_str());
      off.insert(off.end(), d.at_readings.begin(), d.at_readings.end());
    }
    if (off.empty()) {
      std::printf(" |\n");
    } else {
      std::printf(" %.0f, %.0f |\n", quantile(off, 0.5), quantile(off, 0.9));
    }
  }
}

void gpoeo_table(const std::vector<FamilyRuns>& all) {
  header("spoiled by a false alarm");
  for (const FamilyRuns& runs : all) {
    std::printf("| %.*s |", static_cast<int>(runs.family->name.size()), runs.family->name.data());
    unsigned spoiled = 0;
    unsigned total = 0;
    for (const Delays& d : runs.by_size) {
      const unsigned clean = d.runs - d.gpoeo_spoiled;
      std::printf(" %.0f %% |", clean > 0 ? 100.0 * d.gpoeo_told / clean : 0.0);
      spoiled += d.gpoeo_spoiled;
      total += d.runs;
    }
    std::printf(" %.0f %% |\n", total > 0 ? 100.0 * spoiled / total : 0.0);
  }
}

/// Of all runs with a change: told of another signal than the one that changed, told before it.
void other_errors(const std::vector<FamilyRuns>& power, const std::vector<FamilyRuns>& period) {
  unsigned runs = 0;
  unsigned wrong = 0;
  unsigned early = 0;
  for (const auto* all : {&power, &period})
    for (const FamilyRuns& family : *all)
      for (const Delays& d : family.by_size) {
        runs += d.runs;
        wrong += d.wrong_signal;
        early += d.spoiled;
      }
  std::printf("\nOf these %u runs %u were told of another signal, and %u before the change.\n", runs, wrong,
              early);
}

}  // namespace

void print_page(const Plan& plan) {
  std::printf(
      "# Shifts: false alarms and delays\n\n"
      "Made by `rubato-shift-rate --seed %llu --hours %u --runs %u`. Seeds from 100000 on are held out. "
      "One\nconstant was changed after a first look at them (at least six degrees of freedom, for changes of "
      "20 %% "
      "and more in very\ncorrelated readings). The readings are drawn by `bench/shift_rate/noise.cpp`, which "
      "shares "
      "no code with the detector.\n\n"
      "## Nothing changes\n\nThree signals (period, power, utilisation), each hour begun afresh. The "
      "detector is asked for at most 0.1 false\nalarms an hour.\n\n",
      static_cast<unsigned long long>(plan.seed), plan.hours, plan.runs);
  quiet_table(plan);
  std::printf(
      "\n## The power changes\n\nReadings until it was told: median, 90th percentile (median in "
      "seconds). Up or down, two to eight minutes after\nthe begin; told within three minutes or not "
      "at all.\n\n");
  const auto power = run_all(plan, Changed::power);
  change_table(power);
  std::printf("\n## The period changes\n\n");
  const auto period = run_all(plan, Changed::period);
  change_table(period);
  other_errors(power, period);
  std::printf(
      "\n## GPOEO's rule on the same changes of power\n\nIt alarms where the largest and the smallest power "
      "of "
      "one iteration are 18 %% of their mean apart, and never\nforgets. Share told within three minutes; a "
      "change of the period alone it cannot see. Here it looks at every\nreading, which is more often than "
      "GPOEO "
      "does.\n\n");
  gpoeo_table(power);
}

}  // namespace rubato::shift_rate
