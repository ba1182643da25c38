#include <array>
#include <utility>

#include "agent/message.h"
#include "base/text.h"
#include "wire/fields.h"

namespace rubato::agent {
namespace {

using wire::Field;
using Fields = std::vector<Field>;

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

Result<Message> decode(std::string_view text) {
  if (text.size() > kLargestMessage) return unreadable(cat("it has ", text.size(), " bytes"));
  const std::size_t end = text.find('\n');
  const std::string_view first = text.substr(0, end);
  for (const Verb& verb : kVerbs) {
    if (verb.name != first) continue;
    const auto fields = wire::parse_fields(
        end == std::string_view::npos ? std::string_view() : text.substr(end + 1), text.size());
    if (!fields) return unreadable(fields.error().what);
    Reader reader(*fields);
    Message message = verb.read(reader, *fields);
    if (!reader.complaint().empty()) return unreadable(reader.complaint());
    return message;
  }
  return unreadable("its verb is unknown");
}

}  // namespace rubato::agent
