#include "conduct/power_trace.h"

#include <optional>

namespace rubato::conduct {

std::vector<measure::PowerAt> sum_of(const std::vector<std::vector<measure::PowerAt>>& traces) {
  constexpr Seconds kBridged{2.0};
  if (traces.empty()) return {};
  std::vector<measure::PowerAt> sum;
  std::vector<std::size_t> next(traces.size(), 1);
  for (measure::PowerAt point : traces.front()) {
    bool known = true;
    for (std::size_t i = 1; i < traces.size() && known; ++i) {
      const auto& trace = traces[i];
      while (next[i] < trace.size() && trace[next[i]].at < point.at) ++next[i];
      known = next[i] < trace.size() && trace[next[i] - 1].at <= point.at;
      if (!known) break;
      const auto& a = trace[next[i] - 1];
      const auto& b = trace[next[i]];
      const Seconds length = b.at - a.at;
      known = length > Seconds(0) && length <= kBridged;
      if (known) point.power = point.power + a.power + (b.power - a.power) * ((point.at - a.at) / length);
    }
    if (known) sum.push_back(point);
  }
  return sum;
}

}  // namespace rubato::conduct
