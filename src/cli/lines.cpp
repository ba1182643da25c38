#include "cli/lines.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/print_run.h"
#include "report/layout.h"

namespace rubato::cli {

void print_line(std::string_view first, std::string_view text) {
  if (::isatty(STDOUT_FILENO) == 1)
    fmt::print("{}", report::wrapped(text, first, text_options(STDOUT_FILENO).width));
  else
    fmt::print("{}{}\n", first, text);
}

}  // namespace rubato::cli
