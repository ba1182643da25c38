// `rubato model train`: a table becomes a model file.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <ctime>

#include "cli/model.h"
#include "cli/model_options.h"
#include "cli/output_file.h"
#include "cli/print_run.h"
#include "cli/progress_line.h"
#include "cli/report/model_report.h"
#include "core/sweep_table_csv.h"
#include "report/render.h"

namespace rubato::cli {
namespace {

struct Options {
  std::string table;
  std::vector<std::string> knobs;
  std::string model{predict::learner_names().front()};
  std::string out;
  bool force = false;
};

Result<experiment::ModelFile> trained(const Options& options, bool quiet) {
  const auto learner = predict::find_learner(options.model);
  if (!learner) return fail(learner.error());
  auto knobs = parse_knobs(options.knobs);
  if (!knobs) return fail(knobs.error());
  const auto table = read_sweep_table(options.table);
  if (!table) return fail(table.error());
  ProgressLine line(quiet);
  return experiment::train_model(
      *table, {.learner = *learner,
               .knobs = std::move(*knobs),
               .date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))),
               .progress = [&line](std::size_t done, std::size_t all) { line.show(done, all, "models"); }});
}

int model_train(Invocation& invocation, const Options& options) {
  if (options.out == "-" && invocation.json)
    return refuse(invocation, Error{ErrorCode::invalid_argument,
                                    "the model and --json both want standard output", "-o FILE"});
  // Opened first: what cannot be written is found before the work is done.
  auto file = OutputFile::open(options.out, options.force);
  if (!file) return refuse(invocation, file.error());
  const auto model = trained(options, invocation.quiet);
  if (!model) return refuse(invocation, model.error());
  if (const Status written = file->write(experiment::write_model_file(*model)); !written)
    return refuse(invocation, written.error(), 1);
  if (const Status done = file->finish(); !done) return refuse(invocation, done.error(), 1);
  if (options.out == "-") return 0;
  if (invocation.json) {
    fmt::print("{}", report::render_json(model_json(options.out, *model)));
    return 0;
  }
  Page page(text_options(STDOUT_FILENO));
  say_model(page, options.out, *model);
  fmt::print("{}", page.take());
  return 0;
}

}  // namespace

void add_model_train(CLI::App& model, Invocation& invocation) {
  auto* command = model.add_subcommand("train", "learn a model from a sweep table and write it to a file");
  static Options options;
  command->add_option("--table", options.table, "the sweep table to learn from")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--knobs", options.knobs, "what the model predicts: power-limit, sm-clock, memory-clock")
      ->type_name("LIST")
      ->delimiter(',')
      ->required();
  std::string names;
  for (const std::string_view name : predict::learner_names()) names += cat(names.empty() ? "" : ", ", name);
  command->add_option("--model", options.model, cat("which model: ", names))
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--out,-o", options.out, "the file to write, - for standard output")
      ->type_name("FILE")
      ->required();
  command->add_flag("--force", options.force, "replace the file where it is there");
  command->add_flag("--json", invocation.json, "machine-readable output (rubato.model_info/1)");
  command->callback([&invocation] { model_train(invocation, options); });
}

}  // namespace rubato::cli
