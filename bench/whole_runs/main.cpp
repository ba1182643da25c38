// rubato-whole-runs [--iterations N] [--seed S] [--seeds N]: every simulated board and workload under `rubato
// run`'s governor, beside the same training alone, with the program's own marks and with telemetry alone.
// Makes docs/evidence/whole-runs.md.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "conduct/whole_run.h"
#include "device/sim/profile.h"
#include "device/sim/work.h"

namespace {

using rubato::conduct::WholeRun;
using rubato::conduct::WholeRunWish;

constexpr double kBound = 0.05;
constexpr double kTightBound = 0.01;

struct Row {
  WholeRunWish wish;
  WholeRun marked;
  WholeRun unmarked;
  WholeRun tight;                  // with marks, under kTightBound
  std::optional<WholeRun> stated;  // with marks, where clocks stayed off for want of a statement
};

struct Sum {
  double saved = 0;
  double slower = 0;
  double slowest = -1;
  int over = 0;
  int searched = 0;
};

Sum sum_of(const std::vector<Row>& rows, WholeRun Row::*which, double bound) {
  Sum out;
  for (const Row& row : rows) {
    const WholeRun& run = row.*which;
    out.saved += run.saved / static_cast<double>(rows.size());
    out.slower += run.slower / static_cast<double>(rows.size());
    out.slowest = std::max(out.slowest, run.slower);
    out.over += run.slower > bound ? 1 : 0;
    out.searched += run.searched ? 1 : 0;
  }
  return out;
}

void print_sum(const char* what, const std::vector<Row>& rows, WholeRun Row::*which, double bound) {
  const Sum sum = sum_of(rows, which, bound);
  std::printf("| %s | %.0f %% | %zu | %d | %.1f %% | %.1f %% | %.2f %% | %d |\n", what, 100 * bound,
              rows.size(), sum.searched, 100 * sum.saved, 100 * sum.slower, 100 * sum.slowest, sum.over);
}

void name_over(const char* what, const std::vector<Row>& rows, WholeRun Row::*which, double bound) {
  for (const Row& row : rows)
    if ((row.*which).slower > bound)
      std::printf("\nOver the bound of %.0f %%, %s: %s on %s, seed %llu: %.2f %% slower in %.0f s.\n",
                  100 * bound, what, row.wish.workload.c_str(), row.wish.board.c_str(),
                  static_cast<unsigned long long>(row.wish.seed), 100 * (row.*which).slower,
                  row.marked.alone.value());
}

void print_run(const WholeRun& run) {
  if (run.searched)
    std::printf(" %.1f %% | %.1f %% | %.0f %% |", 100 * run.saved, 100 * run.slower, 100 * run.held);
  else
    std::printf(" left alone | | |");
}

void print_stated(std::span<const Row> rows) {
  std::printf(
      "\n## Clocks that may have been locked before\n\n"
      "These boards run clearly below the highest clock they list, and no limiter says why: their voltage "
      "ends "
      "there. That cannot be\n"
      "told from a lock that somebody set, so clocks stay off unless the user states that there was none "
      "(`--found-sm-clock none`, "
      "[gpus.md](../gpus.md#what-follows-for-savings)). With marks:\n\n"
      "| board | workload | clocks off: saved | slower | stated: saved | slower "
      "|\n|---|---|---|---|---|---|\n");
  for (const Row& row : rows)
    if (row.stated)
      std::printf("| %s | %s | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", row.wish.board.c_str(),
                  row.wish.workload.c_str(), 100 * row.marked.saved, 100 * row.marked.slower,
                  100 * row.stated->saved, 100 * row.stated->slower);
}

void print_page(const std::vector<Row>& rows, std::span<const Row> first, int iterations,
                unsigned long long seed, unsigned long long seeds) {
  std::printf(
      "# Whole runs on simulated boards\n\n"
      "Made by `rubato-whole-runs --iterations %d --seed %llu --seeds %llu` (bench/whole_runs), in virtual "
      "time. "
      "**Modelled**: the boards are the\n"
      "simulated ones ([simulated-gpu.md](../simulated-gpu.md)), the trainings the simulated trainer's. What "
      "a real board saves this page\n"
      "cannot say. It shows that the whole of rubato works together: sensors that lag and average, boards "
      "that warm up and leak,\n"
      "limits that bite late, jobs that wait for data or host, the guard, the search and what holds its "
      "bound. Nothing of it was\n"
      "tuned on these boards but for the faults that this page showed.\n\n"
      "- Each training runs alone, and under the governor as `rubato run` makes it (all knobs the board has, "
      "5 %% but for one line). Saved and slower\n"
      "  are of the world's own energy and time, from the first moment to the last, search and warm-up "
      "included.\n"
      "- *Marks*: the program tells of its iterations, as hooks make it. *Telemetry alone*: nothing does but "
      "the sensors, so what cannot\n"
      "  be seen in them is left alone: iterations faster than the sensor, and loads without a rhythm.\n"
      "- Held: share of the run at a setting that was held. Short runs have little of it.\n"
      "- The first table counts the runs of all seeds, the others show those of the first.\n\n"
      "| what tells of iterations | bound | runs | searched | saved, mean | slower, mean | slowest | over "
      "the bound "
      "|\n|---|---|---|---|---|---|---|---|\n",
      iterations, seed, seeds);
  print_sum("marks", rows, &Row::marked, kBound);
  print_sum("telemetry alone", rows, &Row::unmarked, kBound);
  print_sum("marks", rows, &Row::tight, kTightBound);
  name_over("marks", rows, &Row::marked, kBound);
  name_over("telemetry alone", rows, &Row::unmarked, kBound);
  name_over("marks", rows, &Row::tight, kTightBound);
  const std::string* board = nullptr;
  for (const Row& row : first) {
    if (board == nullptr || *board != row.wish.board)
      std::printf(
          "\n## %s\n\n| workload | alone, s | marks: saved | slower | held | telemetry alone: saved | slower "
          "| held |\n"
          "|---|---|---|---|---|---|---|---|\n",
          row.wish.board.c_str());
    board = &row.wish.board;
    std::printf("| %s | %.0f |", row.wish.workload.c_str(), row.marked.alone.value());
    print_run(row.marked);
    print_run(row.unmarked);
    std::printf("\n");
  }
}

void add_runs(std::vector<Row>& rows, int iterations, unsigned long long seed) {
  for (const auto& board : rubato::device::sim::list_profiles())
    for (const auto& workload : rubato::device::sim::list_workloads()) {
      Row row{
          .wish = {.board = board.name, .workload = workload.name, .iterations = iterations, .seed = seed},
          .marked = {},
          .unmarked = {},
          .tight = {},
          .stated = {}};
      row.marked = whole_run(row.wish);
      if (row.marked.clocks_off) {
        WholeRunWish stated = row.wish;
        stated.no_lock = true;
        row.stated = whole_run(stated);
      }
      WholeRunWish tight = row.wish;
      tight.max_slowdown = kTightBound;
      row.tight = whole_run(tight);
      row.wish.marks = false;
      row.unmarked = whole_run(row.wish);
      std::fprintf(stderr, "%s, %s\n", row.wish.board.c_str(), row.wish.workload.c_str());
      rows.push_back(std::move(row));
    }
}

}  // namespace

int main(int argc, char** argv) {
  int iterations = 2000;
  unsigned long long seed = 1;
  unsigned long long seeds = 1;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i];
    if ((flag != "--iterations" && flag != "--seed" && flag != "--seeds") || i + 1 == argc) {
      std::fprintf(stderr, "usage: rubato-whole-runs [--iterations N] [--seed S] [--seeds N]\n");
      return 125;
    }
    if (flag == "--iterations") iterations = std::atoi(argv[i + 1]);
    if (flag == "--seeds") seeds = std::strtoull(argv[i + 1], nullptr, 10);
    if (flag == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  std::vector<Row> rows;
  for (unsigned long long s = seed; s < seed + seeds; ++s) add_runs(rows, iterations, s);
  const auto first = std::span(rows).first(rows.size() / std::max(seeds, 1ULL));
  print_page(rows, first, iterations, seed, seeds);
  print_stated(first);
  return 0;
}
