#include "experiment/sweep_state.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/fd.h"
#include "base/text.h"
#include "experiment/sweep_measurement_json.h"

namespace rubato::experiment {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::string_view kSchema = "rubato.sweep_state/2";
constexpr std::string_view kWithoutFound = "rubato.sweep_state/1";

struct Contents {
  std::vector<SweepMeasurement> measured;
  std::uintmax_t whole = 0;  // bytes up to the last line that is whole
};

tl::unexpected<Error> corrupt(const fs::path& file, std::size_t line, std::string_view why) {
  return fail(ErrorCode::corrupt, cat(file.string(), ", line ", line, ": ", why),
              "it is left as it is; remove it, or choose another table with -o, to begin anew");
}

Status same_command(const fs::path& file, const json& header, const SweepIdentity& identity) {
  const auto found = header.at("sweep").get<std::map<std::string, std::string>>();
  auto all = found;
  all.insert(identity.asked.begin(), identity.asked.end());
  for (const auto& [key, ignored] : all) {
    const auto there = found.find(key);
    const auto asked = identity.asked.find(key);
    const std::string was = there == found.end() ? "nothing" : there->second;
    const std::string is = asked == identity.asked.end() ? "nothing" : asked->second;
    if (was == is) continue;
    return fail(ErrorCode::conflict,
                cat(file.string(), " belongs to another sweep that is not finished: its ", key, " is ", was,
                    ", this one's is ", is),
                "type the command as it was to go on, remove the file to begin anew, or name another table "
                "with -o");
  }
  return {};
}

// The controls of both stretches would be taken for one baseline, at whichever setting they were.
Status same_found_setting(const fs::path& file, const json& header, const SweepIdentity& identity) {
  std::string differs;
  for (const auto& [key, was] : header.at("found").get<std::map<std::string, std::string>>()) {
    const auto now = identity.found.find(key);
    if (now == identity.found.end() || now->second == was) continue;
    differs += cat(differs.empty() ? "" : "; ", key, " was ", was, " and is ", now->second);
  }
  if (differs.empty()) return {};
  return fail(ErrorCode::conflict,
              cat("the setting found is not that at which the sweep in ", file.string(), " began: ", differs),
              "set it as it was (nvidia-smi -pl, -lgc, -ac) to go on, remove the file to begin anew, or name "
              "another table with -o");
}

Status same_sweep(const fs::path& file, const json& header, const SweepIdentity& identity) {
  if (header.value("schema", "") == kWithoutFound)
    return fail(ErrorCode::conflict,
                cat(file.string(),
                    " is of an earlier rubato, which did not keep the setting that was found, so "
                    "this one cannot tell whether the baseline is still the same"),
                "go on with the rubato that began it, remove the file to begin anew, or name another table "
                "with -o");
  if (header.value("schema", "") != kSchema || !header.contains("sweep") || !header.contains("found"))
    return corrupt(file, 1, cat("this is no state of a sweep (", kSchema, ")"));
  if (const Status same = same_command(file, header, identity); !same) return same;
  return same_found_setting(file, header, identity);
}

Result<Contents> contents_of(const fs::path& file, const std::string& text, const SweepIdentity& identity) {
  Contents out;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    if (end == std::string::npos) break;
    ++number;
    const json line = json::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                                  text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (line.is_discarded() || !line.is_object()) return corrupt(file, number, "this is no JSON object");
    if (number == 1) {
      if (const Status same = same_sweep(file, line, identity); !same) return fail(same.error());
    } else {
      auto measured = read_measurement(line);
      if (!measured) return corrupt(file, number, measured.error().what);
      out.measured.push_back(std::move(*measured));
    }
    at = end + 1;
    out.whole = at;
  }
  return out;
}

Result<std::optional<Contents>> read_contents(const fs::path& file, const SweepIdentity& identity) {
  std::error_code error;
  if (!fs::exists(file, error)) return std::optional<Contents>();
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return fail(ErrorCode::io, cat("cannot read ", file.string()));
  try {
    auto contents = contents_of(file, text.str(), identity);
    if (!contents) return fail(contents.error());
    return std::optional(std::move(*contents));
  } catch (const json::exception& thrown) {
    return corrupt(file, 1, thrown.what());
  }
}

}  // namespace

Result<SweepState> SweepState::open(const fs::path& file, const SweepIdentity& identity) {
  auto contents = read_contents(file, identity);
  if (!contents) return fail(contents.error());
  SweepState state(file);
  if (!*contents || (*contents)->whole == 0) {
    std::error_code ignored;
    fs::remove(file, ignored);  // nothing whole stood in it
    const json header = {{"schema", kSchema}, {"sweep", identity.asked}, {"found", identity.found}};
    if (const Status begun = state.append(header.dump()); !begun) return fail(begun.error());
    return state;
  }
  std::error_code error;
  fs::resize_file(file, (*contents)->whole, error);
  if (error) return fail(ErrorCode::io, cat("cannot write ", file.string(), ": ", error.message()));
  state.measured_ = std::move((*contents)->measured);
  for (const auto& m : state.measured_) state.session_ = std::max(state.session_, m.session + 1);
  return state;
}

Status SweepState::add(const SweepMeasurement& measurement) {
  const Status written =
      append(measurement_json(measurement).dump(-1, ' ', false, json::error_handler_t::replace));
  if (written) measured_.push_back(measurement);
  return written;
}

Status SweepState::append(const std::string& line) const {
  const auto cannot = [this] { return fail(from_errno(errno, cat("cannot write ", file_.string()))); };
  const ScopedFd fd(::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!fd.is_open()) return cannot();
  const std::string text = line + "\n";
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return cannot();
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS) return cannot();
  return {};
}

Result<std::optional<std::vector<SweepMeasurement>>> peek_sweep_state(const fs::path& file,
                                                                      const SweepIdentity& identity) {
  auto contents = read_contents(file, identity);
  if (!contents) return fail(contents.error());
  if (!*contents) return std::optional<std::vector<SweepMeasurement>>();
  return std::optional(std::move((*contents)->measured));
}

}  // namespace rubato::experiment
