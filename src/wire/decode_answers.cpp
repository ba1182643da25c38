#include "wire/decode_answers.h"

#include <utility>

#include "base/text.h"

namespace rubato::wire {
namespace {

using Fields = std::vector<Field>;

Result<double> optional_figure(const Fields& fields, std::string_view key, double otherwise) {
  const auto field = find_one(fields, key);
  if (!field) return fail(field.error());
  if (*field == nullptr) return otherwise;
  const auto value = numbers_of(**field, 1);
  if (!value) return fail(value.error());
  return value->front();
}

/// Splits a list into one group of fields per "gpu" line; what precedes the first is unknown, so ignored.
Result<std::vector<Fields>> groups_by_gpu(const Fields& fields) {
  std::vector<Fields> groups;
  for (const Field& field : fields) {
    if (field.key == "gpu") {
      if (groups.size() == kMostGpus)
        return bad_line(field.line, cat("names more than ", kMostGpus, " GPUs"));
      groups.emplace_back();
    }
    if (!groups.empty()) groups.back().push_back(field);
  }
  return groups;
}

Result<RestorationReport> read_report(const Fields& group) {
  auto gpu = required_gpu(group);
  if (!gpu) return fail(gpu.error());
  const auto outcome = optional_text(group, "outcome");
  if (!outcome) return fail(outcome.error());
  const auto parsed = parse_restoration(*outcome);
  if (!parsed)
    return bad_line(group.front().line, "begins a report without a known outcome: " + parsed.error().what);
  auto detail = optional_text(group, "detail");
  if (!detail) return fail(detail.error());
  return RestorationReport{std::move(*gpu), *parsed, std::move(*detail)};
}

Result<ManagedGpu> read_managed(const Fields& group) {
  auto gpu = required_gpu(group);
  if (!gpu) return fail(gpu.error());
  ManagedGpu managed{std::move(*gpu), {}, {}, false, {}};
  std::string allowed;
  const std::pair<std::string_view, std::string*> texts[] = {{"name", &managed.name},
                                                             {"state", &managed.state},
                                                             {"allowed", &allowed},
                                                             {"why-not", &managed.why_not}};
  for (const auto& [key, to] : texts) {
    auto text = optional_text(group, key);
    if (!text) return fail(text.error());
    *to = std::move(*text);
  }
  managed.allowed = allowed == "yes";
  const auto index = optional_whole(group, "index");
  if (!index) return fail(index.error());
  managed.index = *index;
  const auto job = optional_whole(group, "slurm-job");
  if (!job) return fail(job.error());
  managed.slurm_job = *job;
  return managed;
}

}  // namespace

Result<Body> read_welcome(const Fields& fields) {
  const auto text = optional_text(fields, "guard-pid");
  if (!text) return fail(text.error());
  const auto pid = parse_integer(*text);
  if (!pid)
    return fail(ErrorCode::corrupt, cat("a lease message gives '", *text, "' as the guard's process id"));
  auto server = optional_text(fields, "server");
  if (!server) return fail(server.error());
  auto mode = optional_text(fields, "mode");
  if (!mode) return fail(mode.error());
  return Welcome{*pid, std::move(*server), std::move(*mode)};
}

Result<Body> read_granted(const Fields& fields) {
  const auto groups = groups_by_gpu(fields);
  if (!groups) return fail(groups.error());
  Granted message;
  for (const Fields& group : *groups) {
    auto gpu = required_gpu(group);
    if (!gpu) return fail(gpu.error());
    const auto limits = find_one(group, "limits");
    if (!limits) return fail(limits.error());
    if (*limits == nullptr) return bad_line(group.front().line, "names a GPU without its limits");
    const auto w = numbers_of(**limits, 5);
    if (!w) return fail(w.error());
    auto note = optional_text(group, "note");
    if (!note) return fail(note.error());
    const auto clocks = optional_pair(group, "application-clocks");
    if (!clocks) return fail(clocks.error());
    message.found.push_back({std::move(*gpu),
                             {Watts((*w)[0]), Watts((*w)[1]), Watts((*w)[2]), Watts((*w)[3]), Watts((*w)[4])},
                             std::move(*note),
                             *clocks});
  }
  return message;
}

Result<Body> read_applied(const Fields& fields) {
  auto gpu = required_gpu(fields);
  if (!gpu) return fail(gpu.error());
  const auto requested = optional_watts(fields, "requested-limit");
  if (!requested) return fail(requested.error());
  const auto enforced = optional_watts(fields, "enforced-limit");
  if (!enforced) return fail(enforced.error());
  const auto clocks = optional_pair(fields, "application-clocks");
  if (!clocks) return fail(clocks.error());
  const auto asked = find_one(fields, "lock-asked-ns");
  if (!asked) return fail(asked.error());
  Applied message{std::move(*gpu), *requested, *enforced, *clocks};
  if (*asked != nullptr) {
    const auto ns = parse_integer((*asked)->value);
    if (!ns) return bad_line((*asked)->line, "does not say when the driver was asked in nanoseconds");
    message.lock_asked = TimePoint{*ns};
  }
  return message;
}

Result<Body> read_restored(const Fields& fields) {
  const auto groups = groups_by_gpu(fields);
  if (!groups) return fail(groups.error());
  Restored message;
  for (const Fields& group : *groups) {
    auto report = read_report(group);
    if (!report) return fail(report.error());
    message.reports.push_back(std::move(*report));
  }
  return message;
}

Result<Body> read_cleared(const Fields& fields) {
  const auto groups = groups_by_gpu(fields);
  if (!groups) return fail(groups.error());
  Cleared message;
  constexpr double kNone = -1;
  for (const Fields& group : *groups) {
    auto report = read_report(group);
    if (!report) return fail(report.error());
    const auto energy = optional_figure(group, "energy-j", kNone);
    if (!energy) return fail(energy.error());
    const auto duration = optional_figure(group, "duration-s", kNone);
    if (!duration) return fail(duration.error());
    ClearedGpu gpu{std::move(*report)};
    if (*energy >= 0) gpu.energy = Joules(*energy);
    if (*duration >= 0) gpu.duration = Seconds(*duration);
    message.gpus.push_back(std::move(gpu));
  }
  return message;
}

Result<Body> read_state(const Fields& fields) {
  const auto groups = groups_by_gpu(fields);
  if (!groups) return fail(groups.error());
  StatusReply message;
  auto mode = optional_text(fields, "mode");
  if (!mode) return fail(mode.error());
  message.mode = std::move(*mode);
  auto refusal = optional_text(fields, "last-refusal");
  if (!refusal) return fail(refusal.error());
  message.last_refusal = std::move(*refusal);
  for (const Fields& group : *groups) {
    auto managed = read_managed(group);
    if (!managed) return fail(managed.error());
    message.gpus.push_back(std::move(*managed));
  }
  return message;
}

Result<Body> read_refused(const Fields& fields) {
  const auto name = optional_text(fields, "code");
  if (!name) return fail(name.error());
  auto what = optional_text(fields, "what");
  if (!what) return fail(what.error());
  auto hint = optional_text(fields, "hint");
  if (!hint) return fail(hint.error());
  // A newer guard may know codes that we do not: its words still tell.
  ErrorCode code = ErrorCode::internal;
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i) {
    if (name_of(static_cast<ErrorCode>(i)) == *name) code = static_cast<ErrorCode>(i);
  }
  return Refused{Error{code, std::move(*what), std::move(*hint)}};
}

}  // namespace rubato::wire
