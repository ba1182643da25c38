// `rubato model validate`: how well a model predicts workloads it has never seen.
#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "base/text.h"
#include "cli/model.h"
#include "cli/print_run.h"
#include "cli/progress_line.h"
#include "cli/report/validation_report.h"
#include "cli/seen_workloads.h"
#include "cli/wanted.h"
#include "core/sweep_table_csv.h"
#include "core/sweep_workloads.h"
#include "report/render.h"

namespace rubato::cli {
namespace {

constexpr std::size_t kMostProbes = 1000;

struct Options {
  std::string table;
  std::string train;
  std::vector<std::string> knobs;
  std::size_t probes = 0;
  std::string max_slowdown = "5%";
  std::string model{predict::learner_names().front()};
  double host_watts = 0;
};

struct Read {
  SweepTable table;
  std::vector<predict::Curve> curves;
  std::size_t workloads = 0;
};

Result<Read> read_curves(const std::string& file, const std::vector<Knob>& knobs) {
  auto table = read_sweep_table(file);
  if (!table) return fail(table.error());
  auto curves = predict::curves_of(*table, knobs);
  if (!curves) return fail(curves.error());
  const auto workloads = workloads_of(*table);
  if (!workloads) return fail(workloads.error());
  return Read{std::move(*table), std::move(*curves), workloads->size()};
}

Result<experiment::ValidationOptions> parse(const Options& options) {
  const auto learner = predict::find_learner(options.model);
  if (!learner) return fail(learner.error());
  const auto bound = parse_max_slowdown(options.max_slowdown);
  if (!bound) return fail(bound.error());
  if (!(options.host_watts >= 0 && options.host_watts < 1e9))
    return fail(ErrorCode::invalid_argument,
                cat("--host-watts ", options.host_watts, " is no power of a host"));
  experiment::ValidationOptions out{.learner = *learner,
                                    .probes = options.probes,
                                    .max_slowdown = bound->value_or(0.05),
                                    .host_watts = Watts(options.host_watts)};
  for (const std::string& name : options.knobs) {
    const auto knob = parse_tunable_knob(name);
    if (!knob) return fail(knob.error());
    if (std::find(out.knobs.begin(), out.knobs.end(), *knob) == out.knobs.end()) out.knobs.push_back(*knob);
  }
  return out;
}

Result<ValidationReport> validated(const Options& options) {
  auto parsed = parse(options);
  if (!parsed) return fail(parsed.error());
  ValidationReport out{
      .table = options.table, .train = options.train, .model = options.model, .options = *parsed};
  const auto table = read_curves(options.table, parsed->knobs);
  if (!table) return fail(table.error());
  Read train;
  if (!options.train.empty()) {
    auto read = read_curves(options.train, parsed->knobs);
    if (!read) return fail(read.error());
    train = std::move(*read);
    warn_of_seen_workloads(table->table, options.table, train.table, options.train);
  }
  ProgressLine progress;
  parsed->progress = [&progress](std::size_t done, std::size_t all) {
    progress.show(done, all, "groups judged");
  };
  auto found = experiment::validate(table->curves, table->workloads, *parsed, train.curves);
  if (!found) {
    Error error = found.error();
    if (options.train.empty()) error.what = cat(options.table, ": ", error.what);
    return fail(std::move(error));
  }
  out.found = std::move(*found);
  const auto baseline = predict::find_learner("mean-curve");
  if (!baseline) return fail(baseline.error());
  experiment::ValidationOptions plain = *parsed;
  plain.learner = *baseline;
  plain.probes = 0;
  plain.progress = {};
  auto mean = experiment::validate(table->curves, table->workloads, plain, train.curves);
  if (!mean) return fail(mean.error());
  out.mean_curve = std::move(*mean);
  out.floor = experiment::noise_floor(table->curves);
  return out;
}

int model_validate(Invocation& invocation, const Options& options) {
  const auto report = validated(options);
  if (!report) return refuse(invocation, report.error());
  const bool every_workload = invocation.verbose > 0;
  if (invocation.json) {
    fmt::print("{}", report::render_json(validation_json(*report, every_workload)));
    return 0;
  }
  Page page(text_options(STDOUT_FILENO));
  say_validation(page, *report, every_workload);
  fmt::print("{}", page.take());
  return 0;
}

}  // namespace

void add_model_validate(CLI::App& model, Invocation& invocation) {
  auto* command =
      model.add_subcommand("validate", "how well a model predicts workloads of a table it has never seen");
  static Options options;
  command->add_option("--table", options.table, "the sweep table that is predicted, group by group")
      ->type_name("FILE")
      ->required();
  command->add_option("--train", options.train, "learn from this table instead, and predict all of --table")
      ->type_name("FILE");
  command->add_option("--knobs", options.knobs, "what is predicted: power-limit, sm-clock, memory-clock")
      ->type_name("LIST")
      ->delimiter(',')
      ->required();
  command->add_option("--probes", options.probes, "settings the model may measure besides the default")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{0}, kMostProbes))
      ->capture_default_str();
  command->add_option("--max-slowdown", options.max_slowdown, "bound of the choice that is judged")
      ->type_name("PERCENT")
      ->capture_default_str();
  std::string names;
  for (const std::string_view name : predict::learner_names()) names += cat(names.empty() ? "" : ", ", name);
  command->add_option("--model", options.model, cat("which model: ", names))
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--host-watts", options.host_watts, "what the host draws while the job runs")
      ->type_name("W")
      ->capture_default_str();
  command->add_flag("--json", invocation.json, "machine-readable output (rubato.validate/1)");
  command->add_flag("--verbose,-v", invocation.verbose, "every workload too");
  command->callback([&invocation] { model_validate(invocation, options); });
}

}  // namespace rubato::cli
