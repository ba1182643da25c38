#include "record/learned_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/fd.h"
#include "base/fnv1a.h"
#include "base/fs_root.h"
#include "base/text.h"
#include "record/location.h"

namespace rubato::record {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr std::string_view kSchema = "rubato.learned/1";
// Beyond these a file is damaged: no setting makes an iteration take a twentieth, or twenty times as much.
constexpr double kLowestRatio = 0.05;
constexpr double kHighestRatio = 20;
constexpr double kHighestNumber = 1e6;

fs::path file_of(const fs::path& folder, const LearnedKey& key) {
  return folder / cat(hex(fnv1a(cat(key.program, '\n', key.gpu, '\n', key.driver_version)), 16), ".json");
}

json range(const std::optional<ClockRange>& clocks) {
  if (!clocks) return nullptr;
  return json::array({clocks->min.value(), clocks->max.value()});
}

std::optional<double> number_in(const json& value, double low, double high) {
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  return number >= low && number <= high ? std::optional(number) : std::nullopt;
}

std::optional<double> number_in(const json& object, const char* name, double low, double high) {
  const auto found = object.find(name);
  return found == object.end() ? std::nullopt : number_in(*found, low, high);
}

std::optional<ClockRange> range(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array() || found->size() != 2) return std::nullopt;
  const auto low = number_in((*found)[0], 1, kHighestNumber);
  const auto high = number_in((*found)[1], 1, kHighestNumber);
  if (!low || !high || *low > *high) return std::nullopt;
  return ClockRange{Megahertz(*low), Megahertz(*high)};
}

std::string text(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Status write_private(const fs::path& file, std::string_view content) {
  const ScopedFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.is_open()) return fail(from_errno(errno, cat("cannot write ", file.string())));
  while (!content.empty()) {
    const ssize_t written = ::write(fd.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(from_errno(errno, cat("cannot write ", file.string())));
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

std::string program_key(const std::vector<std::string>& command, const fs::path& working_folder) {
  std::string all;
  for (const std::string& word : command) {
    std::error_code error;
    const fs::path file = fs::canonical(working_folder / word, error);
    const bool names_file = !word.empty() && !error && fs::is_regular_file(file, error);
    all += cat(names_file ? file.string() : word, '\0');
  }
  return hex(fnv1a(all), 16);
}

fs::path learned_folder_beside(const fs::path& runs) {
  return runs.parent_path() / "learned";
}

Result<LearnedSetting> load_learned(const fs::path& folder, const LearnedKey& key) {
  const fs::path file = file_of(folder, key);
  const auto content = read_small_file(file);
  if (!content)
    return fail(ErrorCode::not_found, cat("no setting was learned for this program on ", key.gpu));
  const auto corrupt = [&] {
    return fail(ErrorCode::corrupt, cat(file.string(), " does not hold a learned setting"),
                cat("rm ", file.string()));
  };
  const json object = json::parse(*content, nullptr, false);
  if (!object.is_object() || text(object, "schema") != kSchema || text(object, "program") != key.program ||
      text(object, "gpu") != key.gpu || text(object, "driver_version") != key.driver_version)
    return corrupt();
  LearnedSetting learned;
  if (const auto watts = number_in(object, "power_limit_w", 1, kHighestNumber))
    learned.setting.power_limit = Watts(*watts);
  learned.setting.sm_clock = range(object, "sm_clock_mhz");
  learned.setting.memory_clock = range(object, "memory_clock_mhz");
  const auto time = number_in(object, "time_ratio", kLowestRatio, kHighestRatio);
  const auto energy = number_in(object, "energy_ratio", kLowestRatio, kHighestRatio);
  if (learned.setting.empty() || !time || !energy) return corrupt();
  learned.time_ratio = *time;
  learned.energy_ratio = *energy;
  if (const auto features = object.find("features"); features != object.end() && features->is_object())
    for (const auto& [name, value] : features->items())
      if (value.is_number()) learned.features.emplace(name, value.get<double>());
  learned.learned_on = text(object, "learned_on");
  learned.run_id = text(object, "run_id");
  return learned;
}

Status save_learned(const fs::path& folder, const LearnedKey& key, const LearnedSetting& learned) {
  if (const Status made = make_private_folders(folder); !made) return made;
  const json object{{"schema", kSchema},
                    {"program", key.program},
                    {"gpu", key.gpu},
                    {"driver_version", key.driver_version},
                    {"power_limit_w", learned.setting.power_limit ? json(learned.setting.power_limit->value())
                                                                  : json(nullptr)},
                    {"sm_clock_mhz", range(learned.setting.sm_clock)},
                    {"memory_clock_mhz", range(learned.setting.memory_clock)},
                    {"time_ratio", learned.time_ratio},
                    {"energy_ratio", learned.energy_ratio},
                    {"features", learned.features},
                    {"learned_on", learned.learned_on},
                    {"run_id", learned.run_id}};
  const fs::path file = file_of(folder, key);
  const fs::path fresh = cat(file.string(), ".", ::getpid());
  Status written = write_private(fresh, object.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  std::error_code error;
  if (written) fs::rename(fresh, file, error);
  if (written && !error) return {};
  std::error_code ignored;
  fs::remove(fresh, ignored);
  if (!written) return written;
  return fail(ErrorCode::io, cat("cannot write ", file.string(), ": ", error.message()));
}

}  // namespace rubato::record
