#include "cli/hooks_reach.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"

namespace rubato::cli {
namespace {

using Words = std::vector<std::string>;

// Start what stands behind their own options, in the environment they have.
constexpr std::array<std::string_view, 25> kTransparent = {
    "nice",    "nohup", "setsid",   "time",       "timeout", "stdbuf", "ionice", "taskset", "numactl",
    "chrt",    "conda", "mamba",    "micromamba", "uv",      "poetry", "pipenv", "pixi",    "mpirun",
    "mpiexec", "prun",  "xvfb-run", "nsys",       "strace",  "gdb",    "rubato"};
constexpr std::array<std::string_view, 10> kContainers = {
    "docker", "podman",  "nerdctl", "apptainer", "singularity",
    "enroot", "shifter", "ch-run",  "udocker",   "nvidia-docker"};
constexpr std::array<std::string_view, 5> kOtherUsers = {"sudo", "doas", "su", "runuser", "pkexec"};
constexpr std::array<std::string_view, 3> kSlurm = {"srun", "sbatch", "salloc"};
constexpr std::array<std::string_view, 6> kPythonLaunchers = {"torchrun",   "accelerate", "deepspeed",
                                                              "horovodrun", "composer",   "ipython"};

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// python, python3, python3.11, pypy3
bool is_python(std::string_view name) {
  for (const std::string_view stem : {"python", "pypy"})
    if (name.starts_with(stem) &&
        name.find_first_not_of("0123456789.", stem.size()) == std::string_view::npos)
      return true;
  return false;
}

bool is_known(std::string_view word) {
  const std::string_view name = base_name(word);
  return name == "env" || is_python(name) || is_one_of(name, kTransparent) || is_one_of(name, kContainers) ||
         is_one_of(name, kOtherUsers) || is_one_of(name, kSlurm) || is_one_of(name, kPythonLaunchers) ||
         name.ends_with(".py");
}

/// What an option of Python keeps it from, and nothing where it does not.
std::optional<std::string> python_refuses(const Words& words, std::size_t at) {
  for (std::size_t i = at + 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-') return std::nullopt;
    if (word[1] == '-') {
      if (word == "--check-hash-based-pycs") ++i;
      continue;
    }
    for (std::size_t c = 1; c < word.size(); ++c) {
      if (word[c] == 'I' || word[c] == 'E')
        return cat("`", base_name(words[at]), " -", word[c], "` does not look at PYTHONPATH");
      if (word[c] == 'S') return cat("`", base_name(words[at]), " -S` does not look for sitecustomize");
      if (word[c] == 'c' || word[c] == 'm') return std::nullopt;  // the rest is the program and its own
      if (word[c] == 'W' || word[c] == 'X') {
        if (c + 1 == word.size()) ++i;
        break;
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> slurm_refuses(const Words& words, std::size_t at) {
  constexpr std::string_view kExport = "--export";
  for (std::size_t i = at + 1; i < words.size() && !is_known(words[i]); ++i) {
    if (!words[i].starts_with(kExport)) continue;
    std::string list;
    if (words[i] == kExport && i + 1 < words.size())
      list = words[i + 1];
    else if (words[i].starts_with("--export="))
      list = words[i].substr(kExport.size() + 1);
    else
      continue;  // --export-file
    for (const std::string& name : split(list, ','))
      if (name == "ALL" || name == "PYTHONPATH") return std::nullopt;
    return cat("`", base_name(words[at]), " --export=", list, "` does not pass PYTHONPATH on");
  }
  return std::nullopt;
}

/// Position of the program `env` starts, or why it gets no PYTHONPATH.
std::optional<std::string> env_refuses(const Words& words, std::size_t& at) {
  for (++at; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "-i" || word == "-" || word == "--ignore-environment")
      return "`env -i` empties the environment";
    const bool unset = word == "-u" || word == "--unset";
    if ((unset && at + 1 < words.size() && words[at + 1] == "PYTHONPATH") || word == "-uPYTHONPATH" ||
        word == "--unset=PYTHONPATH" || word == "PYTHONPATH=")
      return "`env` takes PYTHONPATH away";
    if (word.starts_with("PYTHONPATH=")) return "`env` sets PYTHONPATH anew";
    if (unset || word == "-C" || word == "--chdir")
      ++at;
    else if (!word.starts_with('-') && word.find('=') == std::string::npos)
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

HooksReach hooks_reach(const Words& command) {
  std::size_t at = 0;
  while (at < command.size()) {
    const std::string_view name = base_name(command[at]);
    if (is_python(name)) return {true, python_refuses(command, at)};
    if (is_one_of(name, kPythonLaunchers) || name.ends_with(".py")) return {true, std::nullopt};
    if (is_one_of(name, kContainers))
      return {false, cat("`", name, "` starts the job in a container, where rubato's files are not")};
    if (is_one_of(name, kOtherUsers))
      return {false, cat("`", name, "` starts the job in an environment without PYTHONPATH")};
    if (is_one_of(name, kSlurm))
      if (auto why = slurm_refuses(command, at)) return {false, std::move(why)};
    if (name == "env") {
      if (auto why = env_refuses(command, at)) return {false, std::move(why)};
      continue;
    }
    if (!is_one_of(name, kSlurm) && !is_one_of(name, kTransparent)) return {};
    const auto next =
        std::find_if(command.begin() + static_cast<std::ptrdiff_t>(at) + 1, command.end(), is_known);
    at = static_cast<std::size_t>(next - command.begin());
  }
  return {};
}

}  // namespace rubato::cli
