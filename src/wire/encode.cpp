#include <algorithm>

#include "base/text.h"
#include "wire/escape.h"
#include "wire/message.h"

namespace rubato::wire {
namespace {

constexpr std::size_t kLongestText = 1024;

/// Writes the lines of one message; free text is cut at `longest` bytes, on a UTF-8 character's edge.
class Writer {
 public:
  explicit Writer(std::size_t longest) : longest_(longest) {}

  void text(std::string_view key, std::string_view value) {
    if (value.size() > longest_) {
      std::size_t end = longest_;
      while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xc0U) == 0x80U) --end;
      value = value.substr(0, end);
    }
    if (!value.empty()) line(key, escape(value));
  }
  void name(std::string_view key, std::string_view value) { line(key, escape(value)); }
  template <class... Numbers>
  void numbers(std::string_view key, Numbers... values) {
    std::string joined;
    ((joined += (joined.empty() ? "" : " ") + number(values)), ...);
    line(key, joined);
  }
  void range(std::string_view key, const std::optional<ClockRange>& value) {
    if (value) numbers(key, value->min.value(), value->max.value());
  }
  void pair(std::string_view key, const std::optional<ApplicationClocks>& value) {
    if (value) numbers(key, value->memory.value(), value->sm.value());
  }
  std::string take() { return std::move(out_); }

 private:
  void line(std::string_view key, std::string_view value) { out_ += cat(key, " ", value, "\n"); }

  std::size_t longest_;
  std::string out_;
};

std::string_view write(Writer& to, const Hello& m) {
  to.text("client", m.client);
  to.text("token", m.token);
  return "hello";
}

std::string_view write(Writer& to, const Acquire& m) {
  for (const GpuId& gpu : m.gpus) to.name("gpu", gpu.uuid);
  for (const Knob knob : m.knobs) to.name("knob", name_of(knob));
  to.range("found-sm-clock", m.found_sm_clock);
  if (m.max_slowdown) to.numbers("max-slowdown", *m.max_slowdown);
  return "acquire";
}

std::string_view write(Writer& to, const Apply& m) {
  to.name("gpu", m.gpu.uuid);
  if (m.setting.power_limit) to.numbers("power-limit", m.setting.power_limit->value());
  to.range("sm-clock", m.setting.sm_clock);
  to.range("memory-clock", m.setting.memory_clock);
  to.pair("application-clocks", m.setting.application_clocks);
  return "apply";
}

std::string_view write(Writer& to, const Restore& m) {
  to.name("gpu", m.gpu.uuid);
  return "restore";
}

std::string_view write(Writer&, const Heartbeat&) {
  return "heartbeat";
}
std::string_view write(Writer&, const Release&) {
  return "release";
}
std::string_view write(Writer&, const StatusRequest&) {
  return "status";
}

std::string_view write(Writer& to, const Welcome& m) {
  to.name("guard-pid", std::to_string(m.guard_pid));
  to.text("server", m.server);
  to.text("mode", m.mode);
  return "welcome";
}

std::string_view write(Writer& to, const Granted& m) {
  for (const Found& found : m.found) {
    const PowerLimits& l = found.limits;
    to.name("gpu", found.gpu.uuid);
    to.numbers("limits", l.min.value(), l.max.value(), l.default_limit.value(), l.requested.value(),
               l.enforced.value());
    to.text("note", found.note);
    to.pair("application-clocks", found.application_clocks);
  }
  return "granted";
}

std::string_view write(Writer& to, const Applied& m) {
  to.name("gpu", m.gpu.uuid);
  if (m.requested_limit) to.numbers("requested-limit", m.requested_limit->value());
  if (m.enforced_limit) to.numbers("enforced-limit", m.enforced_limit->value());
  to.pair("application-clocks", m.application_clocks);
  if (m.lock_asked) to.name("lock-asked-ns", std::to_string(m.lock_asked->ns));
  return "applied";
}

std::string_view write(Writer& to, const Restored& m) {
  for (const RestorationReport& report : m.reports) {
    to.name("gpu", report.gpu.uuid);
    to.name("outcome", name_of(report.outcome));
    to.text("detail", report.detail);
  }
  return "restored";
}

std::string_view write(Writer& to, const StatusReply& m) {
  to.text("mode", m.mode);
  to.text("last-refusal", m.last_refusal);
  for (const ManagedGpu& gpu : m.gpus) {
    to.name("gpu", gpu.gpu.uuid);
    to.text("name", gpu.name);
    to.text("state", gpu.state);
    to.name("allowed", gpu.allowed ? "yes" : "no");
    to.text("why-not", gpu.why_not);
    if (gpu.index) to.name("index", std::to_string(*gpu.index));
    if (gpu.slurm_job) to.name("slurm-job", std::to_string(*gpu.slurm_job));
  }
  return "state";
}

std::string_view write(Writer& to, const JobBegin& m) {
  to.name("slurm-job", std::to_string(m.slurm_job));
  to.name("user", std::to_string(m.user));
  for (const GpuId& gpu : m.gpus) to.name("gpu", gpu.uuid);
  return "job-begin";
}

std::string_view write(Writer& to, const JobEnd& m) {
  if (m.slurm_job) to.name("slurm-job", std::to_string(*m.slurm_job));
  for (const GpuId& gpu : m.gpus) to.name("gpu", gpu.uuid);
  return "job-end";
}

std::string_view write(Writer& to, const Cleared& m) {
  for (const ClearedGpu& gpu : m.gpus) {
    to.name("gpu", gpu.report.gpu.uuid);
    to.name("outcome", name_of(gpu.report.outcome));
    to.text("detail", gpu.report.detail);
    if (gpu.energy) to.numbers("energy-j", gpu.energy->value());
    if (gpu.duration) to.numbers("duration-s", gpu.duration->value());
  }
  return "cleared";
}

std::string_view write(Writer& to, const TimesRequest& m) {
  to.name("request", m.request);
  return "times";
}

std::string_view write(Writer& to, const Timed& m) {
  to.name("request", m.request);
  for (const TimedPart& part : m.parts) {
    to.name("part", part.name);
    to.numbers("sum-s", part.sum.value());
    to.numbers("longest-s", part.longest.value());
    for (const TimedBin& bin : part.bins) to.name("bin", cat(number(bin.up_to.value()), " ", bin.count));
  }
  return "timed";
}

std::string_view write(Writer& to, const Refused& m) {
  to.name("code", name_of(m.error.code));
  to.text("what", m.error.what);
  to.text("hint", m.error.hint);
  return "refused";
}

}  // namespace

std::string encode(const Message& message) {
  // A refusal that says less still arrives; one that is too long would be dropped whole.
  for (std::size_t longest = kLongestText;; longest /= 2) {
    Writer lines(longest);
    const std::string_view verb =
        std::visit([&](const auto& body) { return write(lines, body); }, message.body);
    std::string datagram = cat("rubato-lease/1 ", verb, " ", message.sequence, "\n", lines.take());
    if (datagram.size() <= kLargestMessage || longest == 0) return datagram;
  }
}

}  // namespace rubato::wire
