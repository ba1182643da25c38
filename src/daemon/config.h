// rubatod's configuration file, TOML, root's own. docs/daemon.md.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "daemon/rules.h"

namespace rubato::daemon {

struct Config {
  Rules rules;
  std::string gpus;                   // as after --gpu: "0,1", UUIDs; empty: all
  std::filesystem::path socket{};     // empty: rubatod.sock beside the journals
  std::filesystem::path audit_log{};  // empty: standard error
  std::filesystem::path disable_file = "/etc/rubato/disable";
};

/// Who is called so; asked once, when the file is read.
struct Names {
  std::function<std::optional<uid_t>(const std::string&)> user;
  std::function<std::optional<gid_t>(const std::string&)> group;
};
[[nodiscard]] Names names_of_this_machine();

/// Errors, each naming file and line: corrupt for what is no TOML; invalid_argument for an unknown key, a
/// value that makes no sense, a user or group that does not exist.
[[nodiscard]] Result<Config> parse_config(std::string_view text, const std::string& file, const Names& names);

/// no_permission where others than root and this user could have written it; not_found where it is missing.
[[nodiscard]] Result<Config> read_config(const std::filesystem::path& file, const Names& names);

}  // namespace rubato::daemon
