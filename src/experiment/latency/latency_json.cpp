#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_figures.h"
#include "base/text.h"
#include "experiment/latency/latency_file.h"

namespace rubato::experiment {
namespace {

using nlohmann::json;

constexpr std::string_view kSchema = "rubato.latency/1";
constexpr double kLongestS = 3600;  // beyond this it is damage, not a delay
constexpr double kHighestMhz = 1e5;
constexpr std::size_t kMostPairs = 100'000;

using Bad = BadFigure;

Seconds seconds_at(const json& object, const char* key) {
  return Seconds(number_at(object, key, 0, kLongestS));
}

std::optional<Seconds> optional_seconds_at(const json& object, const char* key) {
  if (object.at(key).is_null()) return std::nullopt;
  return seconds_at(object, key);
}

json optional_json(const std::optional<Seconds>& value) {
  return value ? json(value->value()) : json(nullptr);
}

json summary_json(const DelaySummary& s) {
  return {{"median_s", s.median.value()},
          {"p95_s", s.p95.value()},
          {"worst_s", s.worst.value()},
          {"n", s.n},
          {"outliers", s.outliers}};
}

json summary_json(const std::optional<DelaySummary>& s) {
  return s ? summary_json(*s) : json(nullptr);
}

DelaySummary summary_of(const json& object) {
  DelaySummary s{.median = seconds_at(object, "median_s"),
                 .p95 = seconds_at(object, "p95_s"),
                 .worst = seconds_at(object, "worst_s"),
                 .n = whole_of<unsigned>(object.at("n")),
                 .outliers = whole_of<unsigned>(object.at("outliers"))};
  if (!(s.median <= s.p95 && s.p95 <= s.worst))
    throw Bad{cat("median_s ", s.median, ", p95_s ", s.p95, " and worst_s ", s.worst, " have to ascend")};
  if (s.n == 0 || s.outliers > s.n)
    throw Bad{cat("n is ", s.n, " with ", s.outliers, " outliers, and has to be at least 1 and them")};
  return s;
}

std::optional<DelaySummary> optional_summary_at(const json& object, const char* key) {
  if (object.at(key).is_null()) return std::nullopt;
  return summary_of(object.at(key));
}

predict::Clocks clocks_at(const json& object, const char* key) {
  const json& at = object.at(key);
  return {Megahertz(number_at(at, "sm_clock_mhz", 1, kHighestMhz)),
          Megahertz(number_at(at, "memory_clock_mhz", 1, kHighestMhz))};
}

json clocks_json(const predict::Clocks& clocks) {
  return {{"sm_clock_mhz", clocks.sm.value()}, {"memory_clock_mhz", clocks.memory.value()}};
}

Result<LatencyTable> table_of(const json& document) {
  LatencyTable out;
  out.uuid = document.at("uuid").get<std::string>();
  out.gpu = document.at("gpu").get<std::string>();
  out.driver_version = document.at("driver_version").get<std::string>();
  const auto kind = parse_kind(document.at("kind").get<std::string>());
  if (!kind) return fail(kind.error());
  out.kind = *kind;
  out.measured_on = document.at("measured_on").get<std::string>();
  out.load = document.at("load").get<std::string>();
  out.repeats = whole_of<unsigned>(document.at("repeats"));
  out.polling_gap = seconds_at(document, "polling_gap_s");
  out.readout_period = optional_seconds_at(document, "readout_period_s");
  out.power_period = optional_seconds_at(document, "power_period_s");
  out.asking = optional_seconds_at(document, "asking_s");
  const json& pairs = document.at("pairs");
  if (!pairs.is_array() || pairs.empty() || pairs.size() > kMostPairs)
    throw Bad{cat("pairs has ", pairs.size(), " entries, and has to have 1 to ", kMostPairs)};
  for (const json& pair : pairs)
    out.pairs.push_back({.from = clocks_at(pair, "from"),
                         .to = clocks_at(pair, "to"),
                         .clock = optional_summary_at(pair, "clock"),
                         .power = optional_summary_at(pair, "power"),
                         .lost = whole_of<unsigned>(pair.at("lost")),
                         .why_not = pair.at("why_not").get<std::string>()});
  out.overall = summary_of(document.at("overall"));
  return out;
}

}  // namespace

std::string write_latency(const LatencyTable& table) {
  json pairs = json::array();
  for (const PairLatency& pair : table.pairs)
    pairs.push_back({{"from", clocks_json(pair.from)},
                     {"to", clocks_json(pair.to)},
                     {"clock", summary_json(pair.clock)},
                     {"power", summary_json(pair.power)},
                     {"lost", pair.lost},
                     {"why_not", pair.why_not}});
  const json document = {{"schema", kSchema},
                         {"uuid", table.uuid},
                         {"gpu", table.gpu},
                         {"driver_version", table.driver_version},
                         {"kind", std::string(name_of(table.kind))},
                         {"measured_on", table.measured_on},
                         {"load", table.load},
                         {"repeats", table.repeats},
                         {"polling_gap_s", table.polling_gap.value()},
                         {"readout_period_s", optional_json(table.readout_period)},
                         {"power_period_s", optional_json(table.power_period)},
                         {"asking_s", optional_json(table.asking)},
                         {"pairs", std::move(pairs)},
                         {"overall", summary_json(table.overall)}};
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<LatencyTable> read_latency(std::string_view text) try {
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object() || !document.contains("schema") || !document["schema"].is_string())
    return fail(ErrorCode::invalid_argument,
                cat("no table of latencies: it has to name the schema ", kSchema),
                "rubato latency measures one");
  if (const auto schema = document["schema"].get<std::string>(); schema != kSchema)
    return fail(ErrorCode::not_supported, cat("of schema ", schema, "; this rubato reads ", kSchema),
                "measure again: rubato latency");
  return table_of(document);
} catch (const Bad& bad) {
  return fail(ErrorCode::invalid_argument, cat("latencies: ", bad.what), "measure again: rubato latency");
} catch (const nlohmann::json::exception& error) {
  return fail(ErrorCode::invalid_argument, cat("latencies: a member is missing or wrong: ", error.what()),
              "measure again: rubato latency");
}

}  // namespace rubato::experiment
