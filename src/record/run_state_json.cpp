// The text of a run's state, and back. A reader trusts nothing: the file lies where the job may write too.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json_figures.h"
#include "record/run_state.h"

namespace rubato::record {
namespace {

using Json = nlohmann::ordered_json;
using nlohmann::json;

constexpr std::string_view kSchema = "rubato.run_state/1";
// Beyond these a figure is damage: no board, job or clock has as much.
constexpr double kMostWatts = 1e5;
constexpr double kMostJoules = 1e15;
constexpr double kMostMegahertz = 1e5;
constexpr double kMostSeconds = 1e9;
constexpr double kMostShare = 1e3;
constexpr std::size_t kMostGpus = 4096;
constexpr std::size_t kMostWords = 65536;

template <class Q>
Json figure(const std::optional<Q>& value) {
  return value && std::isfinite(value->value()) ? Json(value->value()) : Json(nullptr);
}

Json range(const std::optional<ClockRange>& clocks) {
  if (!clocks) return nullptr;
  return Json::array({clocks->min.value(), clocks->max.value()});
}

Json setting_json(const Setting& setting) {
  return {{"power_limit_w", figure(setting.power_limit)},
          {"sm_clock_mhz", range(setting.sm_clock)},
          {"memory_clock_mhz", range(setting.memory_clock)}};
}

Json share_json(const RunStateShare& share) {
  return {{"fraction", share.value}, {"half_width", share.half_width}};
}

Json iteration_json(const std::optional<IterationEstimate>& e) {
  if (!e) return nullptr;
  return {
      {"source", name_of(e->source)},  {"periodic", e->periodic},
      {"period_s", figure(e->period)}, {"relation", name_of(e->relation)},
      {"confidence", e->confidence},   {"half_width", e->half_width ? Json(*e->half_width) : Json(nullptr)}};
}

std::optional<double> optional_at(const json& object, const char* key, double low, double high) {
  if (const auto found = object.find(key); found == object.end() || found->is_null()) return std::nullopt;
  return number_at(object, key, low, high);
}

template <class Q>
std::optional<Q> quantity_at(const json& object, const char* key, double high) {
  const auto value = optional_at(object, key, 0, high);
  return value ? std::optional(Q(*value)) : std::nullopt;
}

std::optional<ClockRange> range_at(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  if (!found->is_array() || found->size() != 2) throw BadFigure{cat(key, " is no pair of clocks")};
  const json ends{{"min", found->at(0)}, {"max", found->at(1)}};
  return ClockRange{Megahertz(number_at(ends, "min", 0, kMostMegahertz)),
                    Megahertz(number_at(ends, "max", 0, kMostMegahertz))};
}

Setting setting_of(const json& object) {
  Setting out;
  out.power_limit = quantity_at<Watts>(object, "power_limit_w", kMostWatts);
  out.sm_clock = range_at(object, "sm_clock_mhz");
  out.memory_clock = range_at(object, "memory_clock_mhz");
  return out;
}

RunStateShare share_of(const json& object) {
  return {number_at(object, "fraction", -kMostShare, kMostShare),
          number_at(object, "half_width", 0, kMostShare)};
}

template <class T>
T named(const Result<T>& parsed) {
  if (!parsed) throw BadFigure{parsed.error().what};
  return *parsed;
}

IterationEstimate iteration_of(const json& object) {
  IterationEstimate out;
  out.source = named(parse_progress_source(object.at("source").get<std::string>()));
  out.periodic = object.at("periodic").get<bool>();
  out.period = quantity_at<Seconds>(object, "period_s", kMostSeconds);
  out.relation = named(parse_period_relation(object.at("relation").get<std::string>()));
  out.confidence = number_at(object, "confidence", 0, 1);
  out.half_width = optional_at(object, "half_width", 0, kMostShare);
  return out;
}

RunStateGpu gpu_of(const json& object) {
  RunStateGpu out;
  out.uuid = object.at("uuid").get<std::string>();
  out.name = object.at("name").get<std::string>();
  out.kind = named(parse_kind(object.at("kind").get<std::string>()));
  if (const auto& used = object.at("used_by_job"); !used.is_null()) out.used_by_job = used.get<bool>();
  out.power = quantity_at<Watts>(object, "power_w", kMostWatts);
  out.energy = quantity_at<Joules>(object, "energy_j", kMostJoules);
  out.energy_band_sampling = quantity_at<Joules>(object, "energy_band_sampling_j", kMostJoules);
  out.energy_band_calibration = quantity_at<Joules>(object, "energy_band_calibration_j", kMostJoules);
  out.in_force = setting_of(object.at("in_force"));
  out.found_limit = quantity_at<Watts>(object, "found_power_limit_w", kMostWatts);
  out.changed_by_someone_else = object.at("changed_by_someone_else").get<bool>();
  return out;
}

RunState state_of(const json& object) {
  if (object.at("schema").get<std::string>() != kSchema) throw BadFigure{"another schema"};
  RunState out;
  out.run_id = object.at("run_id").get<std::string>();
  out.mode = object.at("mode").get<std::string>();
  const json& words = object.at("command");
  if (!words.is_array() || words.size() > kMostWords) throw BadFigure{"command is no list"};
  for (const json& word : words) out.command.push_back(word.get<std::string>());
  out.started_at = object.at("started_at").get<std::string>();
  out.gpu_list = object.at("gpu_list").get<std::string>();
  out.pid = whole_of<pid_t>(object.at("pid"));
  if (const auto& job = object.at("job_pid"); !job.is_null()) out.job_pid = whole_of<pid_t>(job);
  out.written_ns = whole_of<std::int64_t>(object.at("written_monotonic_ns"));
  out.clock_rate = number_at(object, "clock_rate", 1e-3, 1e6);
  out.running = Seconds(number_at(object, "running_s", 0, kMostSeconds));
  out.strategy = object.at("strategy").get<std::string>();
  out.doing = object.at("doing").get<std::string>();
  out.setting = setting_of(object.at("setting"));
  out.why = object.at("why").get<std::string>();
  out.iterations = whole_of<std::int64_t>(object.at("iterations"));
  if (const auto& e = object.at("iteration"); !e.is_null()) out.iteration = iteration_of(e);
  if (const auto& s = object.at("saving"); !s.is_null())
    out.saving = RunStateSaving{share_of(s.at("energy")), share_of(s.at("time")),
                                named(parse_kind(s.at("kind").get<std::string>()))};
  const json& gpus = object.at("gpus");
  if (!gpus.is_array() || gpus.size() > kMostGpus) throw BadFigure{"gpus is no list"};
  for (const json& gpu : gpus) out.gpus.push_back(gpu_of(gpu));
  return out;
}

}  // namespace

std::string write_run_state(const RunState& state) {
  Json gpus = Json::array();
  for (const RunStateGpu& gpu : state.gpus)
    gpus.push_back({{"uuid", gpu.uuid},
                    {"name", gpu.name},
                    {"kind", name_of(gpu.kind)},
                    {"used_by_job", gpu.used_by_job ? Json(*gpu.used_by_job) : Json(nullptr)},
                    {"power_w", figure(gpu.power)},
                    {"energy_j", figure(gpu.energy)},
                    {"energy_band_sampling_j", figure(gpu.energy_band_sampling)},
                    {"energy_band_calibration_j", figure(gpu.energy_band_calibration)},
                    {"in_force", setting_json(gpu.in_force)},
                    {"found_power_limit_w", figure(gpu.found_limit)},
                    {"changed_by_someone_else", gpu.changed_by_someone_else}});
  Json saving = nullptr;
  if (state.saving)
    saving = {{"energy", share_json(state.saving->saved)},
              {"time", share_json(state.saving->slower)},
              {"kind", name_of(state.saving->kind)}};
  const Json out{{"schema", kSchema},
                 {"run_id", state.run_id},
                 {"mode", state.mode},
                 {"command", state.command},
                 {"started_at", state.started_at},
                 {"gpu_list", state.gpu_list},
                 {"pid", state.pid},
                 {"job_pid", state.job_pid ? Json(*state.job_pid) : Json(nullptr)},
                 {"written_monotonic_ns", state.written_ns},
                 {"clock_rate", state.clock_rate},
                 {"running_s", state.running.value()},
                 {"strategy", state.strategy},
                 {"doing", state.doing},
                 {"setting", setting_json(state.setting)},
                 {"why", state.why},
                 {"iterations", state.iterations},
                 {"iteration", iteration_json(state.iteration)},
                 {"saving", std::move(saving)},
                 {"gpus", std::move(gpus)}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<RunState> parse_run_state(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return fail(ErrorCode::corrupt, "a run's state is no JSON object");
  try {
    return state_of(object);
  } catch (const BadFigure& bad) {
    return fail(ErrorCode::corrupt, cat("a run's state: ", bad.what));
  } catch (const json::exception& bad) {
    return fail(ErrorCode::corrupt, cat("a run's state: ", bad.what()));
  }
}

}  // namespace rubato::record
