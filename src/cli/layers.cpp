#include "cli/layers.h"

namespace rubato::cli {

void add_layers(CLI::App& app, Invocation& invocation) {
  auto* command =
      app.add_subcommand("layers", "what each layer of a network asks of the GPU, and clocks for it");
  command->require_subcommand(1);
  add_layers_show(*command, invocation);
  add_layers_plan(*command, invocation);
  add_layers_trace(*command, invocation);
}

}  // namespace rubato::cli
