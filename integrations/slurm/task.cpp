// rubato-slurm-task: what a task of a governed step runs in the place of its command (spank.cpp). Becomes
// `rubato run OPTIONS -- COMMAND ARGUMENTS`, and where that cannot be, COMMAND itself.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "options.h"
#include "report_folder.h"
#include "task_words.h"

namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  all.reserve(words.size() + 1);
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

bool has_gpus() {
  const std::string visible = variable("CUDA_VISIBLE_DEVICES");
  if (visible == "NoDevFiles") return false;
  return !visible.empty() || !variable("SLURM_STEP_GPUS").empty() || !variable("SLURM_JOB_GPUS").empty();
}

/// As installed and as built: lib/rubato/rubato-slurm-task, bin/rubato. Else whichever is in PATH.
std::string rubato_program() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path beside = self.parent_path().parent_path().parent_path() / "bin" / "rubato";
  return !error && access(beside.c_str(), X_OK) == 0 ? beside.string() : "rubato";
}

/// Empty where it cannot be written: then the task's own standard error has the report.
std::string report_file() {
  const std::string job = variable("SLURM_JOB_ID");
  const std::string step = variable("SLURM_STEP_ID");
  const std::string node = variable("SLURMD_NODENAME");
  if (job.empty() || step.empty() || node.empty()) return {};
  const fs::path folder = rubato::slurm::report_folder(job + "." + step);
  if (folder.empty()) return {};
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  // The command lines in it are nobody else's business.
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return {};
  if (access(folder.c_str(), W_OK) != 0) return {};
  return (folder / (node + "." + variable("SLURM_LOCALID") + ".json")).string();
}

/// A batch script has no srun that could put reports together.
std::vector<std::string> words_of_rubato(const rubato::slurm::Options& options) {
  const bool measures = options.mode == rubato::slurm::Options::Mode::measure;
  std::vector<std::string> words{rubato_program(), measures ? "measure" : "run"};
  words.insert(words.end(), options.words.begin(), options.words.end());
  const std::string report = options.batch ? std::string() : report_file();
  if (!report.empty()) words.insert(words.end(), {"--json", "--report", report});
  words.emplace_back("--");
  return words;
}

}  // namespace

int main(int /*argc*/, char** argv) {
  std::string command = variable(rubato::slurm::kCommandVariable);
  const auto parsed = rubato::slurm::parse_options(variable(rubato::slurm::kOptionsVariable));
  unsetenv(rubato::slurm::kCommandVariable);
  unsetenv(rubato::slurm::kOptionsVariable);
  const bool whole_nodes = !variable(rubato::slurm::kWholeNodesVariable).empty();
  unsetenv(rubato::slurm::kWholeNodesVariable);
  if (command.empty()) {
    std::fprintf(stderr, "rubato-slurm-task: started by Slurm's rubato plugin only (docs/slurm.md)\n");
    return 2;
  }
  std::vector<std::string> own{command};
  for (char** word = argv + 1; *word != nullptr; ++word) own.emplace_back(*word);

  const bool governed = parsed.error.empty() && parsed.options.mode != rubato::slurm::Options::Mode::off;
  if (governed && (whole_nodes || has_gpus())) {
    std::vector<std::string> words = words_of_rubato(parsed.options);
    words.insert(words.end(), own.begin(), own.end());
    execvp(words.front().c_str(), pointers(words).data());
    std::fprintf(stderr, "rubato: warning: %s cannot be started (%s): the task runs without it\n",
                 words.front().c_str(), std::strerror(errno));
  }
  execvp(command.c_str(), pointers(own).data());
  const int why = errno;
  std::fprintf(stderr, "%s: %s\n", command.c_str(), std::strerror(why));
  return why == ENOENT ? 127 : 126;
}
