#include "cli/model.h"

namespace rubato::cli {

void add_model(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("model", "models that predict what other settings would cost");
  command->require_subcommand(1);
  add_model_train(*command, invocation);
  add_model_validate(*command, invocation);
  add_model_show(*command, invocation);
  add_model_predict(*command, invocation);
}

}  // namespace rubato::cli
