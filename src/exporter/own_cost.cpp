#include "exporter/own_cost.h"

#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"

namespace rubato::exporter {

Seconds own_cpu_time() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return Seconds(seconds(used.ru_utime) + seconds(used.ru_stime));
}

std::optional<std::uint64_t> own_memory(const FsRoot& root) {
  const auto text = root.read("/proc/self/statm");
  if (!text) return std::nullopt;
  const auto fields = split(*text, ' ');
  const auto pages = fields.size() > 1 ? parse_integer(fields[1]) : std::nullopt;
  if (!pages || *pages < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*pages) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace rubato::exporter
