#include "daemon/audit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>

#include "base/log.h"
#include "base/standard_streams.h"
#include "base/text.h"

namespace rubato::daemon {
namespace {

/// RFC 8259; bytes that are no ASCII become escapes of Latin-1, so that a line is always valid whatever a
/// client calls itself.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += cat("\\u", hex(byte, 4));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

class Line {
 public:
  void text(std::string_view key, std::string_view value) {
    if (!value.empty()) raw(key, quoted(value));
  }
  void raw(std::string_view key, std::string_view value) {
    out_ += cat(out_.empty() ? "{" : ",", quoted(key), ":", value);
  }
  template <class List, class Name>
  void list(std::string_view key, const List& values, Name name) {
    if (values.empty()) return;
    std::string joined;
    for (const auto& value : values) joined += cat(joined.empty() ? "" : ",", quoted(name(value)));
    raw(key, cat("[", joined, "]"));
  }
  [[nodiscard]] std::string end() const { return out_ + "}"; }

 private:
  std::string out_;
};

void put_caller(Line& line, const Caller& caller) {
  line.raw("uid", std::to_string(caller.uid));
  line.raw("pid", std::to_string(caller.pid));
  if (caller.slurm_job) line.raw("slurm_job", std::to_string(*caller.slurm_job));
  line.text("cgroup", caller.cgroup);
}

void put_range(Line& line, std::string_view key, const std::optional<ClockRange>& range) {
  if (range) line.raw(key, cat("[", number(range->min.value()), ",", number(range->max.value()), "]"));
}

void put_setting(Line& line, const Setting& setting) {
  if (setting.power_limit) line.raw("power_limit_w", number(setting.power_limit->value()));
  put_range(line, "sm_clock_mhz", setting.sm_clock);
  put_range(line, "memory_clock_mhz", setting.memory_clock);
  if (const auto& clocks = setting.application_clocks) {
    line.raw("application_memory_clock_mhz", number(clocks->memory.value()));
    line.raw("application_sm_clock_mhz", number(clocks->sm.value()));
  }
}

/// With what a caller chose cut: each byte of it may take six.
AuditEntry shortened(const AuditEntry& entry) {
  constexpr std::size_t kMost = 150;  // bytes
  AuditEntry out = entry;
  out.gpus.clear();
  out.client.resize(std::min(out.client.size(), kMost));
  if (out.caller) out.caller->cgroup.resize(std::min(out.caller->cgroup.size(), kMost));
  out.why = cat("(shortened, of ", entry.gpus.size(), " GPUs) ", entry.why.substr(0, kMost));
  return out;
}

}  // namespace

std::string print_entry(const AuditEntry& entry, std::string_view at) {
  Line line;
  line.text("at", at);
  line.text("event", entry.event);
  line.text("decision", entry.decision);
  if (entry.caller) put_caller(line, *entry.caller);
  line.text("client", entry.client);
  line.list("gpus", entry.gpus, [](const GpuId& gpu) { return std::string_view(gpu.uuid); });
  line.list("knobs", entry.knobs, [](Knob knob) { return name_of(knob); });
  put_range(line, "found_sm_clock_mhz", entry.found_sm_clock);
  put_setting(line, entry.setting);
  line.text("rule", entry.rule);
  line.text("why", entry.why);
  return line.end();
}

std::string utc_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::tm utc{};
  ::gmtime_r(&now.tv_sec, &utc);
  char text[32];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  const std::string milliseconds = std::to_string(1000 + now.tv_nsec / 1'000'000).substr(1);
  return cat(std::string_view(text, size), ".", milliseconds, "Z");
}

Result<AuditFile> AuditFile::open(const std::filesystem::path& path) {
  if (path.empty()) return AuditFile(ScopedFd(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)), false);
  ScopedFd fd(
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0640));
  if (!fd.is_open())
    return fail(from_errno(errno, cat("cannot open the audit log ", path.string()),
                           cat("mkdir -p ", path.parent_path().string(), ", or another audit_log")));
  struct stat state {};
  if (::fstat(fd.get(), &state) != 0 || !S_ISREG(state.st_mode) || state.st_uid != ::geteuid() ||
      (state.st_mode & 022U) != 0)
    return fail(ErrorCode::no_permission,
                cat("the audit log ", path.string(), " is no regular file that this user alone may write"),
                "look at who put it there, then move it away");
  return AuditFile(std::move(fd), true);
}

void AuditFile::write(const AuditEntry& entry) {
  std::string line = print_entry(entry, utc_now()) + "\n";
  // What a pipe takes at once is bounded, and what a client says is not.
  if (!regular_ && line.size() > PIPE_BUF) line = print_entry(shortened(entry), utc_now()) + "\n";
  ssize_t put = 0;
  // Standard error may be a pipe whose reader stands still: leases do not wait for it.
  const bool taken = takes_a_line(fd_.get());
  do {
    put = taken ? ::write(fd_.get(), line.data(), line.size()) : 0;
  } while (put < 0 && errno == EINTR);
  if (put == static_cast<ssize_t>(line.size())) return;
  if (lost_++ == 0)
    log::warning(Error{ErrorCode::io,
                       "the audit log cannot be written: is the disk full, or does nobody read it?",
                       "what cannot be written is lost; serving goes on"});
}

}  // namespace rubato::daemon
