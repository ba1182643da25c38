// One object of a JSON text from outside, read field by field: every error names whose field it is, the value
// found and the value needed.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_figures.h"
#include "base/result.h"
#include "base/text.h"

namespace rubato {

/// invalid_argument, with words that repeat nothing of the text: no JSON, or nested deeper than any format of
/// ours, which would be too deep to print.
[[nodiscard]] inline Result<nlohmann::json> parse_json(std::string_view text) {
  constexpr int kDeepest = 64;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kDeepest)
      return fail(ErrorCode::invalid_argument,
                  cat("nested deeper than ", kDeepest, " levels, at byte ", i + 1));
  }
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& bad) {
    const auto* where = dynamic_cast<const nlohmann::json::parse_error*>(&bad);
    return fail(ErrorCode::invalid_argument,
                where != nullptr ? cat("no JSON, from byte ", where->byte) : std::string("no JSON"));
  }
}

/// As it stands there, cut where it is long.
[[nodiscard]] inline std::string shown(const nlohmann::json& value) {
  const std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

/// Every function throws BadFigure, which the reader that made it catches.
class JsonFields {
 public:
  using Json = nlohmann::json;

  /// `who` begins every error: "layer \"conv1\"". Both outlive it.
  JsonFields(const Json& object, std::string who) : object_(object), who_(std::move(who)) {
    if (!object.is_object()) throw BadFigure{cat(who_, ": ", shown(object), " where an object is needed")};
  }
  [[nodiscard]] const std::string& who() const { return who_; }
  [[noreturn]] void wrong(std::string_view key, const Json& value, std::string_view needed) const {
    throw BadFigure{cat(who_, ": \"", key, "\" is ", shown(value), " where ", needed, " is needed")};
  }

  const Json* find(const char* key) {
    used_.insert(key);
    const auto at = object_.find(key);
    return at == object_.end() ? nullptr : &*at;
  }
  const Json& need(const char* key, std::string_view needed) {
    const Json* found = find(key);
    if (found == nullptr) throw BadFigure{cat(who_, " has no \"", key, "\" where ", needed, " is needed")};
    return *found;
  }

  std::string any_text(const char* key) {
    const Json& value = need(key, "a text");
    if (!value.is_string()) wrong(key, value, "a text");
    return value.get<std::string>();
  }
  std::string text(const char* key) {
    if (std::string out = any_text(key); !out.empty()) return out;
    wrong(key, *find(key), "a text that is not empty");
  }
  /// One of a set of names; `parse` gives a Result and says what it needs.
  template <class Parse>
  auto named(const char* key, Parse parse) {
    const auto found = parse(text(key));
    if (!found) throw BadFigure{cat(who_, ": \"", key, "\": ", found.error().what)};
    return *found;
  }
  bool flag(const char* key) {
    const Json& value = need(key, "true or false");
    if (!value.is_boolean()) wrong(key, value, "true or false");
    return value.get<bool>();
  }
  double number(const char* key, double low, double high) {
    const std::string needed = cat("a number from ", low, " to ", high);
    const Json& value = need(key, needed);
    if (!value.is_number() || !(value.get<double>() >= low && value.get<double>() <= high))
      wrong(key, value, needed);
    return value.get<double>();
  }
  template <class T>
  T whole(const char* key, T least = 0) {
    return whole_in(key, need(key, words_for(least)), least);
  }
  /// Where it stands in a list, or anywhere else under `key`.
  template <class T>
  T whole_in(const char* key, const Json& value, T least = 0) const {
    try {
      if (const T found = whole_of<T>(value); found >= least) return found;
    } catch (const Json::exception&) {
    }
    wrong(key, value, words_for(least));
  }
  /// Absent where it is null or not there.
  template <class Read>
  auto unless_null(const char* key, Read read) -> std::optional<decltype(read())> {
    const Json* value = find(key);
    if (value == nullptr || value->is_null()) return std::nullopt;
    return read();
  }
  const Json& list(const char* key, std::size_t least, std::size_t most) {
    const std::string needed = cat("a list of ", least, " to ", most);
    const Json& value = need(key, needed);
    if (!value.is_array()) wrong(key, value, needed);
    if (value.size() < least || value.size() > most)
      throw BadFigure{
          cat(who_, ": \"", key, "\" has ", value.size(), " entries where ", needed, " is needed")};
    return value;
  }
  /// No field is there that nobody asked for: what is not understood may matter.
  void close() const {
    for (const auto& [key, value] : object_.items())
      if (!used_.contains(key)) throw BadFigure{cat(who_, " does not take \"", key, "\"")};
  }

 private:
  template <class T>
  static std::string words_for(T least) {
    if (least == 0) return "a whole number";
    return least == 1 ? "a whole number above 0" : cat("a whole number of at least ", least);
  }

  const Json& object_;
  std::string who_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace rubato
