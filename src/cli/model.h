// `rubato model`: one file for each of its subcommands.
#pragma once

#include "cli/invocation.h"

namespace rubato::cli {

void add_model_predict(CLI::App& model, Invocation& invocation);
void add_model_show(CLI::App& model, Invocation& invocation);
void add_model_train(CLI::App& model, Invocation& invocation);
void add_model_validate(CLI::App& model, Invocation& invocation);

}  // namespace rubato::cli
