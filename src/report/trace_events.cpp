#include "report/trace_events.h"

#include <cmath>

#include "base/text.h"

namespace rubato::report {
namespace {

// Whole nanoseconds as microseconds, exactly: a double printed short loses them after some weeks of uptime.
std::string microseconds(std::int64_t ns) {
  const std::string_view sign = ns < 0 ? "-" : "";
  const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  std::string fraction = std::to_string(size % 1000);
  fraction.insert(0, 3 - fraction.size(), '0');
  return cat(sign, size / 1000, ".", fraction);
}

std::string value_of(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return std::to_string(*integer);
  if (const auto* bits = std::get_if<std::uint64_t>(&cell)) return std::to_string(*bits);
  if (const auto* real = std::get_if<double>(&cell); real != nullptr && std::isfinite(*real))
    return number(*real);
  if (const auto* text = std::get_if<std::string>(&cell)) return json_string(*text);
  return "null";
}

std::string arguments_of(std::span<const TraceArgument> arguments) {
  if (arguments.empty()) return {};
  std::string out = ",\"args\":{";
  std::string_view between;
  for (const auto& [name, value] : arguments) {
    out += cat(between, json_string(name), ":", value_of(value));
    between = ",";
  }
  return out + "}";
}

}  // namespace

TraceWriter::TraceWriter(Sink& to, TimePoint zero) : to_(to), zero_(zero) {
  status_ = to_.write("{\"displayTimeUnit\":\"ms\",\n\"traceEvents\":[");
}

std::string TraceWriter::at(TimePoint moment) const {
  return microseconds(moment.ns - zero_.ns);
}

void TraceWriter::event(char phase, const Track& track, std::string_view name, std::string_view rest) {
  if (!status_) return;
  line_ = first_ ? "\n" : ",\n";
  first_ = false;
  line_ += cat("{\"ph\":\"", std::string_view(&phase, 1), "\",\"pid\":", track.process,
               ",\"tid\":", track.thread, ",\"name\":", json_string(name), rest, "}");
  status_ = to_.write(line_);
}

void TraceWriter::name_process(std::int64_t process, std::string_view name) {
  event('M', {process, 0}, "process_name", cat(",\"args\":{\"name\":", json_string(name), "}"));
}

void TraceWriter::name_thread(const Track& track, std::string_view name) {
  event('M', track, "thread_name", cat(",\"args\":{\"name\":", json_string(name), "}"));
}

void TraceWriter::counter(std::int64_t process, std::string_view name, std::string_view unit,
                          TimePoint moment, double value) {
  if (!std::isfinite(value)) return;
  event('C', {process, 0}, name,
        cat(",\"ts\":", at(moment), ",\"args\":{", json_string(unit), ":", number(value), "}"));
}

void TraceWriter::slice(const Track& track, std::string_view category, std::string_view name, TimePoint begin,
                        TimePoint end, std::span<const TraceArgument> arguments) {
  if (end < begin) return;
  event('X', track, name,
        cat(",\"cat\":", json_string(category), ",\"ts\":", at(begin),
            ",\"dur\":", microseconds(end.ns - begin.ns), arguments_of(arguments)));
}

void TraceWriter::moment(const Track& track, std::string_view category, std::string_view name,
                         TimePoint moment, std::span<const TraceArgument> arguments) {
  event('i', track, name,
        cat(",\"s\":\"t\",\"cat\":", json_string(category), ",\"ts\":", at(moment), arguments_of(arguments)));
}

Status TraceWriter::finish(std::span<const std::pair<std::string, std::string>> facts) {
  std::string tail = "],\n\"otherData\":{";
  std::string_view between;
  for (const auto& [name, value] : facts) {
    tail += cat(between, json_string(name), ":", json_string(value));
    between = ",\n";
  }
  if (status_) status_ = to_.write(tail + "}}\n");
  return status_;
}

}  // namespace rubato::report
