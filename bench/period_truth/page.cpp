#include <cstdio>

#include "base/text.h"
#include "period_truth/table.h"

namespace rubato::period_truth {
namespace {

std::string percent(const Tally& tally, std::size_t part) {
  return tally.traces == 0 ? "" : number(100 * tally.share(part), 1) + " %";
}

std::string quantile(const std::vector<double>& sorted, double rank, std::size_t total, int digits) {
  const auto value = quantile_of(sorted, rank, total);
  return value ? number(*value, digits) : "never";
}

std::string two_quantiles(const std::vector<double>& sorted, std::size_t total, int digits) {
  if (total == 0) return "";
  return quantile(sorted, 0.5, total, digits) + " / " + quantile(sorted, 0.9, total, digits);
}

void print_words(std::uint64_t first_seed, std::uint64_t traces) {
  std::printf(R"(# Periods found in generated telemetry

Made by `rubato-period-truth --first-seed %llu --traces %llu` (bench/period_truth), in virtual time. **Modelled**: every trace
is generated; no GPU had a part in it. The seeds are held out: detectors are developed on seeds below %llu
and above %llu. `tests/progress/truth/period_truth_test.cpp` asserts the lines of the first table on other held-out seeds.

## How it is judged

A trace is a program (kernels, layers, micro-batches, optimizer steps, pauses, stalls, changes of clock; lengths and powers
from broad distributions), then a board (capacitors, leakage that follows warmth, fans), then a sensor (update, window or
lag, 0.5 to 5 W of noise, sometimes whole watts) and a reader at 10 to 50 Hz that is late, hangs for up to 2 s and misses
readings. Utilisation and clocks come by their own mechanisms; some traces lack them, and half are told nothing of the
sensor. Generator and judge share no code with any detector.

The **truth** is the median iteration, stalls and pauses left out. It is **observable** by an argument that knows no
detector, made from the sensor's noise-free output and the program's own marks (bench/period_truth/truth.h):

- at least 8 iterations, each of 3 updates and 3 readings or more;
- the median itself is sharp to 1 %%, so that 2 %% are two standard errors;
- what tells T from every T/k has, within eight iterations, 60 times the energy of the noise per update: where an energy
  detector that was told T is right 99 times in 100 at one false alarm in a million places.

A statement is

- *exact*: within 2 %% of the truth and said to be exact. Of observable traces nothing else is right. Where the median is
  not sharp, within 2 %% of any iteration that might as well be it.
- *related*: said to be a multiple, and one (2 %% and 0.15 T, up to 64 T); said to be a beat, and one (the alias of one of
  the first four harmonics with the sensor or the reader, 2 %%); or, where the noise hides the iteration, one of its like
  parts (micro-batches whose optimizer step drowns) or the epoch from pause to pause: these are periods, and the readings
  cannot tell that they are not the iteration.
- beyond the observable range, related, exact, undecided and aperiodic with a reason are right; a period that is none of
  these is *wrong*.
- of a program without iterations only *aperiodic* is right.
- *sure and wrong*: the last statement does not hold, with a stated confidence over 0.9. "On the way": the share of all time in which a
  period was stated so that fits no iteration of the last 8 s or 6 iterations.
- *decided*: from the first iteration to the first period stated (median / 90 %%, "never" counted as latest), in seconds and in
  iterations; of aperiodic programs to the first statement.
)",
              static_cast<unsigned long long>(first_seed), static_cast<unsigned long long>(traces),
              static_cast<unsigned long long>(kFirstHeldOut), static_cast<unsigned long long>(kLastHeldOut));
}

void print_detectors(const std::vector<Row>& rows) {
  std::printf(R"(
## Detectors

| detector | exact, of observable | within 5 %% | right, beyond the range | aperiodic called so | sure and wrong | on the way | first period wrong | decided after, s | decided / max(6 iterations, 8 s) | error of exact periods | CPU per reading |
|---|---|---|---|---|---|---|---|---|---|---|---|
| *asked for* | 97 %% | | 97 %% | 97 %% | 0.3 %% | | | | 1 | 2 %% | 20 µs |
)");
  for (const Row& row : rows) {
    const Tally seen = tally(row.verdicts, is_observable);
    const Tally beyond = tally(row.verdicts, is_beyond);
    const Tally none = tally(row.verdicts, is_aperiodic);
    const Tally all = tally(row.verdicts, [](const Verdict&) { return true; });
    std::printf(
        "| %s | %s | %s | %s | %s | %s | %s %% | %s | %s | %s | %s %% | %s µs |\n", row.detector.c_str(),
        percent(seen, seen.exact).c_str(), percent(seen, seen.close).c_str(),
        percent(beyond, beyond.right).c_str(), percent(none, none.aperiodic).c_str(),
        (number(100 * all.share(all.sure_and_wrong), 2) + " %").c_str(),
        number(100 * all.sure_and_wrong_time, 2).c_str(), percent(seen, seen.first_wrong).c_str(),
        two_quantiles(seen.decided_s, seen.traces, 1).c_str(),
        two_quantiles(seen.decided_ratio, seen.traces, 2).c_str(),
        seen.error.empty() ? "" : number(100 * *quantile_of(seen.error, 0.5, seen.error.size()), 2).c_str(),
        number(all.cpu_us, 1).c_str());
  }
}

void print_head(const char* first) {
  std::printf(
      "\n| %s | traces | exact | related | aperiodic | undecided | wrong | sure and wrong | decided after, s "
      "| in "
      "iterations | error, median |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
      first);
}

void print_row(std::string_view name, const Tally& t) {
  if (t.traces == 0) return;
  std::printf(
      "| %s | %zu | %s | %s | %s | %s | %s | %zu | %s | %s | %s |\n", std::string(name).c_str(), t.traces,
      percent(t, t.exact).c_str(), percent(t, t.related).c_str(), percent(t, t.aperiodic).c_str(),
      percent(t, t.undecided).c_str(), percent(t, t.wrong).c_str(), t.sure_and_wrong,
      two_quantiles(t.decided_s, t.traces, 1).c_str(),
      t.decided_steps.empty() ? "" : two_quantiles(t.decided_steps, t.traces, 1).c_str(),
      t.error.empty() ? "" : (number(100 * *quantile_of(t.error, 0.5, t.error.size()), 2) + " %").c_str());
}

void print_families(const Row& row, const char* title, const Choose& choose) {
  std::printf("\n## %s, %s\n", row.detector.c_str(), title);
  print_head("family");
  for (unsigned i = 0; i < kFamilies; ++i) {
    const auto family = static_cast<Family>(i);
    print_row(name_of(family),
              tally(row.verdicts, [&](const Verdict& v) { return v.family == family && choose(v); }));
  }
  print_row("**all**", tally(row.verdicts, choose));
  print_head("sensor");
  for (unsigned i = 0; i < kSensorKinds; ++i) {
    const auto kind = static_cast<SensorKind>(i);
    print_row(name_of(kind),
              tally(row.verdicts, [&](const Verdict& v) { return v.sensor == kind && choose(v); }));
  }
}

void print_confidence(const Row& row) {
  std::printf(R"(
## %s, stated confidence

Of every trace's last statement. It holds where the period fits as it was said to (a correct multiple of an observable
iteration too), or where *aperiodic* was said of a program without iterations or of iterations beyond the range.

| confidence | statements | mean confidence | hold |
|---|---|---|---|
)",
              row.detector.c_str());
  constexpr double kEdges[] = {0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0000001};
  for (std::size_t i = 0; i + 1 < std::size(kEdges); ++i) {
    std::size_t count = 0;
    std::size_t right = 0;
    double sum = 0;
    for (const Verdict& v : row.verdicts) {
      if (!v.confidence || *v.confidence < kEdges[i] || *v.confidence >= kEdges[i + 1]) continue;
      ++count;
      right += v.holds();
      sum += *v.confidence;
    }
    if (count == 0) continue;
    std::printf("| %s to %s | %zu | %s | %s %% |\n", number(kEdges[i], 2).c_str(),
                number(kEdges[i + 1], 2).c_str(), count, number(sum / static_cast<double>(count), 3).c_str(),
                number(100.0 * static_cast<double>(right) / static_cast<double>(count), 1).c_str());
  }
}

struct Told {
  std::size_t misses = 0;
  std::size_t chosen = 0;
  std::size_t surely = 0;
};

Told told_of(const Row& row, const Choose& choose) {
  constexpr double kSurely = 6.9;  // logarithm of a thousand
  Told out;
  for (const Verdict& v : row.verdicts) {
    if (!v.observed || !choose(v)) continue;
    ++out.misses;
    out.chosen += *v.observed > 0;
    out.surely += *v.observed > kSurely;
  }
  return out;
}

void print_observer(const Row& row) {
  std::printf(R"(
## %s, what the misses could have told

Each miss of a program with iterations was put before an observer who is given the program's own marks and the noise, and
asked only which of two it was: the true period, or what the detector said (another period, or none). It chooses the
likelier: each reading is foretold by the others at its phase (bench/period_truth/observer.h). No detector has marks, nor is
asked so little: what even this observer does not tell, nobody can; what it tells is the detector's own miss.

| misses | traces | the observer chooses the truth | by odds over 1,000 |
|---|---|---|---|
)",
              row.detector.c_str());
  const auto print = [&](const char* name, const Choose& choose) {
    const Told told = told_of(row, choose);
    std::printf("| %s | %zu | %zu | %zu |\n", name, told.misses, told.chosen, told.surely);
  };
  const auto says = [](const Verdict& v) { return v.stated_s.has_value(); };
  print("observable, another period stated", [&](const Verdict& v) { return is_observable(v) && says(v); });
  print("observable, none stated", [&](const Verdict& v) { return is_observable(v) && !says(v); });
  print("beyond the range, another period stated", is_beyond);
  const Told seen = told_of(row, is_observable);
  const Tally all = tally(row.verdicts, is_observable);
  if (all.traces > 0)
    std::printf(
        "\nWith the observer's choice in the place of those misses, %s %% of the observable periods would be "
        "exact.\n",
        number(100 * all.share(all.exact + seen.chosen), 1).c_str());
}

}  // namespace

void print_page(const std::vector<Row>& rows, std::uint64_t first_seed, std::uint64_t traces) {
  print_words(first_seed, traces);
  if (rows.empty()) return;
  print_detectors(rows);
  print_families(rows.front(), "iterations that can be observed", is_observable);
  print_families(rows.front(), "iterations beyond the observable range", is_beyond);
  print_families(rows.front(), "programs without a period", is_aperiodic);
  print_confidence(rows.front());
  print_observer(rows.front());
  std::printf(R"(
## What this does not show

- The generator is ours. Its distributions are broad, but no real program was asked; traces made by others will differ.
- One GPU at a time: no neighbours on the board, no MIG, no time slicing.
- CPU per reading is of this build on this machine, `add()` and `estimate()` together; bench/period_cost is the benchmark.
)");
}

}  // namespace rubato::period_truth
