#include "cli/hooks.h"

#include <array>
#include <fstream>

#include "base/text.h"
#include "cli/hooks_reach.h"
#include "report/layout.h"

namespace rubato::cli {
namespace fs = std::filesystem;
namespace {

using Environment = std::map<std::string, std::string>;

constexpr std::size_t kLongestReason = 300;
constexpr const char* kPythonPath = "PYTHONPATH";
constexpr const char* kInjection = "CUDA_INJECTION64_PATH";
constexpr const char* kRangeInjection =
    "NVTX_INJECTION64_PATH";  // names layers; not worth a word where taken

std::string value_of(const Environment& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

/// The first of `places`, beside the program's folder, in which `file` lies.
std::optional<fs::path> beside(const fs::path& program, const std::vector<std::string>& places,
                               const std::string& file) {
  std::error_code ignored;
  for (const std::string& place : places) {
    const fs::path folder = (program.parent_path() / place).lexically_normal();
    if (fs::exists(folder / file, ignored)) return folder;
  }
  return std::nullopt;
}

void add_python(HookPlan& plan, const Environment& environment, const fs::path& program) {
  // Installed, and in a build folder inside the source tree.
  const auto folder =
      beside(program, {"../share/rubato/python/inject", "../share/rubato/python", "../../../python/inject"},
             "sitecustomize.py");
  if (!folder) {
    plan.not_installed = cat("rubato's Python hooks are not installed beside ", program.string(),
                             ": epochs and iterations of Python programs are not marked");
    return;
  }
  const std::string old = value_of(environment, kPythonPath);
  const std::string ours = folder->string();
  const bool there = old == ours || old.starts_with(ours + ":");
  plan.environment.emplace_back(kPythonPath, there ? old : old.empty() ? ours : cat(ours, ":", old));
}

/// The line that _inject.py left; empty without one. The folder is open to the job: its text is cut and kept
/// to a line.
std::string told_by_hooks(const fs::path& marks) {
  std::array<char, 512> text{};
  std::error_code ignored;
  if (!fs::is_regular_file(fs::symlink_status(marks / "hooks.failed", ignored))) return {};
  std::ifstream(marks / "hooks.failed").read(text.data(), text.size() - 1);
  const std::string line(text.data());
  return report::cut(trim(line.substr(0, line.find('\n'))), kLongestReason);
}

void add_kernels(HookPlan& plan, const std::string& cycle, const Environment& environment,
                 const fs::path& program) {
  constexpr const char* kLibrary = "librubato-inject.so";
  plan.environment.emplace_back("RUBATO_KERNELS", cycle);
  if (const std::string holder = value_of(environment, kInjection); !holder.empty()) {
    plan.notes.push_back(cat("kernels of CUDA programs are not recorded: ", kInjection, " is ", holder,
                             " already; unset it to let rubato record them"));
    return;
  }
  if (const auto folder = beside(program, {"../lib/rubato"}, kLibrary)) {
    plan.environment.emplace_back(kInjection, (*folder / kLibrary).string());
    if (value_of(environment, kRangeInjection).empty())
      plan.environment.emplace_back(kRangeInjection, (*folder / kLibrary).string());
  } else
    plan.notes.push_back(cat("kernels of CUDA programs are not recorded: ", kLibrary,
                             " is not installed beside ", program.string()));
}

}  // namespace

HookPlan plan_hooks(const HookWishes& wishes, const std::vector<std::string>& command,
                    const Environment& environment, const fs::path& program) {
  HookPlan plan;
  if (wishes.python && value_of(environment, "RUBATO_HOOKS") != "off") {
    const HooksReach reach = hooks_reach(command);
    if (reach.why_not)
      plan.notes.push_back(cat("rubato's Python hooks cannot be active: ", *reach.why_not,
                               "; epochs and iterations are not marked"));
    add_python(plan, environment, program);
    plan.python_expected = reach.python && !reach.why_not && !plan.environment.empty();
  }
  if (wishes.kernels) add_kernels(plan, *wishes.kernels, environment, program);
  return plan;
}

std::string no_hook_came(const fs::path& marks) {
  const std::string failed = told_by_hooks(marks);
  return cat(
      "no hook was active: ",
      failed.empty() ? "the job imported no framework that rubato knows, or its Python looks at no PYTHONPATH"
                     : cat("rubato's own Python hooks could not be started (", failed,
                           "; RUBATO_HOOKS_LOG=FILE has more)"),
      "; epochs are not in the report, iterations only where they were found otherwise (docs/hooks.md)");
}

}  // namespace rubato::cli
