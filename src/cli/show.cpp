#include <fmt/format.h>
#include <unistd.h>

#include "cli/factor_options.h"
#include "cli/invocation.h"
#include "cli/print_run.h"
#include "cli/records.h"
#include "cli/report/run_report.h"

namespace rubato::cli {
namespace {

struct Options {
  std::string run = "last";
  bool forecast = false;
  FactorOptions factors;
};

int show_forecast(Invocation& invocation, const std::filesystem::path& file,
                  const analyse::Factors& factors) {
  const auto run = record::read_run(file);
  if (!run) return refuse(invocation, run.error(), 1);
  const auto forecast = analyse::forecast_of(*run, factors);
  if (!forecast) return refuse(invocation, forecast.error(), 1);
  fmt::print("{}\n", forecast_text(*forecast, factors));
  return 0;
}

void show(Invocation& invocation, const Options& options) {
  const auto factors = options.factors.factors();
  if (!factors) {
    refuse(invocation, factors.error());
    return;
  }
  const auto file = find_record(options.run);
  if (!file) {
    refuse(invocation, file.error(), 1);
    return;
  }
  if (options.forecast) {
    show_forecast(invocation, *file, *factors);
    return;
  }
  const auto report = run_report(*file, invocation.json, text_options(STDOUT_FILENO), *factors);
  if (!report) {
    refuse(invocation, report.error(), 1);
    return;
  }
  fmt::print("{}", *report);
}

}  // namespace

void add_show(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("show", "the report of one run");
  static Options options;
  command->add_option("run", options.run, "a run id, the beginning of one, `last`, or a record file")
      ->type_name("RUN")
      ->capture_default_str();
  command->add_flag("--json", invocation.json, "machine-readable output (rubato.run/1)");
  command->add_flag("--forecast", options.forecast,
                    "only what the whole training will take, from its epochs so far");
  add_factor_options(*command, options.factors);
  command->callback([&invocation] { show(invocation, options); });
}

}  // namespace rubato::cli
