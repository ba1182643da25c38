// The SPANK plugin (spank(8)): `srun --rubato=…`, `sbatch --rubato=…`, `#SBATCH --rubato=…`, `salloc
// --rubato=…`.
//
// Where it was typed the option is checked. On the node, in each task of a step, the task's command is
// replaced by rubato-slurm-task, which runs the command under `rubato run`; everything Slurm does between
// this call and the task's execve (task prologs, TMPDIR, the user's limits) stands. Which of a node's tasks
// governs which GPU is for `rubato run` itself to say (src/cli/leadership.h): one of them per GPU, the others
// pass.
//
// Whatever goes wrong here, the job runs as it would without rubato.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <optional>
#include <string>

#include "options.h"
#include "report_folder.h"
#include "task_words.h"

// Whose own marks for C++ leave the hooks out.
extern "C" {
#include <slurm/slurm.h>
#include <slurm/spank.h>
}

#define RUBATO_SPANK extern "C" __attribute__((visibility("default")))

// What the macro SPANK_PLUGIN makes, which is C. The names are Slurm's.
// NOLINTBEGIN(readability-identifier-naming)
RUBATO_SPANK const char plugin_name[] = "rubato";
RUBATO_SPANK const char plugin_type[] = "spank";
RUBATO_SPANK const unsigned int plugin_version = SLURM_VERSION_NUMBER;
RUBATO_SPANK const unsigned int spank_plugin_version = 1;
// NOLINTEND(readability-identifier-naming)

// In every program of Slurm's that loads plugins; not promised, so asked for first.
extern "C" __attribute__((weak)) int slurm_get_end_time(uint32_t jobid, time_t* end_time_ptr);

namespace {

using rubato::slurm::Options;

std::optional<std::string> wanted;  // what stands after --rubato; absent: nobody wrote it
bool whole_nodes = false;           // of plugstack.conf: Slurm counts no GPUs here
std::string our_step;               // in srun: "JOB.STEP", which Slurm does not tell any more at its end
std::string by_default;             // of plugstack.conf; empty: jobs that do not ask are left alone

int option_given(int /*val*/, const char* text, int remote) noexcept try {
  // What was checked where it was typed arrives on the node as text again, "(null)" where there was none.
  const std::string value = text == nullptr || std::strcmp(text, "(null)") == 0 ? "" : text;
  const auto parsed = rubato::slurm::parse_options(value);
  if (!parsed.error.empty()) {
    slurm_error("rubato: --rubato: %s", parsed.error.c_str());
    return remote != 0 ? 0 : -1;
  }
  wanted = value;
  return 0;
} catch (const std::exception& error) {
  slurm_error("rubato: --rubato: %s", error.what());
  return remote != 0 ? 0 : -1;
}

/// Absent: the job is left alone.
std::optional<Options> options_of_job() {
  const std::optional<std::string> text = wanted               ? wanted
                                          : by_default.empty() ? std::nullopt
                                                               : std::optional(by_default);
  if (!text) return std::nullopt;
  const auto parsed = rubato::slurm::parse_options(*text);
  if (!parsed.error.empty() || parsed.options.mode == Options::Mode::off) return std::nullopt;
  return parsed.options;
}

/// In the folder this plugin lies in; empty where it is not there.
std::string beside_us(const char* name) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&plugin_type), &info) == 0 || info.dli_fname == nullptr) return {};
  std::string path(info.dli_fname);
  path.resize(path.find_last_of('/') + 1);
  path += name;
  return access(path.c_str(), X_OK) == 0 ? path : std::string();
}

std::optional<uint32_t> item(spank_t spank, spank_item_t which) {
  uint32_t value = 0;
  if (spank_get_item(spank, which, &value) != ESPANK_SUCCESS) return std::nullopt;
  return value;
}

/// When the allocation ends, in seconds of Unix time. One question to slurmctld.
std::optional<std::string> end_of_job(spank_t spank) {
  const auto job = item(spank, S_JOB_ID);
  time_t end = 0;
  if (!job || slurm_get_end_time == nullptr || slurm_get_end_time(*job, &end) != 0 ||
      end <= std::time(nullptr))
    return std::nullopt;
  return std::to_string(end);
}

/// The first word of a task's command, in the array that slurmstepd will run it from.
bool replace_command(spank_t spank, const std::string& by) {
  int count = 0;
  char** words = nullptr;
  if (spank_get_item(spank, S_JOB_ARGV, &count, &words) != ESPANK_SUCCESS || count < 1 || words == nullptr ||
      words[0] == nullptr)
    return false;
  const std::string command = words[0];
  // With --multi-prog it is a list of commands, which Slurm has read already.
  if (command.find('/') != std::string::npos && access(command.c_str(), X_OK) != 0) return false;
  if (spank_setenv(spank, rubato::slurm::kCommandVariable, command.c_str(), 1) != ESPANK_SUCCESS)
    return false;
  static std::string ours;  // outlives this call: the process becomes the task in a moment
  ours = by;
  char* before = words[0];
  words[0] = ours.data();
  char** again = nullptr;
  if (spank_get_item(spank, S_JOB_ARGV, &count, &again) == ESPANK_SUCCESS && again == words) return true;
  words[0] = before;
  return false;
}

int task_init(spank_t spank) {
  const auto options = options_of_job();
  const auto step = item(spank, S_JOB_STEPID);
  if (!options || !step) return 0;
  const bool batch = *step == SLURM_BATCH_SCRIPT;
  // Neither the step that holds connections nor the shell of `salloc`.
  if (!batch && *step >= SLURM_INTERACTIVE_STEP) return 0;
  if (batch != options->batch) return 0;
  const std::string task = beside_us("rubato-slurm-task");
  if (task.empty()) {
    slurm_error("rubato: there is no rubato-slurm-task beside the plugin: the task runs without rubato");
    return 0;
  }
  const std::string text = wanted ? *wanted : by_default;
  if (whole_nodes) spank_setenv(spank, rubato::slurm::kWholeNodesVariable, "1", 1);
  if (spank_setenv(spank, rubato::slurm::kOptionsVariable, text.c_str(), 1) == ESPANK_SUCCESS &&
      replace_command(spank, task))
    return 0;
  spank_unsetenv(spank, rubato::slurm::kOptionsVariable);
  spank_unsetenv(spank, rubato::slurm::kCommandVariable);
  spank_unsetenv(spank, rubato::slurm::kWholeNodesVariable);
  slurm_error(
      "rubato: the command of this task cannot be put under `rubato run` (--multi-prog, or a Slurm that does "
      "not let "
      "it be changed): it runs without; write `rubato run … --` before it");
  return 0;
}

/// Waits for `path` with these words; what it prints is srun's own output.
void run_and_wait(const std::string& path, const char* first, const char* second) {
  const pid_t child = fork();
  if (child == 0) {
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execl(path.c_str(), path.c_str(), first, second, static_cast<char*>(nullptr));
    _exit(127);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

/// "JOB.STEP" of the step that this srun starts; empty: none, or no tasks of it are governed.
std::string step_of_srun(spank_t spank) {
  const auto options = options_of_job();
  const auto job = item(spank, S_JOB_ID);
  const auto step = item(spank, S_JOB_STEPID);
  if (!options || options->batch || !job || !step || *step >= SLURM_INTERACTIVE_STEP) return {};
  return std::to_string(*job) + "." + std::to_string(*step);
}

}  // namespace

RUBATO_SPANK int slurm_spank_init(spank_t spank, int count, char** words) {
  try {
    for (int i = 0; i < count; ++i) {
      const std::string word = words[i];
      if (word == "whole-nodes") {
        whole_nodes = true;
        continue;
      }
      constexpr const char* kDefault = "default=";
      const bool known = word.starts_with(kDefault);
      const auto parsed = rubato::slurm::parse_options(known ? word.substr(std::strlen(kDefault)) : "");
      if (!known || !parsed.error.empty()) {
        slurm_error("rubato: plugstack.conf: '%s': %s", word.c_str(),
                    known ? parsed.error.c_str() : "only default=OPTIONS and whole-nodes are known");
        continue;
      }
      by_default = word.substr(std::strlen(kDefault));
    }
    static std::string usage;
    usage =
        "lower the energy of GPU training, as `rubato run` does; OPTIONS: " + rubato::slurm::known_options();
    static char name[] = "rubato";
    static char value[] = "OPTIONS";
    constexpr int kOptionalValue = 2;
    static spank_option option{};
    option = {name, value, usage.data(), kOptionalValue, 0, option_given};
    if (spank_option_register(spank, &option) != ESPANK_SUCCESS)
      slurm_error("rubato: the option --rubato cannot be registered");
  } catch (const std::exception& error) {
    slurm_error("rubato: %s", error.what());
  }
  return 0;
}

/// In srun, which gives its environment to the tasks: one question to slurmctld for a step of any size.
RUBATO_SPANK int slurm_spank_local_user_init(spank_t spank, int /*count*/, char** /*words*/) {
  try {
    our_step = step_of_srun(spank);
    if (!our_step.empty()) rubato::slurm::forget_reports(our_step);
    if (options_of_job())
      if (const auto end = end_of_job(spank)) setenv(rubato::slurm::kEndVariable, end->c_str(), 1);
  } catch (const std::exception& error) {
    slurm_error("rubato: %s", error.what());
  }
  return 0;
}

/// On the node, of a batch script, which no srun starts.
RUBATO_SPANK int slurm_spank_user_init(spank_t spank, int /*count*/, char** /*words*/) {
  try {
    const auto options = options_of_job();
    if (options && options->batch && item(spank, S_JOB_STEPID) == SLURM_BATCH_SCRIPT)
      if (const auto end = end_of_job(spank))
        spank_setenv(spank, rubato::slurm::kEndVariable, end->c_str(), 1);
  } catch (const std::exception& error) {
    slurm_error("rubato: %s", error.what());
  }
  return 0;
}

RUBATO_SPANK int slurm_spank_task_init(spank_t spank, int /*count*/, char** /*words*/) {
  try {
    return task_init(spank);
  } catch (const std::exception& error) {
    slurm_error("rubato: %s", error.what());
    return 0;
  }
}

/// In srun, when the step is over.
RUBATO_SPANK int slurm_spank_exit(spank_t /*spank*/, int /*count*/, char** /*words*/) {
  try {
    const std::string program = our_step.empty() ? std::string() : beside_us("rubato-slurm");
    if (!program.empty()) run_and_wait(program, "report", our_step.c_str());
  } catch (const std::exception& error) {
    slurm_error("rubato: %s", error.what());
  }
  return 0;
}
