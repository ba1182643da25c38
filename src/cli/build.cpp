#include "cli/build.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <CLI/Version.hpp>

#include "base/text.h"
#include "cli/commit.h"
#include "cli/version.h"

namespace rubato::cli {

std::string build_text() {
  std::string out = cat("rubato ", kVersion, "\n");
  const auto row = [&out](std::string_view name, std::string_view value) {
    if (!value.empty()) out += cat("  ", name, std::string(11 - name.size(), ' '), value, "\n");
  };
  row("commit", kCommit);
  row("build", kBuild);
  row("libraries", cat("SQLite ", sqlite3_libversion(), ", CLI11 ", CLI11_VERSION, ", fmt ",
                       FMT_VERSION / 10000, ".", FMT_VERSION / 100 % 100, ".", FMT_VERSION % 100));
  row("licence", "Apache-2.0");
  out.pop_back();  // whoever prints it ends the line
  return out;
}

}  // namespace rubato::cli
