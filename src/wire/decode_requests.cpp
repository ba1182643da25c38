#include "wire/decode_requests.h"

#include <utility>

#include "base/text.h"

namespace rubato::wire {
namespace {

using Fields = std::vector<Field>;
constexpr std::size_t kMostKnobs = 8;

Result<std::vector<GpuId>> read_gpus(const Fields& fields) {
  std::vector<GpuId> gpus;
  for (const Field& field : fields) {
    if (field.key != "gpu") continue;
    auto gpu = gpu_of(field);
    if (!gpu) return fail(gpu.error());
    if (gpus.size() == kMostGpus) return bad_line(field.line, cat("names more than ", kMostGpus, " GPUs"));
    gpus.push_back(std::move(*gpu));
  }
  return gpus;
}

}  // namespace

Result<Body> read_hello(const Fields& fields) {
  auto client = optional_text(fields, "client");
  if (!client) return fail(client.error());
  auto token = optional_text(fields, "token");
  if (!token) return fail(token.error());
  return Hello{std::move(*client), std::move(*token)};
}

Result<Body> read_acquire(const Fields& fields) {
  Acquire message;
  for (const Field& field : fields) {
    if (field.key == "gpu") {
      auto gpu = gpu_of(field);
      if (!gpu) return fail(gpu.error());
      message.gpus.push_back(std::move(*gpu));
    } else if (field.key == "knob") {
      const auto knob = parse_knob(field.value);
      if (!knob) return bad_line(field.line, "names an unknown knob: " + knob.error().what);
      message.knobs.push_back(*knob);
    }
    if (message.gpus.size() > kMostGpus)
      return bad_line(field.line, cat("names more than ", kMostGpus, " GPUs"));
    if (message.knobs.size() > kMostKnobs)
      return bad_line(field.line, cat("names more than ", kMostKnobs, " knobs"));
  }
  const auto found = optional_range(fields, "found-sm-clock");
  if (!found) return fail(found.error());
  message.found_sm_clock = *found;
  const auto bound = find_one(fields, "max-slowdown");
  if (!bound) return fail(bound.error());
  if (*bound != nullptr) {
    const auto value = numbers_of(**bound, 1);
    if (!value) return fail(value.error());
    message.max_slowdown = value->front();
  }
  return message;
}

Result<Body> read_apply(const Fields& fields) {
  auto gpu = required_gpu(fields);
  if (!gpu) return fail(gpu.error());
  const auto limit = optional_watts(fields, "power-limit");
  if (!limit) return fail(limit.error());
  const auto sm = optional_range(fields, "sm-clock");
  if (!sm) return fail(sm.error());
  const auto memory = optional_range(fields, "memory-clock");
  if (!memory) return fail(memory.error());
  const auto pair = optional_pair(fields, "application-clocks");
  if (!pair) return fail(pair.error());
  return Apply{
      std::move(*gpu),
      Setting{.power_limit = *limit, .sm_clock = *sm, .memory_clock = *memory, .application_clocks = *pair}};
}

Result<Body> read_restore(const Fields& fields) {
  auto gpu = required_gpu(fields);
  if (!gpu) return fail(gpu.error());
  return Restore{std::move(*gpu)};
}

Result<Body> read_release(const Fields&) {
  return Release{};
}

Result<Body> read_status(const Fields&) {
  return StatusRequest{};
}

Result<Body> read_job_begin(const Fields& fields) {
  const auto job = optional_whole(fields, "slurm-job");
  if (!job) return fail(job.error());
  const auto user = optional_whole(fields, "user");
  if (!user) return fail(user.error());
  if (!*job || !*user) return fail(ErrorCode::corrupt, "a lease message begins a job without number or user");
  auto gpus = read_gpus(fields);
  if (!gpus) return fail(gpus.error());
  return JobBegin{**job, **user, std::move(*gpus)};
}

Result<Body> read_job_end(const Fields& fields) {
  const auto job = optional_whole(fields, "slurm-job");
  if (!job) return fail(job.error());
  auto gpus = read_gpus(fields);
  if (!gpus) return fail(gpus.error());
  return JobEnd{*job, std::move(*gpus)};
}

}  // namespace rubato::wire
