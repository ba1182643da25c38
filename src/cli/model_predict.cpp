// `rubato model predict`: what a trained model says of one workload.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/model.h"
#include "cli/model_options.h"
#include "cli/print_run.h"
#include "cli/report/model_report.h"
#include "cli/words/nearest.h"
#include "core/feature_schema.h"
#include "core/sweep_table_csv.h"
#include "predict/roofline/roofline.h"
#include "report/render.h"

namespace rubato::cli {
namespace {

struct Options {
  std::string file;
  std::string table;
  std::string workload;
  std::string default_time;
  std::string default_power;
  std::string gpu_name;
  std::vector<std::string> features;
  std::vector<std::string> probes;
};

constexpr double kMostFraction = 1.1;  // counters of two passes may add up to a little more than all
// A board draws a little more than its limit, as an average (rows of Zeus' V100 table by up to 2 %).
constexpr double kMostOverLimit = 1.15;
constexpr double kMostBoardWatts = 10000;  // where no limit is known

tl::unexpected<Error> wrong(std::string what, std::string hint = {}) {
  return fail(ErrorCode::invalid_argument, std::move(what), std::move(hint));
}

/// The workload's default, and its settings as what is asked.
Status from_table(const Options& options, PredictionReport& report, std::vector<predict::KnobPoint>& at) {
  const auto table = read_sweep_table(options.table);
  if (!table) return fail(table.error());
  const auto curves = predict::curves_of(*table, report.model->knobs);
  if (!curves) return fail(curves.error());
  std::vector<std::string> names;
  for (const predict::Curve& curve : *curves) {
    names.push_back(curve.workload);
    if (curve.workload != options.workload) continue;
    report.known = curve.known;
    report.measured = curve.rows;
    for (const predict::Observed& row : curve.rows) at.push_back(row.at);
    return {};
  }
  const auto close = nearest(options.workload, names);
  return wrong(cat(options.table, " has no distinct workload '", options.workload, "'"),
               close ? cat("did you mean '", *close, "'?")
                     : cat("the first of its workloads is '", names.front(), "'"));
}

/// What a model would not look at, or would take for another amount, is no counter.
Status add_feature(const std::string& text, PredictionReport& report) {
  auto feature = parse_feature(text);
  if (!feature) return fail(feature.error());
  const auto& [name, value] = *feature;
  const auto& known = report.model->features;
  std::string names;
  for (const std::string& one : known)
    if (!one.starts_with("roofline_")) names += cat(names.empty() ? "" : ", ", one);
  if (std::find(known.begin(), known.end(), name) == known.end())
    return wrong(cat("--feature ", text, ": the model did not learn with it"),
                 names.empty() ? std::string("it learned with no counters: leave --feature out")
                               : cat("its counters are ", names));
  const bool in_schema = std::find(kFeatureNames.begin(), kFeatureNames.end(), name) != kFeatureNames.end();
  const bool fraction = in_schema && (name.ends_with("_active") || name.ends_with("_occupancy") ||
                                      name.ends_with("_utilisation") || name.ends_with("_fraction"));
  if (fraction && !(value >= 0 && value <= kMostFraction))
    return wrong(cat("--feature ", text, ": ", name, " is a fraction"), "40 % is 0.4");
  if (!report.known.features.insert(*feature).second)
    return wrong(cat("--feature ", text, ": ", name, " is given twice"), "one value for each counter");
  return {};
}

Status from_words(const Options& options, PredictionReport& report, std::vector<predict::KnobPoint>& at) {
  const auto time = parse_positive("--default-time", options.default_time);
  if (!time) return fail(time.error());
  const auto power = parse_positive("--default-power", options.default_power);
  if (!power) return fail(power.error());
  if (options.gpu_name.empty() && report.model->gpus.size() != 1)
    return wrong("the model learned from several GPUs, and the default was measured on one of them",
                 "name it with --gpu-name; rubato model show lists them");
  const auto gpu =
      report.model->gpu(options.gpu_name.empty() ? report.model->gpus.front().name : options.gpu_name);
  if (!gpu) return fail(gpu.error());
  report.known.gpu = (*gpu)->name;
  report.known.highest = (*gpu)->highest;
  // A thousand times as much is in mW, twice as much of two boards.
  const auto& limit = (*gpu)->highest.power_limit;
  if (!limit && *power > kMostBoardWatts)
    return wrong(cat("--default-power is ", number(*power), " W, which no board draws: are the units mixed?"),
                 "mean power of the board, in W");
  if (limit && *power > kMostOverLimit * limit->value())
    return wrong(cat("--default-power is ", number(*power), " W, and the power limit of ", (*gpu)->name,
                     " goes to ", *limit, ": are the units mixed, or several boards added up?"),
                 "mean power of one board, in W");
  report.known.at_default = {.at = {}, .time = Seconds(*time), .energy = Watts(*power) * Seconds(*time)};
  for (const std::string& text : options.features)
    if (const Status added = add_feature(text, report); !added) return added;
  report.known.features.merge(predict::roofline_features(report.known.features));
  at = (*gpu)->settings;
  return {};
}

// Between settings of one workload there do not lie 100; between units of one quantity there lie 1000.
constexpr double kLargestSpan = 100.0;

/// A probe that the model cannot know anything of, or that is in other units than the default, is no probe.
Status probe_fits(const std::string& text, const predict::Observed& probe, const PredictionReport& report) {
  const auto bad = [&](const std::string& what, std::string hint) {
    return wrong(cat("--probe ", text, ": ", what), std::move(hint));
  };
  const auto knob_fits = [&](Knob knob, const auto& value, const auto& highest) -> Status {
    if (!value) return {};
    const auto& knobs = report.model->knobs;
    if (std::find(knobs.begin(), knobs.end(), knob) == knobs.end())
      return bad(cat("the model knows nothing of the ", name_of(knob)),
                 "it is one of other knobs; rubato model show lists them");
    if (highest && *value > *highest)
      return bad(cat("the ", name_of(knob), " of ", report.known.gpu, " goes to ", *highest),
                 "power limits in W, clocks in MHz");
    return {};
  };
  const auto& highest = report.known.highest;
  if (Status s = knob_fits(Knob::power_limit, probe.at.power_limit, highest.power_limit); !s) return s;
  if (Status s = knob_fits(Knob::sm_clock, probe.at.sm_clock, highest.sm_clock); !s) return s;
  if (Status s = knob_fits(Knob::memory_clock, probe.at.memory_clock, highest.memory_clock); !s) return s;
  const auto apart = [](double a, double b) { return a > b * kLargestSpan || b > a * kLargestSpan; };
  const predict::Observed& base = report.known.at_default;
  if (apart(probe.time.value(), base.time.value()))
    return bad(cat("time is ", number(probe.time.value()), " s, and ", number(base.time.value()),
                   " s at the default: are the units mixed?"),
               "time in s, of the same unit of work");
  if (apart(probe.power().value(), base.power().value()))
    return bad(cat("power is ", number(probe.power().value()), " W, and ", number(base.power().value()),
                   " W at the default: are the units mixed?"),
               "power in W");
  for (const predict::Observed& other : report.known.probes)
    if (other.at == probe.at)
      return bad("another probe is of this setting", "put repeats together as their mean");
  return {};
}

Status predicted(const Options& options, PredictionReport& report) {
  const bool typed = !options.default_time.empty() || !options.default_power.empty();
  const bool from = !options.table.empty() || !options.workload.empty();
  if (typed == from || (from && (options.table.empty() || options.workload.empty())) ||
      (typed && (options.default_time.empty() || options.default_power.empty())))
    return wrong("a prediction starts from the default setting of one workload",
                 "either --table FILE --workload NAME, or --default-time S --default-power W");
  std::vector<predict::KnobPoint> at;
  if (const Status known = from ? from_table(options, report, at) : from_words(options, report, at); !known)
    return known;
  if (const auto gpu = report.model->gpu(report.known.gpu); !gpu) return fail(gpu.error());
  for (const std::string& text : options.probes) {
    auto probe = parse_probe(text);
    if (!probe) return fail(probe.error());
    if (const Status fits = probe_fits(text, *probe, report); !fits) return fits;
    report.known.probes.push_back(*probe);
  }
  auto prediction = report.model->model->predict(report.known, at);
  if (!prediction) return fail(prediction.error());
  report.predicted = std::move(*prediction);
  return {};
}

int model_predict(Invocation& invocation, const Options& options) {
  const auto file = experiment::read_model_file(options.file);
  if (!file) return refuse(invocation, file.error());
  PredictionReport report{.path = options.file, .model = &*file, .workload = options.workload};
  if (const Status done = predicted(options, report); !done) return refuse(invocation, done.error());
  if (invocation.json) {
    fmt::print("{}", report::render_json(prediction_json(report)));
    return 0;
  }
  Page page(text_options(STDOUT_FILENO));
  say_prediction(page, report);
  fmt::print("{}", page.take());
  return 0;
}

}  // namespace

void add_model_predict(CLI::App& model, Invocation& invocation) {
  auto* command = model.add_subcommand("predict", "time and energy of a workload at other settings");
  static Options options;
  command->add_option("file", options.file, "the model file")->type_name("FILE")->required();
  command->add_option("--table", options.table, "a sweep table with the workload's default row")
      ->type_name("FILE");
  command
      ->add_option("--workload", options.workload, "which workload of the table; its other rows are not used")
      ->type_name("NAME");
  command->add_option("--default-time", options.default_time, "time of a unit of work at the default setting")
      ->type_name("S");
  command->add_option("--default-power", options.default_power, "mean board power there")->type_name("W");
  command->add_option("--gpu-name", options.gpu_name, "which of the model's GPUs (default: its only one)")
      ->type_name("NAME");
  command->add_option("--feature", options.features, "a counter at the default: dram_active=0.4 (repeatable)")
      ->type_name("NAME=VALUE");
  command
      ->add_option("--probe", options.probes,
                   "another measured setting: power-limit=150,time=12.5,power=140 (repeatable)")
      ->type_name("SETTING");
  command->add_flag("--json", invocation.json, "machine-readable output (rubato.prediction/1)");
  command->callback([&invocation] { model_predict(invocation, options); });
}

}  // namespace rubato::cli
