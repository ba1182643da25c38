// Whether the latest iterations go on as they are, or are still getting shorter.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/units.h"

namespace rubato::progress::tuning {

class Steadiness {
 public:
  static constexpr std::size_t kAgreeing = 5;  // iterations within a tenth of their median, but for one
  static constexpr std::size_t kVarying = 24;  // or as many whose later half is no shorter than the earlier

  void add(Seconds duration);
  void clear() { latest_.clear(); }
  [[nodiscard]] std::size_t count() const { return latest_.size(); }
  [[nodiscard]] bool steady() const { return agree() || only_vary(); }
  [[nodiscard]] bool agree() const;
  [[nodiscard]] std::optional<Seconds> median() const;
  [[nodiscard]] std::optional<Seconds> longest() const;

 private:
  [[nodiscard]] bool only_vary() const;

  std::vector<double> latest_;  // seconds, oldest first, at most kVarying
};

}  // namespace rubato::progress::tuning
