#include <algorithm>
#include <cmath>
#include <utility>

#include "agent/message.h"
#include "base/text.h"
#include "wire/escape.h"

namespace rubato::agent {
namespace {

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

}  // namespace

std::string encode(const Message& message) {
  Writer lines;
  const std::string_view verb = std::visit([&](const auto& m) { return put(lines, m); }, message);
  return cat(verb, "\n", lines.take());
}

}  // namespace rubato::agent
