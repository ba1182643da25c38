#include "simgpu/trainer/mark_writer.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/text.h"

namespace rubato::sim_trainer {

Result<std::optional<MarkWriter>> MarkWriter::from_environment() {
  const char* folder = std::getenv(RUBATO_MARKS_ENV);
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  Result<MarkWriter> writer = create(folder);
  if (!writer) return fail(writer.error());
  return std::optional<MarkWriter>(std::move(*writer));
}

Result<MarkWriter> MarkWriter::create(const std::filesystem::path& folder, std::uint32_t capacity) {
  Result<RingMap> ring =
      RingMap::create(folder / cat(::getpid(), "-", thread_id(), ".ring"),
                      {RUBATO_MARK_MAGIC, RUBATO_MARK_VERSION, sizeof(rubato_mark_record), capacity});
  if (!ring) return fail(ring.error());
  return MarkWriter(std::move(*ring));
}

void MarkWriter::write(TimePoint at, rubato_mark_kind kind, std::uint64_t id) {
  ring_.write(rubato_mark_record{.monotonic_ns = at.ns,
                                 .kind = static_cast<std::uint32_t>(kind),
                                 .flags = RUBATO_MARK_FLAG_SIMULATED,
                                 .id = id});
}

void MarkWriter::write_model(TimePoint at, const TrainedModel& model) {
  std::uint64_t precision = 0;
  switch (model.precision.value_or(Precision::fp32)) {
    case Precision::fp32:
      precision = model.precision ? RUBATO_PRECISION_FP32 : 0;
      break;
    case Precision::tf32:
      precision = RUBATO_PRECISION_TF32;
      break;
    case Precision::fp16:
      precision = RUBATO_PRECISION_FP16;
      break;
    case Precision::bf16:
      precision = RUBATO_PRECISION_BF16;
      break;
  }
  const std::uint64_t id = model.name.empty() ? 0 : hash_of_name(model.name);
  if (id != 0) write_name(at, id, model.name);
  ring_.write(rubato_mark_record{.monotonic_ns = at.ns,
                                 .kind = RUBATO_MARK_MODEL,
                                 .flags = RUBATO_MARK_FLAG_SIMULATED,
                                 .id = id,
                                 .detail = {static_cast<std::uint64_t>(model.parameters.value_or(0)),
                                            model.batch.value_or(0), precision, 0}});
}

void MarkWriter::write_name(TimePoint at, std::uint64_t id, std::string_view name) {
  for (std::uint32_t part = 0; !name.empty(); ++part) {
    rubato_mark_record record{.monotonic_ns = at.ns,
                              .kind = RUBATO_MARK_NAME,
                              .flags = part << 16 | RUBATO_MARK_FLAG_SIMULATED,
                              .id = id};
    const std::string_view now = name.substr(0, sizeof record.detail);
    std::memcpy(record.detail, now.data(), now.size());
    ring_.write(record);
    name.remove_prefix(now.size());
  }
}

std::uint64_t hash_of_name(std::string_view name) {
  std::uint64_t hash = RUBATO_MARK_HASH_OFFSET;
  for (const char c : name) hash = (hash ^ static_cast<std::uint8_t>(c)) * RUBATO_MARK_HASH_PRIME;
  return hash;
}

}  // namespace rubato::sim_trainer
