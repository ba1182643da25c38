#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "cli/invocation.h"
#include "cli/output_file.h"
#include "core/sweep_table_csv.h"
#include "core/sweep_workloads.h"
#include "experiment/import/formats.h"
#include "report/render.h"

namespace rubato::cli {
namespace {

constexpr std::uintmax_t kLargestFile = 64U << 20U;

struct Options {
  std::string format;
  std::vector<std::string> files;
  std::string output = "-";
  bool force = false;
  experiment::ImportWishes wishes;
};

Result<experiment::ForeignFile> read_file(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return fail(ErrorCode::not_found, cat("cannot read ", path, ": ", error.message()));
  if (size > kLargestFile)
    return fail(ErrorCode::invalid_argument,
                cat(path, " has ", size, " bytes; at most ", kLargestFile, " are read"));
  experiment::ForeignFile file{path, std::string(size, '\0')};
  std::ifstream in(path, std::ios::binary);
  in.read(file.text.data(), static_cast<std::streamsize>(size));
  if (!in) return fail(ErrorCode::io, cat("cannot read ", path));
  return file;
}

Status import(const Invocation& invocation, const Options& options) {
  if (options.output == "-" && invocation.json)
    return fail(ErrorCode::invalid_argument, "the table and --json both want standard output", "-o FILE");
  std::vector<experiment::ForeignFile> files;
  for (const std::string& path : options.files) {
    auto file = read_file(path);
    if (!file) return fail(file.error());
    files.push_back(std::move(*file));
  }
  const auto table = experiment::import_files(options.format, files, options.wishes);
  if (!table) return fail(table.error());
  const auto text = write_sweep_table(*table);
  if (!text) return fail(text.error());
  if (const Status written =
          write_file(options.output, options.force, [&](report::Sink& to) { return to.write(*text); });
      !written)
    return written;
  if (options.output == "-") return {};
  const auto workloads = workloads_of(*table);
  const std::size_t count = workloads ? workloads->size() : 0;
  if (invocation.json)
    fmt::print("{}", report::render_json(report::Object{{"schema", "rubato.import/1"},
                                                        {"format", options.format},
                                                        {"output", options.output},
                                                        {"settings", table->rows.size()},
                                                        {"workloads", count}}));
  else
    log::info(cat(table->rows.size(), " settings of ", count, " workloads are in ", options.output));
  return {};
}

}  // namespace

void add_import(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("import", "sweeps and recordings of other tools as a sweep table");
  static Options options;
  std::vector<std::string> names;
  std::string footer = "Formats:";
  for (const auto& format : experiment::import_formats()) {
    names.emplace_back(format.name);
    footer += cat("\n  ", format.name, std::string(16 - format.name.size(), ' '), format.what);
  }
  command->add_option("format", options.format, "which tool's format")
      ->type_name("FORMAT")
      ->required()
      ->check(CLI::IsMember(names));
  command->add_option("files", options.files, "one table is made of all")->type_name("FILE")->required();
  command->add_option("-o,--output", options.output, "write the table to FILE instead of standard output")
      ->type_name("FILE");
  command->add_flag("--force", options.force, "overwrite FILE");
  command->add_option("--gpu-name", options.wishes.gpu, "what the GPU is called, where the files do not say")
      ->type_name("NAME");
  command->add_option("--workload", options.wishes.workload, "what the workload is called")
      ->type_name("NAME");
  command
      ->add_option("--gpu-count", options.wishes.gpu_count,
                   "zeus-profile: how many GPUs' energy the file adds up")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", invocation.json, "what was written, with -o FILE (rubato.import/1)");
  command->add_flag("--quiet,-q", invocation.quiet, "errors only");
  command->footer(footer);
  command->callback([&invocation] {
    if (invocation.quiet) log::set_level(log::Level::error);
    if (const Status done = import(invocation, options); !done) refuse(invocation, done.error());
  });
}

}  // namespace rubato::cli
