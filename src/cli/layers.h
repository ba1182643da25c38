// The subcommands of `rubato layers`: each adds itself to the group.
#pragma once

#include "cli/invocation.h"

namespace rubato::cli {

void add_layers_show(CLI::App& group, Invocation& invocation);
void add_layers_plan(CLI::App& group, Invocation& invocation);
void add_layers_trace(CLI::App& group, Invocation& invocation);

}  // namespace rubato::cli
