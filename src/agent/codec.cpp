#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "agent/message.h"
#include "base/text.h"
#include "wire/escape.h"
#include "wire/fields.h"

namespace rubato::agent {
namespace {

using wire::Field;
using Fields = std::vector<Field>;

constexpr std::size_t kLongestText = 512;

/// Free text is cut at kLongestText bytes, on a UTF-8 character's edge.
class Writer {
 public:
  void text(std::string_view key, const std::string& value) {
    if (value.empty()) return;
    std::size_t end = std::min(value.size(), kLongestText);
    while (end < value.size() && end > 0 && (static_cast<unsigned char>(value[end]) & 0xc0U) == 0x80U) --end;
    line(key, wire::escape(std::string_view(value).substr(0, end)));
  }
  void whole(std::string_view key, std::int64_t value) { line(key, cat(value)); }
  void whole(std::string_view key, std::uint64_t value) { line(key, cat(value)); }
  void yes(std::string_view key, bool value) {
    if (value) line(key, "yes");
  }
  void numbers(std::string_view key, std::initializer_list<double> values) {
    std::string joined;
    for (const double value : values) joined += (joined.empty() ? "" : " ") + number(value);
    line(key, joined);
  }
  void maybe(std::string_view key, const std::optional<Joules>& value) {
    if (value && std::isfinite(value->value())) numbers(key, {value->value()});
  }
  std::string take() { return std::move(out_); }

 private:
  void line(std::string_view key, std::string_view value) { out_ += cat(key, " ", value, "\n"); }
  std::string out_;
};

void put(Writer& to, const Setting& setting) {
  if (setting.power_limit) to.numbers("power-limit", {setting.power_limit->value()});
  if (setting.sm_clock)
    to.numbers("sm-clock", {setting.sm_clock->min.value(), setting.sm_clock->max.value()});
  if (setting.memory_clock)
    to.numbers("memory-clock", {setting.memory_clock->min.value(), setting.memory_clock->max.value()});
}

std::string_view put(Writer& to, const Join& m) {
  to.text("run", m.run);
  to.text("node", m.node);
  to.whole("rank", m.rank);
  to.whole("world", m.world);
  to.whole("covers", m.covers);
  to.text("space", m.space);
  for (const GpuId& gpu : m.gpus) to.text("gpu", gpu.uuid);
  return "join";
}

std::string_view put(Writer& to, const Report& m) {
  to.whole("iterations", m.iterations);
  to.yes("by-marks", m.by_marks);
  to.whole("epoch", m.epoch);
  to.yes("may-set", m.may_set);
  to.text("why-not", m.why_not);
  to.yes("under-load", m.under_load);
  to.yes("tuning", m.tuning);
  to.text("shift", m.shift);
  if (m.tally) {
    to.whole("at-ns", m.tally->at.ns);
    to.numbers("work", {m.tally->work, m.tally->outside.value(), m.tally->energy_outside.value()});
    to.maybe("energy", m.tally->energy);
  }
  return "report";
}

std::string_view put(Writer& to, const Ack& m) {
  to.whole("epoch", m.epoch);
  to.yes("yes", m.yes);
  to.text("why-not", m.why_not);
  return "ack";
}
std::string_view put(Writer& to, const Received& m) {
  to.whole("epoch", m.epoch);
  return "received";
}
std::string_view put(Writer& to, const Late& m) {
  to.whole("epoch", m.epoch);
  to.text("why", m.why);
  return "late";
}

std::string_view put(Writer& to, const Bye& m) {
  const Totals& t = m.totals;
  to.text("run", t.run);
  to.text("node", t.node);
  to.whole("rank", t.rank);
  to.numbers("duration", {t.duration.value()});
  to.whole("iterations", t.iterations);
  to.maybe("saved", t.saved);
  to.maybe("saved-low", t.saved_low);
  to.maybe("saved-high", t.saved_high);
  for (const GpuTotals& gpu : t.gpus) {
    to.text("gpu", gpu.gpu.uuid);
    to.text("name", gpu.name);
    to.maybe("energy", gpu.energy);
    to.text("kind", std::string(name_of(gpu.kind)));
    if (gpu.restoration) to.text("restoration", std::string(name_of(*gpu.restoration)));
  }
  return "bye";
}

std::string_view put(Writer& to, const Welcome& m) {
  to.text("run", m.run);
  return "welcome";
}
std::string_view put(Writer& to, const Refuse& m) {
  to.text("why", m.why);
  return "refuse";
}
std::string_view put(Writer& to, const Propose& m) {
  to.whole("epoch", m.epoch);
  to.whole("at", m.at);
  to.whole("now", m.now);
  to.numbers("answer", {m.answer.value()});
  put(to, m.setting);
  return "propose";
}
std::string_view put(Writer& to, const Commit& m) {
  to.whole("epoch", m.epoch);
  return "commit";
}
std::string_view put(Writer& to, const Cancel& m) {
  to.whole("epoch", m.epoch);
  to.text("why", m.why);
  return "cancel";
}
std::string_view put(Writer& to, const Halt& m) {
  to.text("why", m.why);
  return "halt";
}
std::string_view put(Writer& to, const Stage& m) {
  to.text("role", std::string(name_of(m.role)));
  to.text("why", m.why);
  return "stage";
}
std::string_view put(Writer& to, const Pulse& m) {
  to.whole("iterations", m.iterations);
  return "pulse";
}

/// Takes what it wants from the fields; the first thing wrong is kept.
class Reader {
 public:
  explicit Reader(const Fields& fields) : fields_(fields) {}

  std::string text(std::string_view key) {
    const Field* field = find(key);
    return field == nullptr ? std::string() : field->value;
  }
  std::int64_t whole(std::string_view key) {
    const Field* field = find(key);
    if (field == nullptr) return missing(key);
    const auto value = parse_integer(field->value);
    if (!value || *value < 0)
      wrong(cat("line ", field->line, " holds no whole number: '", field->value, "'"));
    return value.value_or(0);
  }
  std::uint64_t epoch() { return static_cast<std::uint64_t>(whole("epoch")); }
  bool yes(std::string_view key) { return text(key) == "yes"; }
  std::vector<double> numbers(std::string_view key, std::size_t count) {
    const Field* field = find(key);
    if (field == nullptr) return {};
    auto values = wire::numbers_of(*field, count);
    if (!values) wrong(values.error().what);
    return values ? std::move(*values) : std::vector<double>();
  }
  std::optional<double> maybe(std::string_view key) {
    const auto values = numbers(key, 1);
    return values.empty() ? std::nullopt : std::optional(values.front());
  }
  std::optional<Joules> joules(std::string_view key) {
    const auto value = maybe(key);
    return value ? std::optional(Joules(*value)) : std::nullopt;
  }
  template <class T>
  T named(Result<T> value) {
    if (!value) wrong(value.error().what);
    return value ? *value : T{};
  }
  void wrong(std::string what) {
    if (wrong_.empty()) wrong_ = std::move(what);
  }
  [[nodiscard]] const std::string& complaint() const { return wrong_; }

 private:
  const Field* find(std::string_view key) {
    const auto field = wire::find_one(fields_, key);
    if (!field) wrong(field.error().what);
    return field ? *field : nullptr;
  }
  std::int64_t missing(std::string_view key) {
    wrong(cat("'", key, "' is missing"));
    return 0;
  }

  const Fields& fields_;
  std::string wrong_;
};

std::vector<GpuId> gpus_in(const Fields& fields, Reader& reader) {
  std::vector<GpuId> gpus;
  for (const Field& field : fields)
    if (field.key == "gpu") gpus.push_back(reader.named(wire::gpu_of(field)));
  if (gpus.size() > kMostGpus) reader.wrong(cat("more than ", kMostGpus, " GPUs are named"));
  return gpus;
}

std::optional<ClockRange> range(Reader& reader, std::string_view key) {
  const auto values = reader.numbers(key, 2);
  if (values.size() != 2) return std::nullopt;
  return ClockRange{Megahertz(values[0]), Megahertz(values[1])};
}

Message read_join(Reader& r, const Fields& fields) {
  return Join{.run = r.text("run"),
              .node = r.text("node"),
              .rank = r.whole("rank"),
              .world = r.whole("world"),
              .covers = r.whole("covers"),
              .space = r.text("space"),
              .gpus = gpus_in(fields, r)};
}

Message read_report(Reader& r, const Fields&) {
  Report m{.iterations = r.whole("iterations"),
           .by_marks = r.yes("by-marks"),
           .epoch = r.epoch(),
           .may_set = r.yes("may-set"),
           .why_not = r.text("why-not"),
           .under_load = r.yes("under-load"),
           .tuning = r.yes("tuning"),
           .shift = r.text("shift"),
           .tally = std::nullopt};
  const auto work = r.numbers("work", 3);
  if (work.size() == 3)
    m.tally = govern::Tally{.work = work[0],
                            .at = TimePoint{r.whole("at-ns")},
                            .energy = r.joules("energy"),
                            .outside = Seconds(work[1]),
                            .energy_outside = Joules(work[2])};
  return m;
}

Message read_ack(Reader& r, const Fields&) {
  return Ack{r.epoch(), r.yes("yes"), r.text("why-not")};
}
Message read_received(Reader& r, const Fields&) {
  return Received{r.epoch()};
}
Message read_late(Reader& r, const Fields&) {
  return Late{r.epoch(), r.text("why")};
}

/// One GPU's lines: from its "gpu" to the next.
GpuTotals read_gpu_totals(const Fields& group, Reader& all) {
  Reader r(group);
  GpuTotals out;
  out.gpu = r.named(wire::gpu_of(group.front()));
  out.name = r.text("name");
  out.energy = r.joules("energy");
  out.kind = r.named(parse_kind(r.text("kind")));
  if (const auto restoration = r.text("restoration"); !restoration.empty())
    out.restoration = r.named(parse_restoration(restoration));
  all.wrong(r.complaint());
  return out;
}

Message read_bye(Reader& all, const Fields& fields) {
  // What stands before the first GPU is the agent's own.
  std::vector<Fields> groups(1);
  for (const Field& field : fields) {
    if (field.key == "gpu") groups.emplace_back();
    groups.back().push_back(field);
  }
  Reader r(groups.front());
  Bye m;
  m.totals.run = r.text("run");
  m.totals.node = r.text("node");
  m.totals.rank = r.whole("rank");
  m.totals.duration = Seconds(r.maybe("duration").value_or(0));
  m.totals.iterations = r.whole("iterations");
  m.totals.saved = r.joules("saved");
  m.totals.saved_low = r.joules("saved-low");
  m.totals.saved_high = r.joules("saved-high");
  for (std::size_t i = 1; i < groups.size() && i <= kMostGpus; ++i)
    m.totals.gpus.push_back(read_gpu_totals(groups[i], r));
  all.wrong(r.complaint());
  return m;
}

Message read_welcome(Reader& r, const Fields&) {
  return Welcome{r.text("run")};
}
Message read_refuse(Reader& r, const Fields&) {
  return Refuse{r.text("why")};
}
Message read_propose(Reader& r, const Fields&) {
  Propose m{.epoch = r.epoch(), .at = r.whole("at"), .now = r.whole("now"), .answer = {}, .setting = {}};
  m.answer = Seconds(r.maybe("answer").value_or(0));
  if (const auto limit = r.maybe("power-limit")) m.setting.power_limit = Watts(*limit);
  m.setting.sm_clock = range(r, "sm-clock");
  m.setting.memory_clock = range(r, "memory-clock");
  return m;
}
Message read_commit(Reader& r, const Fields&) {
  return Commit{r.epoch()};
}
Message read_cancel(Reader& r, const Fields&) {
  return Cancel{r.epoch(), r.text("why")};
}
Message read_halt(Reader& r, const Fields&) {
  return Halt{r.text("why")};
}
Message read_stage(Reader& r, const Fields&) {
  return Stage{r.named(parse_block_role(r.text("role"))), r.text("why")};
}
Message read_pulse(Reader& r, const Fields&) {
  return Pulse{r.whole("iterations")};
}

struct Verb {
  std::string_view name;
  Message (*read)(Reader&, const Fields&);
};
constexpr std::array kVerbs = {
    Verb{"join", read_join},         Verb{"report", read_report}, Verb{"ack", read_ack},
    Verb{"received", read_received}, Verb{"late", read_late},     Verb{"bye", read_bye},
    Verb{"welcome", read_welcome},   Verb{"refuse", read_refuse}, Verb{"propose", read_propose},
    Verb{"commit", read_commit},     Verb{"cancel", read_cancel}, Verb{"halt", read_halt},
    Verb{"stage", read_stage},       Verb{"pulse", read_pulse}};

tl::unexpected<Error> unreadable(const std::string& why) {
  return fail(ErrorCode::corrupt, cat("a message of another agent of this job cannot be read: ", why),
              "all ranks need the same version of rubato");
}

}  // namespace

std::string encode(const Message& message) {
  Writer lines;
  const std::string_view verb = std::visit([&](const auto& m) { return put(lines, m); }, message);
  return cat(verb, "\n", lines.take());
}

Result<Message> decode(std::string_view text) {
  if (text.size() > kLargestMessage) return unreadable(cat("it has ", text.size(), " bytes"));
  const std::size_t end = text.find('\n');
  const std::string_view first = text.substr(0, end);
  for (const Verb& verb : kVerbs) {
    if (verb.name != first) continue;
    const auto fields =
        wire::parse_fields(end == std::string_view::npos ? std::string_view() : text.substr(end + 1));
    if (!fields) return unreadable(fields.error().what);
    Reader reader(*fields);
    Message message = verb.read(reader, *fields);
    if (!reader.complaint().empty()) return unreadable(reader.complaint());
    return message;
  }
  return unreadable("its verb is unknown");
}

}  // namespace rubato::agent
