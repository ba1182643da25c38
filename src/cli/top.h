// `rubato top`: GPUs, runs and processes as they are now (cli/top/).
#pragma once

#include "cli/invocation.h"

namespace rubato::cli {

void add_top(CLI::App& app, Invocation& invocation);

}  // namespace rubato::cli
