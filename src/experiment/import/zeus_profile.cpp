// The profile that Zeus's power-limit optimizer saves: {"measurements": [{"power_limit", "energy", "time"}]},
// energy added up over all GPUs.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "experiment/import/collect.h"

namespace rubato::experiment {
namespace {

using nlohmann::json;

std::size_t line_at(std::string_view text, std::size_t byte) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

// Where each object inside an array of the outermost object begins: the parser does not say.
std::vector<std::size_t> lines_of_measurements(std::string_view text) {
  std::vector<std::size_t> out;
  std::size_t line = 1;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{') {
      if (++depth == 2) out.push_back(line);
    } else if (c == '}') {
      --depth;
    }
  }
  return out;
}

Result<double> positive(const json& measurement, const char* key, const std::string& where) {
  const auto found = measurement.find(key);
  if (found == measurement.end())
    return fail(ErrorCode::invalid_argument, cat(where, ": ", key, " is missing"));
  if (!found->is_number() || !std::isfinite(found->get<double>()) || found->get<double>() <= 0)
    return fail(ErrorCode::invalid_argument,
                cat(where, ": ", key, " is ", found->dump(), ", not above zero"));
  return found->get<double>();
}

Result<SweepRow> row_of(const json& measurement, const ImportWishes& wishes, const std::string& file,
                        std::size_t line) {
  const std::string where = place(file, line);
  if (!measurement.is_object())
    return fail(ErrorCode::invalid_argument, cat(where, ": a measurement is no object"));
  const auto watts = positive(measurement, "power_limit", where);
  if (!watts) return fail(watts.error());
  const auto limit = plausible_limit(*watts, file, line);
  if (!limit) return fail(limit.error());
  const auto energy = positive(measurement, "energy", where);
  if (!energy) return fail(energy.error());
  const auto time = positive(measurement, "time", where);
  if (!time) return fail(time.error());
  SweepRow row;
  row.gpu = *wishes.gpu;
  row.workload = row.group = *wishes.workload;
  row.power_limit = *limit;
  row.time = Seconds(*time);
  row.energy = Joules(*energy / std::max(1U, wishes.gpu_count.value_or(1)));
  row.power = row.energy / row.time;
  return row;
}

}  // namespace

Status read_zeus_profile(const ForeignFile& file, const ImportWishes& given, Collect& into) {
  if (!given.gpu)
    return fail(ErrorCode::invalid_argument, cat(file.name, ": a profile does not say which GPU it is of"),
                "name it: --gpu-name A40");
  ImportWishes wishes = given;
  if (!wishes.workload) wishes.workload = stem(file.name);
  json document;
  // The parser's own exceptions stay here.
  try {
    document = json::parse(file.text);
  } catch (const json::parse_error& error) {
    return fail(ErrorCode::invalid_argument,
                cat(place(file.name, line_at(file.text, error.byte == 0 ? 0 : error.byte - 1)), ": no JSON"));
  }
  const bool has = document.is_object() && document.contains("measurements");
  if (!has || !document["measurements"].is_array() || document["measurements"].empty())
    return fail(ErrorCode::invalid_argument, cat(place(file.name, 1), ": no list \"measurements\""),
                "the file Zeus's GlobalPowerLimitOptimizer writes to profile_path has one");
  const auto lines = lines_of_measurements(file.text);
  std::size_t at = 0;
  for (const json& measurement : document["measurements"]) {
    const std::size_t line = at < lines.size() ? lines[at] : 1;
    ++at;
    auto row = row_of(measurement, wishes, file.name, line);
    if (!row) return fail(row.error());
    if (const Status added = into.add(std::move(*row), file.name, line); !added) return added;
  }
  into.comment(wishes.gpu_count ? cat(stem(file.name), ": energy divided by ", *wishes.gpu_count, " GPUs")
                                : cat(stem(file.name), ": energy as it stands there, taken to be one GPU's"));
  return {};
}

}  // namespace rubato::experiment
