// meters.toml: one table per meter, scalars only.
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/text.h"
#include "base/toml_guard.h"
#include "base/toml_parser.h"
#include "meter/keys.h"
#include "meter/registry.h"

namespace rubato::meter {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFromEnvironment = "env:";
constexpr std::string_view kFormat = "docs/meters.md shows the format";

std::optional<std::string> environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::string at_line(const fs::path& file, const toml::node& node) {
  return cat(file.string(), ":", node.source().begin.line);
}

Result<std::string> scalar(const toml::node& node, const std::string& where) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return std::to_string(whole->get());
  if (const auto* real = node.as_floating_point()) return number(real->get());
  if (const auto* flag = node.as_boolean()) return std::string(flag->get() ? "true" : "false");
  return fail(ErrorCode::corrupt, cat(where, ": needed a text, a number, true or false"),
              std::string(kFormat));
}

bool comes_from_environment(std::string_view value) {
  return value.starts_with(kFromEnvironment);
}

Result<std::string> resolve(const std::string& value, const std::string& where) {
  if (!comes_from_environment(value)) return value;
  const std::string name = value.substr(kFromEnvironment.size());
  auto found = name.empty() ? std::nullopt : environment(name);
  if (!found)
    return fail(
        ErrorCode::not_found, cat(where, ": the environment variable '", name, "' is not set or empty"),
        cat("export ", name.empty() ? "NAME" : name, "=…, and write env:", name.empty() ? "NAME" : name));
  return std::move(*found);
}

/// Whether anybody but its owner may read the file. Root may open one of its own to a group: that is how a
/// machine's meters are shared.
bool read_by_others(const fs::path& file) {
  struct stat state {};
  if (::stat(file.c_str(), &state) != 0) return false;
  if ((state.st_mode & S_IROTH) != 0) return true;
  return (state.st_mode & S_IRGRP) != 0 && state.st_uid != 0;
}

Result<MeterTable> read_table(const fs::path& file, std::string_view name, const toml::node& node) {
  const toml::table* const table = node.as_table();
  if (table == nullptr)
    return fail(ErrorCode::corrupt, cat(at_line(file, node), ": '", name, "' stands outside any table"),
                cat("put it below a line [NAME]; ", kFormat));
  MeterTable read{.name = std::string(name), .file = file};
  for (const auto& [key, value] : *table) {
    const std::string where = cat(at_line(file, value), ", [", name, "], ", key.str());
    auto text = scalar(value, where);
    if (!text) return fail(std::move(text.error()));
    if (is_secret(key.str()) && !comes_from_environment(*text) && read_by_others(file))
      return fail(ErrorCode::no_permission,
                  cat(where, ": others may read this file, and it holds a password"),
                  cat("chmod 600 ", file.string(), ", or write env:NAME and put it into the environment"));
    auto resolved = resolve(*text, where);
    if (!resolved) return fail(std::move(resolved.error()));
    read.values.emplace(key.str(), std::move(*resolved));
  }
  const auto kind = read.values.find("kind");
  const auto all = kinds();
  const auto known = [&](const MeterKind& k) { return kind != read.values.end() && k.name == kind->second; };
  if (std::any_of(all.begin(), all.end(), known)) return read;
  std::string names;
  for (const MeterKind& k : all) names += cat(names.empty() ? "" : ", ", k.name);
  return fail(ErrorCode::corrupt,
              cat(at_line(file, node), ", [", name, "]: needs a key kind, one of ", names),
              cat("add:  kind = \"snmp\"; ", kFormat));
}

/// The first of the usual places where there is one.
std::optional<fs::path> usual_file() {
  std::vector<fs::path> places;
  if (const auto config = environment("XDG_CONFIG_HOME"))
    places.emplace_back(*config);
  else if (const auto home = environment("HOME"))
    places.push_back(fs::path(*home) / ".config");
  places.emplace_back("/etc");
  for (const fs::path& place : places) {
    std::error_code ignored;
    if (fs::exists(place / "rubato/meters.toml", ignored)) return place / "rubato/meters.toml";
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<MeterTable>> read_meter_tables(const fs::path& file) {
  const auto content = read_small_file(file);
  if (!content) return fail(content.error());
  if (const auto fault = find_toml_fault(*content))
    return fail(ErrorCode::corrupt, cat(file.string(), ":", fault->line, ": found ", fault->what),
                std::string(kFormat));
  const toml::parse_result parsed = toml::parse(std::string_view(*content));
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return fail(ErrorCode::corrupt,
                cat(file.string(), ":", error.source().begin.line, ": ", error.description()),
                std::string(kFormat));
  }
  std::vector<MeterTable> tables;
  for (const auto& [name, node] : parsed.table()) {
    auto table = read_table(file, name.str(), node);
    if (!table) return fail(std::move(table.error()));
    tables.push_back(std::move(*table));
  }
  return tables;
}

Result<std::vector<MeterTable>> read_meter_tables() {
  if (const auto named = environment("RUBATO_METERS")) return read_meter_tables(fs::path(*named));
  if (const auto usual = usual_file()) return read_meter_tables(*usual);
  return std::vector<MeterTable>{};
}

}  // namespace rubato::meter
