#include "simgpu/trainer/kernel_writer.h"

#include <rubato/kernel_layout.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace rubato::sim_trainer {
namespace {

std::optional<Seconds> parse_time(std::string_view text) {
  double unit = 0.0;
  if (text.ends_with("ms"))
    unit = 1e-3, text.remove_suffix(2);
  else if (text.ends_with("s"))
    unit = 1.0, text.remove_suffix(1);
  const std::optional<std::int64_t> count = parse_integer(text);
  if (unit == 0.0 || !count || *count <= 0) return std::nullopt;
  return Seconds(static_cast<double>(*count) * unit);
}

std::optional<std::uint8_t> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  return std::nullopt;
}

// All zero, which is "unknown", where it is none.
std::array<std::uint8_t, 16> bytes_of_uuid(std::string_view uuid) {
  std::array<std::uint8_t, 16> out{};
  if (uuid.starts_with("GPU-")) uuid.remove_prefix(4);
  std::size_t digits = 0;
  for (const char c : uuid) {
    if (c == '-') continue;
    const std::optional<std::uint8_t> digit = hex_digit(c);
    if (!digit || digits == 2 * out.size()) return {};
    std::uint8_t& byte = out[digits / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | *digit);
    ++digits;
  }
  return digits == 2 * out.size() ? out : std::array<std::uint8_t, 16>{};
}

}  // namespace

Result<std::optional<KernelDuty>> parse_kernel_duty(std::string_view text) {
  if (text.empty() || text == "off" || text == "0") return std::nullopt;
  // How graphs are recorded says nothing here: a simulated training has none.
  std::string_view times = text;
  if (times.ends_with(",nodes")) times.remove_suffix(6);
  const std::vector<std::string> parts = split(times, '/');
  if (parts.size() == 2) {
    const std::optional<Seconds> on = parse_time(parts[0]);
    const std::optional<Seconds> period = parse_time(parts[1]);
    if (on && period && *on <= *period) return KernelDuty{*on, *period};
  }
  return fail(ErrorCode::invalid_argument,
              cat("RUBATO_KERNELS is '", text, "', needed is for example 2s/60s"),
              "unset it, or set it to off");
}

Result<std::optional<KernelWriter>> KernelWriter::from_environment(std::string_view gpu_uuid) {
  const char* folder = std::getenv(RUBATO_MARKS_ENV);
  const char* wanted = std::getenv("RUBATO_KERNELS");
  if (folder == nullptr || *folder == '\0' || wanted == nullptr) return std::nullopt;
  const Result<std::optional<KernelDuty>> duty = parse_kernel_duty(wanted);
  if (!duty) return fail(duty.error());
  if (!*duty) return std::nullopt;
  Result<KernelWriter> writer = create(folder, **duty, gpu_uuid);
  if (!writer) return fail(writer.error());
  return std::optional<KernelWriter>(std::move(*writer));
}

Result<KernelWriter> KernelWriter::create(const std::filesystem::path& folder, const KernelDuty& duty,
                                          std::string_view gpu_uuid) {
  Result<RingMap> ring = RingMap::create(folder / cat(::getpid(), "-0.kernels"),
                                         {RUBATO_KERNEL_MAGIC, RUBATO_KERNEL_VERSION,
                                          sizeof(rubato_kernel_record), RUBATO_KERNEL_DEFAULT_CAPACITY});
  if (!ring) return fail(ring.error());
  KernelWriter writer(std::move(*ring), duty);
  writer.uuid_ = bytes_of_uuid(gpu_uuid);
  return writer;
}

void KernelWriter::edge(std::uint32_t kind, TimePoint begin, TimePoint end) {
  ring_.write(rubato_kernel_record{
      .begin_ns = begin.ns, .end_ns = end.ns, .kind = kind, .flags = RUBATO_MARK_FLAG_SIMULATED});
}

void KernelWriter::write(const GpuIteration& iteration, MarkWriter& marks) {
  if (cycle_begin_ && iteration.begin >= *cycle_begin_ + duty_.on) finish();
  if (!cycle_begin_) {
    if (next_cycle_ && iteration.begin < *next_cycle_) return;
    cycle_begin_ = iteration.begin;
    next_cycle_ = iteration.begin + duty_.period;
    edge(RUBATO_KERNEL_CYCLE_BEGIN, iteration.begin, iteration.begin);
  }
  for (const SimKernel& k : kernels_of(iteration)) {
    rubato_kernel_record r{.begin_ns = k.begin.ns,
                           .end_ns = k.end.ns,
                           .name_hash = hash_of_name(k.name),
                           .layer = k.phase,
                           .kind = RUBATO_KERNEL_RUN,
                           .flags = RUBATO_MARK_FLAG_SIMULATED};
    if (named_.insert(r.name_hash).second) marks.write_name(iteration.end, r.name_hash, k.name);
    std::copy(k.grid.begin(), k.grid.end(), r.grid);
    std::copy(k.block.begin(), k.block.end(), r.block);
    std::copy(uuid_.begin(), uuid_.end(), r.device_uuid);
    ring_.write(r);
  }
  cycle_end_ = iteration.end;
}

void KernelWriter::finish() {
  if (!cycle_begin_) return;
  edge(RUBATO_KERNEL_CYCLE_END, *cycle_begin_, cycle_end_);
  cycle_begin_.reset();
}

}  // namespace rubato::sim_trainer
