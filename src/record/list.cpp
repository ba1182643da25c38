// list_runs and find_run: the index where it is right, the records themselves where it is not.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/text.h"
#include "record/index.h"
#include "record/open.h"
#include "record/reader.h"

namespace rubato::record {
namespace fs = std::filesystem;
namespace {

// Time stamps carry their zone and a clock change moves it, so text order is not time order.
std::optional<double> seconds_since_1970(const std::string& iso) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, used = 0;
  double second = 0;
  if (std::sscanf(iso.c_str(), "%d-%d-%dT%d:%d:%lf%n", &year, &month, &day, &hour, &minute, &second, &used) !=
      6)
    return std::nullopt;
  const std::chrono::sys_days date = std::chrono::year(year) / month / day;
  double at =
      static_cast<double>(date.time_since_epoch().count()) * 86400 + hour * 3600 + minute * 60 + second;
  char sign = 0;
  int zone_hour = 0, zone_minute = 0;
  if (std::sscanf(iso.c_str() + used, "%c%2d:%2d", &sign, &zone_hour, &zone_minute) == 3 ||
      std::sscanf(iso.c_str() + used, "%c%2d%2d", &sign, &zone_hour, &zone_minute) == 3)
    at -= (sign == '-' ? -1 : 1) * (zone_hour * 3600 + zone_minute * 60);
  return at;
}

bool earlier(const RunSummary& a, const RunSummary& b) {
  const auto left = seconds_since_1970(a.started_at);
  const auto right = seconds_since_1970(b.started_at);
  if (left && right && *left != *right) return *left < *right;
  return a.run_id < b.run_id;
}

std::string names_of(const std::vector<RunSummary>& runs) {
  constexpr std::size_t kMost = 5;
  if (runs.empty()) return "there is no run record yet";
  std::string out =
      cat("there ", runs.size() == 1 ? "is 1 run" : cat("are ", runs.size(), " runs"), ", the newest: ");
  for (std::size_t i = 0; i < std::min(kMost, runs.size()); ++i)
    out += cat(i == 0 ? "" : ", ", runs[runs.size() - 1 - i].run_id);
  return out;
}

}  // namespace

Result<std::vector<RunSummary>> list_runs(const fs::path& directory, std::vector<fs::path>* unreadable) {
  std::vector<RunSummary> runs;
  std::error_code error;
  fs::directory_iterator files(directory, error);
  if (error == std::errc::no_such_file_or_directory) return runs;
  if (error)
    return fail(ErrorCode::io, cat("cannot list run records in ", directory.string(), ": ", error.message()),
                "check that the folder is yours, or set XDG_STATE_HOME");
  const Index index = read_index(directory);
  Index right;
  bool stale = index.damaged;
  for (; files != fs::directory_iterator(); files.increment(error)) {
    const fs::path& file = files->path();
    if (file.extension() != ".sqlite") continue;
    IndexEntry entry{.summary = {.file = file}};
    if (!stamp(entry)) continue;
    const auto known = index.by_file_name.find(file.filename().string());
    if (known != index.by_file_name.end() && known->second.size == entry.size &&
        known->second.modified_ns == entry.modified_ns) {
      entry = known->second;
    } else {
      auto summary = read_summary(file);
      if (!summary) {  // `show` on it says what is wrong; one bad file must not hide the others
        if (unreadable != nullptr) unreadable->push_back(file);
        continue;
      }
      entry.summary = std::move(*summary);
      // A run that goes on, or was killed, changes without its file's size or time telling.
      if (!entry.summary.duration) {
        runs.push_back(std::move(entry.summary));
        continue;
      }
      stale = true;
    }
    runs.push_back(entry.summary);
    right.by_file_name[file.filename().string()] = std::move(entry);
  }
  if (stale || right.by_file_name.size() != index.by_file_name.size()) write_index(directory, right);
  std::ranges::sort(runs, earlier);
  return runs;
}

Result<fs::path> find_run(const fs::path& directory, std::string_view name) {
  std::error_code ignored;
  const fs::path as_path(name);
  // No id has a dot: a record, or a table or document that `export` makes a page of.
  if (as_path.has_parent_path() || as_path.has_extension()) {
    if (fs::exists(as_path, ignored)) return as_path;
    return fail(ErrorCode::not_found, cat("there is no run record ", name), "`rubato runs` lists them");
  }
  // An id needs no list, so a record that is damaged is still found and its damage reported.
  const fs::path exact = directory / cat(name, ".sqlite");
  if (!name.empty() && fs::exists(exact, ignored)) return exact;
  std::vector<fs::path> unreadable;
  const auto runs = list_runs(directory, &unreadable);
  if (!runs) return fail(runs.error());
  if (name == "last" && !runs->empty()) return runs->back().file;
  std::vector<RunSummary> matching;
  for (const RunSummary& run : *runs)
    if (!name.empty() && run.run_id.starts_with(name)) matching.push_back(run);
  if (matching.size() == 1) return matching.front().file;
  if (matching.size() > 1)
    return fail(ErrorCode::invalid_argument,
                cat("'", name, "' is the beginning of several runs: ", names_of(matching)),
                "type more of the id");
  std::string there = names_of(*runs);
  for (const auto& file : unreadable) there += cat("; ", file.stem().string(), " cannot be read");
  return fail(ErrorCode::not_found, cat("no run '", name, "' in ", directory.string(), ": ", there),
              "`rubato runs` lists them, `rubato show ID` says what is wrong with one");
}

}  // namespace rubato::record
