// `rubato lab`: strategies on jobs whose costs are known, in virtual time.
#include <fmt/format.h>
#include <unistd.h>

#include <optional>

#include "cli/invocation.h"
#include "cli/lab_options.h"
#include "cli/lab_report.h"
#include "cli/lines.h"
#include "cli/print_run.h"
#include "cli/progress_line.h"
#include "cli/seen_workloads.h"
#include "core/sweep_table_csv.h"
#include "lab/restrict.h"
#include "lab/suites.h"
#include "predict/model.h"
#include "report/render.h"

namespace rubato::cli {
namespace {

constexpr std::int64_t kMostIterations = 10'000'000;
constexpr std::uint64_t kMostSeeds = 1000;
constexpr unsigned kMostThreads = 256;

/// `steered`: the table whose workloads are run; none of a suite.
Result<std::shared_ptr<const predict::Model>> learned(const std::string& file, const std::vector<Knob>& knobs,
                                                      const std::optional<SweepTable>& steered,
                                                      const std::string& steered_file) {
  const auto table = read_sweep_table(file);
  if (!table) return fail(table.error());
  if (steered) warn_of_seen_workloads(*steered, steered_file, *table, file);
  const auto curves = lab::curves_along(*table, knobs);
  if (!curves) return fail(curves.error());
  const auto learner = predict::find_learner("rubato");
  if (!learner) return fail(learner.error());
  auto model = (*learner)->learn(*curves, knobs);
  if (!model) return fail(model.error());
  return std::shared_ptr<const predict::Model>(std::move(*model));
}

std::vector<Knob> knobs_of(const lab::Job& job) {
  std::vector<Knob> out;
  for (const plan::KnobAxis& axis : job.space.axes) out.push_back(axis.knob);
  return out;
}

/// A fit at the GPU's own steps has lost the noise and the coarse grid of its rows.
bool noise_matters(const lab::TruthOptions& truth) {
  return truth.resolution == lab::Resolution::table || truth.truth == lab::TruthKind::raw;
}

Result<LabCorrection> correction_of(const SweepTable& table, const LabReport& lab) {
  LabCorrection out;
  for (const auto& [resolution, correction] :
       {std::pair{lab::Resolution::table, &out.table}, std::pair{lab::Resolution::hardware, &out.hardware}}) {
    lab::TruthOptions options = lab.truth;
    options.resolution = resolution;
    const auto rows = lab::row_grids(table, options);
    if (!rows) return fail(rows.error());
    *correction = lab::corrected(*rows, lab.options.goal.max_slowdown, lab.options.seed);
  }
  return out;
}

Result<LabReport> run_lab(const LabText& text) {
  auto wanted = parse_lab(text);
  if (!wanted) return fail(wanted.error());
  LabReport out{.table = text.table,
                .suite = text.suite,
                .train = text.train,
                .truth = wanted->truth,
                .options = std::move(wanted->campaign),
                .iteration_asked = text.iteration_s.has_value()};
  std::optional<SweepTable> steered;
  if (text.table.empty()) {
    auto jobs = lab::suite_named(text.suite);
    if (!jobs) return fail(jobs.error());
    out.jobs = std::move(*jobs);
    if (!out.truth.knobs.empty()) {
      for (lab::Job& job : out.jobs) {
        auto part = lab::restricted(job, out.truth.knobs);
        if (!part) return fail(part.error());
        job = std::move(*part);
      }
    }
    if (text.iteration_s)
      for (lab::Job& job : out.jobs)
        for (lab::Truth& program : job.programs) program.iteration = wanted->truth.iteration;
  } else {
    auto table = read_sweep_table(text.table);
    if (!table) return fail(table.error());
    const auto rows = lab::row_grids(*table, out.truth);
    if (!rows) return fail(rows.error());
    for (const lab::RowGrid& one : *rows) {
      out.jobs.push_back(lab::job_of(one, out.truth.truth, out.truth.iteration));
      out.default_assumed = out.default_assumed || one.default_assumed;
    }
    if (noise_matters(out.truth)) {
      const auto correction = correction_of(*table, out);
      if (!correction) return fail(correction.error());
      out.correction = *correction;
    }
    steered = std::move(*table);
  }
  if (!text.train.empty()) {
    auto model = learned(text.train, knobs_of(out.jobs.front()), steered, text.table);
    if (!model) return fail(model.error());
    out.options.model = std::move(*model);
  }
  ProgressLine progress;
  out.options.progress = [&progress](std::size_t done, std::size_t all) { progress.show(done, all, "runs"); };
  auto outcomes = lab::run_campaign(out.jobs, out.options);
  if (!outcomes) return fail(outcomes.error());
  out.options.progress = {};
  out.outcomes = std::move(*outcomes);
  return out;
}

int lab_run(Invocation& invocation, const LabText& text) {
  const auto report = run_lab(text);
  if (!report) return refuse(invocation, report.error());
  const bool every_workload = invocation.verbose > 0;
  if (invocation.json) {
    fmt::print("{}", report::render_json(lab_json(*report, every_workload)));
    return 0;
  }
  Page page(text_options(STDOUT_FILENO));
  say_lab(page, *report, every_workload);
  fmt::print("{}", page.take());
  return 0;
}

void add_lab_run(CLI::App& lab, Invocation& invocation) {
  auto* run = lab.add_subcommand("run", "compares strategies on a table of measurements or a modelled suite");
  static LabText text;
  run->add_option("--table", text.table, "a sweep table: each of its workloads becomes a training job")
      ->type_name("FILE");
  auto* suite = run->add_option("--suite", text.suite, "a set of modelled jobs instead (rubato lab suites)")
                    ->type_name("NAME");
  run->add_option("--strategies", text.strategies,
                  "which strategies steer them, as in rubato,zeus (docs/strategies.md)")
      ->type_name("LIST")
      ->delimiter(',')
      ->required();
  run->add_option("--knobs", text.knobs, "power-limit, sm-clock, memory-clock (default: all there are)")
      ->type_name("LIST")
      ->delimiter(',');
  run->add_option("--resolution", text.resolution, "hardware: the GPU's own steps; table: the table's rows")
      ->type_name("STEPS")
      ->excludes(suite)
      ->capture_default_str();
  run->add_option("--truth", text.truth, "denoised: a monotone fit is the truth; raw: the rows are")
      ->type_name("KIND")
      ->excludes(suite)
      ->capture_default_str();
  run->add_option("--noise", text.noise, "of one iteration's time and power, as they are observed")
      ->type_name("PERCENT")
      ->capture_default_str();
  run->add_option("--noise-model", text.noise_model, "iid, drift, heavy-tail or steps")
      ->type_name("NAME")
      ->capture_default_str();
  run->add_option("--max-slowdown", text.max_slowdown, "bound of the whole run")
      ->type_name("PERCENT")
      ->capture_default_str();
  run->add_option("--iterations", text.iterations, "that each job trains for")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, kMostIterations))
      ->capture_default_str();
  run->add_option("--iteration-seconds", text.iteration_s,
                  "length of one at the found setting (default: 0.3, or the suite's own)")
      ->type_name("S");
  run->add_option("--seed", text.seed, "of everything that is drawn")->type_name("N")->capture_default_str();
  run->add_option("--seeds", text.seeds, "repeat with that many seeds, and pool")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, kMostSeeds))
      ->capture_default_str();
  run->add_option("--train", text.train, "a sweep table to learn from beforehand")->type_name("FILE");
  run->add_option("--host-watts", text.host_watts,
                  "what the host draws, counted with the boards (default: 0)")
      ->type_name("W");
  run->add_option(
         "--second-watts", text.second_watts,
         "what a second is worth per board where settings are chosen; no figure counts it (default: 0)")
      ->type_name("W");
  run->add_option("--threads", text.threads, "at most so many at once (default: one per core)")
      ->type_name("N")
      ->check(CLI::Range(1U, kMostThreads));
  run->add_flag("--json", invocation.json, "machine-readable output (rubato.lab/1)");
  run->add_flag("--verbose,-v", invocation.verbose, "every workload too");
  run->callback([&invocation] { lab_run(invocation, text); });
}

void add_lab_suites(CLI::App& lab, Invocation& invocation) {
  auto* command = lab.add_subcommand("suites", "lists the suites of modelled jobs");
  command->add_flag("--json", invocation.json, "machine-readable output (rubato.lab_suites/1)");
  command->callback([&invocation] {
    if (invocation.json) {
      report::Array suites;
      for (const lab::SuiteInfo& suite : lab::suites())
        suites.emplace_back(report::Object{{"suite", suite.name}, {"description", suite.description}});
      fmt::print("{}", report::render_json(
                           report::Object{{"schema", "rubato.lab_suites/1"}, {"suites", std::move(suites)}}));
      return;
    }
    for (const lab::SuiteInfo& suite : lab::suites())
      print_line(fmt::format("{:<18} ", suite.name), suite.description);
  });
}

}  // namespace

void add_lab(CLI::App& app, Invocation& invocation) {
  auto* lab = app.add_subcommand("lab", "compares strategies on jobs whose costs are known");
  lab->require_subcommand(1);
  add_lab_run(*lab, invocation);
  add_lab_suites(*lab, invocation);
}

}  // namespace rubato::cli
