#include "meter/keys.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace rubato::meter {
namespace {

constexpr std::string_view kKind = "kind";

std::string listed(std::initializer_list<std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text += cat(text.empty() ? "" : ", ", name);
  return text;
}

std::string range(double low, double high) {
  const bool bounded_below = low > std::numeric_limits<double>::lowest();
  const bool bounded_above = high < std::numeric_limits<double>::max();
  if (bounded_below && bounded_above) return cat("a number from ", low, " to ", high);
  if (bounded_below) return cat("a number of at least ", low);
  if (bounded_above) return cat("a number of at most ", high);
  return "a number";
}

}  // namespace

bool is_secret(std::string_view key) {
  constexpr std::array<std::string_view, 4> kEndings{"password", "secret", "community", "token"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view end) { return key.ends_with(end); });
}

std::vector<const MeterTable*> tables_of(std::string_view kind, const Surroundings& around) {
  std::vector<const MeterTable*> found;
  for (const MeterTable& table : around.tables) {
    const auto entry = table.values.find(kKind);
    if (entry != table.values.end() && entry->second == kind) found.push_back(&table);
  }
  return found;
}

Result<const MeterTable*> table_for(std::string_view kind, std::string_view name,
                                    const Surroundings& around) {
  const MeterTable* table = around.table(name);
  if (table == nullptr) {
    std::string known;
    for (const MeterTable* other : tables_of(kind, around))
      known += cat(known.empty() ? "" : ", ", other->name);
    const std::string file = around.tables.empty() ? "meters.toml" : around.tables.front().file.string();
    return fail(ErrorCode::not_found,
                cat("no meter '", name, "' of kind ", kind, " is configured in ", file,
                    known.empty() ? std::string() : cat("; there are: ", known)),
                cat("add to ", file, ":  [", name.empty() ? "rack" : name, "]  kind = \"", kind,
                    "\"  and what docs/meters.md lists for ", kind));
  }
  const auto found = table->values.find(kKind);
  if (found == table->values.end() || found->second != kind)
    return fail(Keys(*table).wrong(kKind, cat("'", kind, "'")));
  return table;
}

const std::string* Keys::find(std::string_view key) const {
  const auto found = table_.values.find(key);
  return found == table_.values.end() ? nullptr : &found->second;
}

std::string Keys::where() const {
  return cat(table_.file.empty() ? "meters.toml" : table_.file.string(), ", [", table_.name, "]");
}

Error Keys::wrong(std::string_view key, std::string_view needed, std::string_view hint) const {
  const std::string* value = find(key);
  std::string found = "nothing";
  if (value != nullptr && is_secret(key)) found = "a value that is not shown";
  if (value != nullptr && !is_secret(key)) found = cat("'", *value, "'");
  return {ErrorCode::invalid_argument, cat(where(), ", ", key, ": found ", found, ", needed ", needed),
          std::string(hint)};
}

Status Keys::only(std::initializer_list<std::string_view> known) const {
  for (const auto& [key, value] : table_.values) {
    if (key == kKind || std::find(known.begin(), known.end(), key) != known.end()) continue;
    return fail(ErrorCode::invalid_argument, cat(where(), ": no key '", key, "' is known there"),
                cat("known keys: kind, ", listed(known)));
  }
  return {};
}

Result<std::string> Keys::text(std::string_view key) const {
  const std::string* value = find(key);
  if (value == nullptr || value->empty()) return fail(wrong(key, "a text"));
  return *value;
}

std::string Keys::text(std::string_view key, std::string_view otherwise) const {
  const std::string* value = find(key);
  return value == nullptr ? std::string(otherwise) : *value;
}

Result<double> Keys::number(std::string_view key, double low, double high) const {
  const std::string* value = find(key);
  const auto parsed = value == nullptr ? std::nullopt : parse_number(*value);
  if (!parsed || !std::isfinite(*parsed) || *parsed < low || *parsed > high)
    return fail(wrong(key, range(low, high)));
  return *parsed;
}

Result<double> Keys::number_or(std::string_view key, double otherwise, double low, double high) const {
  if (!has(key)) return otherwise;
  return number(key, low, high);
}

Result<std::int64_t> Keys::integer(std::string_view key, std::int64_t low, std::int64_t high) const {
  const std::string* value = find(key);
  const auto parsed = value == nullptr ? std::nullopt : parse_integer(*value);
  if (!parsed || *parsed < low || *parsed > high)
    return fail(wrong(key, cat("a whole number from ", low, " to ", high)));
  return *parsed;
}

Result<std::int64_t> Keys::integer_or(std::string_view key, std::int64_t otherwise, std::int64_t low,
                                      std::int64_t high) const {
  if (!has(key)) return otherwise;
  return integer(key, low, high);
}

Result<bool> Keys::flag_or(std::string_view key, bool otherwise) const {
  const std::string* value = find(key);
  if (value == nullptr) return otherwise;
  if (*value == "true") return true;
  if (*value == "false") return false;
  return fail(wrong(key, "true or false"));
}

Result<std::string> Keys::one_of(std::string_view key, std::initializer_list<std::string_view> choices,
                                 std::string_view otherwise) const {
  const std::string* value = find(key);
  if (value == nullptr) return std::string(otherwise);
  if (std::find(choices.begin(), choices.end(), *value) == choices.end())
    return fail(wrong(key, cat("one of ", listed(choices))));
  return *value;
}

Result<Scope> Keys::scope_or(std::string_view key, Scope otherwise) const {
  const std::string* value = find(key);
  if (value == nullptr) return otherwise;
  auto scope = parse_scope(*value);
  if (!scope) return fail(wrong(key, "a scope such as node or rail", scope.error().hint));
  return *scope;
}

}  // namespace rubato::meter
