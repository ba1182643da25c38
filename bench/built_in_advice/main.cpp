// rubato-built-in-advice --data DIR: the page docs/evidence/built-in-advice.md. The last line has the
// interval that src/experiment/advise/built_in.cpp states.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/text.h"
#include "core/sweep_table_csv.h"
#include "experiment/advise/built_in.h"
#include "experiment/advise/unseen.h"
#include "experiment/held_out.h"
#include "sim_facts/numbers.h"

namespace {

using namespace rubato;

constexpr double kBound = 0.05;

struct Table {
  const char* file;
  std::vector<Knob> knobs;
};

const std::vector<Table>& tables() {
  static const std::vector<Table> all = {
      {"v100-power-limit-training", {Knob::power_limit}},
      {"p100-power-limit-training", {Knob::power_limit}},
      {"a100sxm-sm-clock-pipeline-stages", {Knob::sm_clock}},
      {"v100-sm-clock-kernels", {Knob::sm_clock}},
      {"gtx1080ti-sm-and-memory-clock-kernels", {Knob::sm_clock, Knob::memory_clock}},
      {"a100pcie-power-limit-and-sm-clock", {Knob::power_limit, Knob::sm_clock}},
  };
  return all;
}

Result<std::vector<experiment::JudgedWorkload>> judged(const std::filesystem::path& data,
                                                       const Table& table) {
  const auto read = read_sweep_table(data / "tables" / (std::string(table.file) + ".csv"));
  if (!read) return fail(read.error());
  const auto curves = predict::curves_of(*read, table.knobs);
  if (!curves) return fail(curves.error());
  const auto model = experiment::built_in_model(table.knobs);
  if (!model) return fail(model.error());
  const experiment::ValidationOptions options{
      .knobs = table.knobs, .max_slowdown = kBound, .row_noise = false, .caution = experiment::kUsualCaution};
  std::vector<experiment::JudgedWorkload> out;
  for (const predict::Curve& curve : *curves) {
    auto one = experiment::judge(**model, curve, options);
    if (!one) return fail(one.error());
    out.push_back(std::move(*one));
  }
  return out;
}

std::string knobs_text(const std::vector<Knob>& knobs) {
  std::string out;
  for (const Knob knob : knobs) out += cat(out.empty() ? "" : ", ", name_of(knob));
  return out;
}

void print_row(const Table& table, const std::vector<experiment::JudgedWorkload>& all) {
  std::vector<double> saving;
  std::vector<double> oracle;
  std::size_t broken = 0;
  std::size_t stays = 0;
  double worst = 0;
  for (const auto& one : all) {
    saving.push_back(experiment::signed_saving(one));
    oracle.push_back(one.oracle_saving);
    broken += one.slowdown > kBound ? 1 : 0;
    stays += one.chosen ? 0 : 1;
    worst = std::max(worst, one.slowdown);
  }
  std::printf("| %s | %s | %s | %zu | %s | %s | %zu | %s | %zu |\n", all.front().gpu.c_str(), table.file,
              knobs_text(table.knobs).c_str(), all.size(), facts::percent(facts::mean(saving)).c_str(),
              facts::percent(facts::mean(oracle)).c_str(), broken, facts::percent(worst).c_str(), stays);
}

void print_head() {
  std::fputs(R"(# What the built-in advice is worth

Made by `rubato-built-in-advice --data DIR` (bench/built_in_advice) from public measured sweeps. `rubato advise` without a
model of this GPU asks curves made of physics and data sheets, fitted on none of these tables. Here each workload's default
row alone is shown to them; what they choose inside a bound of 5 %, as `rubato advise` chooses (80 % likely to hold it), is
looked up in the table. A choice that breaks the bound saves nothing, one that costs energy counts as a loss.

| GPU | table | knobs | workloads | saved, mean | at best | bound broken | worst slowdown | stays at the default |
|---|---|---|---|---|---|---|---|---|
)",
             stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || std::strcmp(argv[1], "--data") != 0) {
    std::fprintf(stderr, "usage: rubato-built-in-advice --data DIR\n");
    return 125;
  }
  std::map<std::string, std::vector<double>> by_gpu;
  print_head();
  for (const Table& table : tables()) {
    const auto all = judged(argv[2], table);
    if (!all) {
      std::fprintf(stderr, "%s\n", all.error().what.c_str());
      return 1;
    }
    print_row(table, *all);
    for (const auto& one : *all) by_gpu[one.gpu].push_back(experiment::signed_saving(one));
  }
  const auto interval = experiment::interval_over_gpus(by_gpu);
  if (!interval) return 1;
  std::printf(
      "\nOver the %zu GPUs (the mean of each counts once; a GPU's workloads are no independent witnesses), "
      "the 90 %% "
      "interval of the mean saving is %s to %s (Student's t: so few GPUs make it wide). What lies wholly "
      "above zero lets "
      "`rubato advise` give a number on a GPU that no model has seen; it is little, because on such a GPU it "
      "mostly says to "
      "leave everything as it is.\n",
      by_gpu.size(), facts::percent(interval->low).c_str(), facts::percent(interval->high).c_str());
  return 0;
}
