// When the first word is spoken: not by how sure one look is, but by looks that agree while the trace grows.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace rubato::progress {

class Decision {
 public:
  /// What a look at the first `elapsed_s` of the trace found, `absent` where it found no period. True: enough
  /// is known to say so.
  [[nodiscard]] bool add(std::optional<double> period_s, double confidence, double elapsed_s);

 private:
  [[nodiscard]] std::size_t agreeing() const;

  std::vector<double> found_s_;  // by the latest looks that found any; the newest last
};

}  // namespace rubato::progress
