// Figures of JSON texts from outside: numbers that can be what they are read as.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/text.h"

namespace rubato {

/// Thrown and caught inside one reader.
struct BadFigure {
  std::string what;
};

/// Throws BadFigure for what is no number between the two, json::out_of_range where there is none.
[[nodiscard]] inline double number_at(const nlohmann::json& object, const char* key, double low,
                                      double high) {
  const nlohmann::json& value = object.at(key);
  if (!value.is_number()) throw BadFigure{cat(key, " is ", value.dump(), ", and has to be a number")};
  const auto number = value.get<double>();
  if (!(number >= low && number <= high))
    throw BadFigure{cat(key, " is ", value.dump(), ", and has to be between ", low, " and ", high)};
  return number;
}

/// A whole number: get<T>() makes one of any number, of 1e99 by undefined behaviour. Throws
/// json::out_of_range, as at() does, for what is no whole number or none that T holds.
template <class T>
[[nodiscard]] T whole_of(const nlohmann::json& value) {
  if (value.is_number_unsigned()) {
    if (const auto whole = value.get<std::uint64_t>(); std::in_range<T>(whole)) return static_cast<T>(whole);
  } else if (value.is_number_integer()) {
    if (const auto whole = value.get<std::int64_t>(); std::in_range<T>(whole)) return static_cast<T>(whole);
  }
  throw nlohmann::json::out_of_range::create(401, value.dump() + " where a whole number is needed", &value);
}

}  // namespace rubato
