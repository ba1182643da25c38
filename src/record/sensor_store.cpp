#include "record/sensor_store.h"

#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/fs_root.h"
#include "base/text.h"
#include "record/location.h"
#include "record/writer.h"

namespace rubato::record {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr std::string_view kSchema = "rubato.sensor/2";
constexpr std::string_view kSchemaBefore = "rubato.sensor/1";  // without calibration
// Boards were found 9 % low to 13 % high, the worst 41 % (arXiv 2312.02741): beyond this it is no gain.
constexpr double kLowestGain = 0.5;
constexpr double kHighestGain = 2.0;
// Outside this a period or window is damage, not a sensor.
constexpr double kLongestS = 60.0;

fs::path file_of(const fs::path& folder, const GpuId& gpu) {
  // A UUID comes from a driver: nothing in it may lead out of the folder.
  std::string name;
  for (const char c : gpu.uuid) {
    const bool safe = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
    name += safe ? c : '_';
  }
  return folder / cat(name, ".json");
}

json seconds(const std::optional<Seconds>& value) {
  return value ? json(value->value()) : json(nullptr);
}

std::optional<Seconds> seconds(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const auto value = found->get<double>();
  if (!(value > 0) || value > kLongestS) return std::nullopt;
  return Seconds(value);
}

std::string text(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<double> number_in(const json& object, const char* name, double low, double high) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const auto value = found->get<double>();
  return value >= low && value <= high ? std::optional(value) : std::nullopt;
}

std::optional<FoundGain> gain(const json& object) {
  const auto found = object.find("calibration");
  if (found == object.end() || !found->is_object()) return std::nullopt;
  const auto gain = number_in(*found, "gain", kLowestGain, kHighestGain);
  const auto band = number_in(*found, "band_fraction", 0, 1);
  if (!gain || !band) return std::nullopt;
  FoundGain out{
      .gain = *gain, .band = *band, .against = text(*found, "against"), .on = text(*found, "found_on")};
  if (const auto offset = number_in(*found, "offset_w", -1e3, 1e3)) out.offset = Watts(*offset);
  return out;
}

json gain(const std::optional<FoundGain>& found) {
  if (!found) return nullptr;
  return {{"gain", found->gain},
          {"offset_w", found->offset ? json(found->offset->value()) : json(nullptr)},
          {"band_fraction", found->band},
          {"against", found->against},
          {"found_on", found->on}};
}

}  // namespace

Result<fs::path> default_sensor_folder() {
  return default_directory().map([](const fs::path& runs) { return sensor_folder_beside(runs); });
}

fs::path sensor_folder_beside(const fs::path& runs) {
  return runs.parent_path() / "sensors";
}

Result<FoundSensor> load_sensor_facts(const fs::path& folder, const GpuId& gpu,
                                      std::string_view driver_version) {
  const fs::path file = file_of(folder, gpu);
  const auto content = read_small_file(file);
  if (!content)
    return fail(ErrorCode::not_found, cat(gpu.uuid, ": nothing is known yet of how its power sensor behaves"),
                "any `rubato run` or `rubato measure` finds it out");
  const json object = json::parse(*content, nullptr, false);
  const auto samples = object.is_object() ? object.find("samples") : object.end();
  if (!object.is_object() || (text(object, "schema") != kSchema && text(object, "schema") != kSchemaBefore) ||
      text(object, "uuid") != gpu.uuid)
    return fail(ErrorCode::corrupt, cat(file.string(), " does not describe the sensor of ", gpu.uuid),
                cat("rm ", file.string()));
  FoundSensor found{
      .gpu = gpu,
      .driver_version = text(object, "driver_version"),
      .update_period = seconds(object, "update_period_s"),
      .averaging_window = seconds(object, "averaging_window_s"),
      .counter_period = seconds(object, "counter_period_s"),
      .how = text(object, "how"),
      .found_on = text(object, "found_on"),
      .samples = samples != object.end() && samples->is_number_unsigned() ? samples->get<std::uint64_t>() : 0,
      .calibration = gain(object)};
  // Drivers have changed what a reading means: driver 530 alone averaged over another window than those
  // before and after it (Yang, Adamek, Armour, arXiv 2312.02741).
  if (found.driver_version != driver_version)
    return fail(ErrorCode::not_found,
                cat(gpu.uuid, ": its power sensor was looked at under driver ", found.driver_version,
                    ", the driver is ", driver_version),
                "the next run finds it out again");
  return found;
}

Status save_sensor_facts(const fs::path& folder, const FoundSensor& found) {
  if (const Status made = make_private_folders(folder); !made) return made;
  const json object{{"schema", kSchema},
                    {"uuid", found.gpu.uuid},
                    {"driver_version", found.driver_version},
                    {"update_period_s", seconds(found.update_period)},
                    {"averaging_window_s", seconds(found.averaging_window)},
                    {"counter_period_s", seconds(found.counter_period)},
                    {"how", found.how},
                    {"found_on", found.found_on},
                    {"samples", found.samples},
                    {"calibration", gain(found.calibration)}};
  const fs::path file = file_of(folder, found.gpu);
  const fs::path fresh = cat(file.string(), ".", ::getpid());
  std::error_code error;
  {
    std::ofstream out(fresh);
    out << object.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
    if (!out.flush()) error = std::make_error_code(std::errc::io_error);
  }
  if (!error) fs::rename(fresh, file, error);
  if (!error) return {};
  std::error_code ignored;
  fs::remove(fresh, ignored);
  return fail(ErrorCode::io, cat("cannot write ", file.string(), ": ", error.message()),
              "the sensor is looked at again in the next run");
}

SensorFacts with_found(SensorFacts table, const FoundSensor& found) {
  std::string which;
  const auto take = [&](std::optional<Seconds>& fact, const std::optional<Seconds>& mine,
                        std::string_view name) {
    if (!mine) return;
    fact = mine;
    which += cat(which.empty() ? "" : ", ", name, " ", *mine);
  };
  take(table.update_period, found.update_period, "update period");
  take(table.averaging_window, found.averaging_window, "averaging window");
  take(table.counter_period, found.counter_period, "counter period");
  if (const auto& known = found.calibration) {
    table.gain = known->gain;
    table.offset = known->offset;
    table.calibration_band = known->band;
    // Without an offset the watts a board may be off at any power stay unknown.
    if (known->offset) table.calibration_floor = Watts(0);
    table.calibrated_by =
        cat("calibrated against ", known->against, known->on.empty() ? "" : " on ", known->on);
  }
  if (which.empty()) return table;
  table.source =
      cat(which, " found on this GPU", found.found_on.empty() ? "" : " on ", found.found_on, " (driver ",
          found.driver_version, ")", table.source.empty() ? "" : "; else: ", table.source);
  return table;
}

}  // namespace rubato::record
