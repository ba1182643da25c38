// What a user writes after --rubato, and the words of `rubato run` that it stands for. Read twice: by the
// SPANK plugin where it was typed, so that a mistake is told there, and by rubato-slurm-task on the node.
// Loaded into Slurm's own programs, so it needs nothing of rubato's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rubato::slurm {

struct Options {
  enum class Mode {
    off,      // the job is left alone
    measure,  // `rubato measure`
    run,      // `rubato run`
  };
  Mode mode = Mode::run;
  bool batch = false;              // the batch script as a whole, in the place of the steps in it
  std::vector<std::string> words;  // what stands between `rubato run` and `--`
};

struct Parsed {
  Options options;
  std::string error;  // empty: fine. A sentence that begins with what is wrong
};

/// "max-slowdown=5%,knobs=power-limit+sm-clock"; empty: `rubato run` as it is. Every item is checked as far
/// as it can be without the GPUs of the job.
[[nodiscard]] Parsed parse_options(std::string_view text);

/// "max-slowdown=5%, objective=energy, …": for --help and errors.
[[nodiscard]] std::string known_options();

}  // namespace rubato::slurm
