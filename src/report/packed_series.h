// Series of numbers small enough to be mailed: rounded to a quantum, as differences, their bytes apart by
// weight, deflated (RFC 1950) and in base64, which is what a browser can take apart by itself. Layout:
// docs/formats.md#packed-series.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "report/value.h"

namespace rubato::report {

struct PackedSeries {
  int id = 0;
  Object head;  // {"id", "count", "deflated", "columns": [{"name", "quantum", "first", "step", "bytes",
                // "present"}]}
  std::string base64;
};

/// Columns of equally many values, the moments among them.
class SeriesPacker {
 public:
  using Read = std::function<std::optional<double>(std::size_t)>;

  explicit SeriesPacker(std::size_t count) : count_(count) {}

  /// "time_s", seconds; has to come first. Regular moments cost next to nothing.
  void moments(double quantum, const Read& read);
  /// Values are kept to the nearest multiple of `quantum`; what is not finite or above 2^46 quanta is taken
  /// as not read. A column nobody read is left out.
  void values(std::string name, double quantum, const Read& read);

  [[nodiscard]] bool only_moments() const { return columns_.size() < 2; }
  /// Without `deflated` the page can take it apart at once, at the price of some room.
  [[nodiscard]] Result<PackedSeries> finish(int id, bool deflated = true) &&;

 private:
  void add(std::string name, double quantum, const Read& read, bool regular);

  std::size_t count_;
  Array columns_;
  std::string payload_;
};

/// RFC 4648, with padding.
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace rubato::report
