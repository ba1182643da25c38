// What a sweep has measured so far, on disk after every run, so that an interrupted one goes on where it was.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/sweep_measurement.h"

namespace rubato::experiment {

/// What makes two sweeps the same one, in the words that a person is shown; compared as they are written.
struct SweepIdentity {
  std::map<std::string, std::string> asked;  // "command" → "python3 train.py"
  /// What the control runs are made at: "power limit of GPU 0 (…)" → "140 W". What could not be read in one
  /// of two is not compared.
  std::map<std::string, std::string> found;
};

/// One file of JSON lines (docs/formats.md#sweep-state): what the sweep is, then a line for each measurement,
/// synced. A last line that a crash cut off does not count.
class SweepState {
 public:
  /// Begins the file, or goes on with the one that is there. conflict: that one belongs to another sweep, or
  /// the GPUs were found at another setting, and `what` says in which point; corrupt: it is no such file.
  /// Nothing is changed then.
  [[nodiscard]] static Result<SweepState> open(const std::filesystem::path& file,
                                               const SweepIdentity& identity);

  [[nodiscard]] const std::vector<SweepMeasurement>& measured() const { return measured_; }
  /// Of measurements to come: 0 in a new file, and one more each time it is opened again.
  [[nodiscard]] unsigned session() const { return session_; }
  [[nodiscard]] Status add(const SweepMeasurement& measurement);
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  explicit SweepState(std::filesystem::path file) : file_(std::move(file)) {}
  [[nodiscard]] Status append(const std::string& line) const;

  std::filesystem::path file_;
  std::vector<SweepMeasurement> measured_;
  unsigned session_ = 0;
};

/// What stands in `file`, without touching it; nothing where there is none. The same errors.
[[nodiscard]] Result<std::optional<std::vector<SweepMeasurement>>> peek_sweep_state(
    const std::filesystem::path& file, const SweepIdentity& identity);

}  // namespace rubato::experiment
