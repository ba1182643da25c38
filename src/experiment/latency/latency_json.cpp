#include <nlohmann/json.hpp>

#include "base/json_fields.h"
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

Seconds seconds_at(JsonFields& from, const char* key) {
  return Seconds(from.number(key, 0, kLongestS));
}

std::optional<Seconds> optional_seconds_at(JsonFields& from, const char* key) {
  from.need(key, "a number or null");
  return from.unless_null(key, [&] { return seconds_at(from, key); });
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

DelaySummary summary_of(const json& object, std::string who) {
  JsonFields from(object, std::move(who));
  DelaySummary s{.median = seconds_at(from, "median_s"),
                 .p95 = seconds_at(from, "p95_s"),
                 .worst = seconds_at(from, "worst_s"),
                 .n = from.whole<unsigned>("n", 1),
                 .outliers = from.whole<unsigned>("outliers")};
  if (!(s.median <= s.p95 && s.p95 <= s.worst))
    throw Bad{cat(from.who(), ": median_s ", s.median, ", p95_s ", s.p95, " and worst_s ", s.worst,
                  " have to ascend")};
  if (s.outliers > s.n) from.wrong("outliers", object["outliers"], cat("at most n, ", s.n, ","));
  return s;
}

std::optional<DelaySummary> optional_summary_at(JsonFields& from, const char* key) {
  const json& found = from.need(key, "an object or null");
  if (found.is_null()) return std::nullopt;
  return summary_of(found, cat(from.who(), ", ", key));
}

predict::Clocks clocks_at(JsonFields& pair, const char* key) {
  JsonFields from(pair.need(key, "an object"), cat(pair.who(), ", ", key));
  return {Megahertz(from.number("sm_clock_mhz", 1, kHighestMhz)),
          Megahertz(from.number("memory_clock_mhz", 1, kHighestMhz))};
}

json clocks_json(const predict::Clocks& clocks) {
  return {{"sm_clock_mhz", clocks.sm.value()}, {"memory_clock_mhz", clocks.memory.value()}};
}

PairLatency pair_of(const json& object, std::size_t number) {
  JsonFields from(object, cat("pair ", number));
  return {.from = clocks_at(from, "from"),
          .to = clocks_at(from, "to"),
          .clock = optional_summary_at(from, "clock"),
          .power = optional_summary_at(from, "power"),
          .lost = from.whole<unsigned>("lost"),
          .why_not = from.any_text("why_not")};
}

LatencyTable table_of(const json& document) {
  JsonFields from(document, "the table");
  LatencyTable out;
  out.uuid = from.any_text("uuid");
  out.gpu = from.any_text("gpu");
  out.driver_version = from.any_text("driver_version");
  out.kind = from.named("kind", &parse_kind);
  out.measured_on = from.any_text("measured_on");
  out.load = from.any_text("load");
  out.repeats = from.whole<unsigned>("repeats");
  out.polling_gap = seconds_at(from, "polling_gap_s");
  out.readout_period = optional_seconds_at(from, "readout_period_s");
  out.power_period = optional_seconds_at(from, "power_period_s");
  out.asking = optional_seconds_at(from, "asking_s");
  for (const json& pair : from.list("pairs", 1, kMostPairs))
    out.pairs.push_back(pair_of(pair, out.pairs.size() + 1));
  out.overall = summary_of(from.need("overall", "an object"), "overall");
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

Result<LatencyTable> read_latency(std::string_view text) {
  constexpr const char* kHint = "measure again: rubato latency";
  const auto document = parse_json(text);
  if (!document) return fail(document.error().code, cat("latencies: ", document.error().what), kHint);
  if (!document->is_object() || !document->contains("schema") || !(*document)["schema"].is_string())
    return fail(ErrorCode::invalid_argument,
                cat("no table of latencies: it has to name the schema ", kSchema),
                "rubato latency measures one");
  if (const auto schema = (*document)["schema"].get<std::string>(); schema != kSchema)
    return fail(ErrorCode::not_supported, cat("of schema ", schema, "; this rubato reads ", kSchema), kHint);
  try {
    return table_of(*document);
  } catch (const Bad& bad) {
    return fail(ErrorCode::invalid_argument, cat("latencies: ", bad.what), kHint);
  }
}

}  // namespace rubato::experiment
