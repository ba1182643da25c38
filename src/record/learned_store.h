// The setting a program settled at, kept for its next run: one small JSON file per program, kind of GPU and
// driver (docs/formats.md#learned-settings). What stands in it is a first guess, never trusted unverified.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/setting.h"

namespace rubato::record {

struct LearnedKey {
  std::string program;  // program_key()
  std::string gpu;      // by the driver's name
  std::string driver_version;
};

struct LearnedSetting {
  Setting setting;
  double time_ratio = 1;  // per iteration, over the found setting's
  double energy_ratio = 1;
  std::map<std::string, double> features;  // at the found setting, by the names of sweep tables
  std::string learned_on;                  // "2026-11-21", for people
  std::string run_id;
};

/// What tells one program from another: its words, those that name files by where these lie. Other arguments
/// or another script are another program. No word of the command can be read from it.
[[nodiscard]] std::string program_key(const std::vector<std::string>& command,
                                      const std::filesystem::path& working_folder);

/// The folder that belongs to the records in `runs`.
[[nodiscard]] std::filesystem::path learned_folder_beside(const std::filesystem::path& runs);

/// Errors: not_found; corrupt, for a file that does not hold what its name says.
[[nodiscard]] Result<LearnedSetting> load_learned(const std::filesystem::path& folder, const LearnedKey& key);
/// Replaces the file at once, or leaves it as it was; 0600.
[[nodiscard]] Status save_learned(const std::filesystem::path& folder, const LearnedKey& key,
                                  const LearnedSetting& learned);

}  // namespace rubato::record
