// `rubato model show`: what a model file holds.
#include <fmt/format.h>
#include <unistd.h>

#include "cli/model.h"
#include "cli/print_run.h"
#include "cli/report/model_report.h"
#include "report/render.h"

namespace rubato::cli {

void add_model_show(CLI::App& model, Invocation& invocation) {
  auto* command =
      model.add_subcommand("show", "what a model file holds: of which GPUs, from which data, how sure");
  static std::string path;
  command->add_option("file", path, "the model file")->type_name("FILE")->required();
  command->add_flag("--json", invocation.json, "machine-readable output (rubato.model_info/1)");
  command->callback([&invocation] {
    const auto file = experiment::read_model_file(path);
    if (!file) {
      refuse(invocation, file.error());
      return;
    }
    if (invocation.json) {
      fmt::print("{}", report::render_json(model_json(path, *file)));
      return;
    }
    Page page(text_options(STDOUT_FILENO));
    say_model(page, path, *file);
    fmt::print("{}", page.take());
  });
}

}  // namespace rubato::cli
