#include "wire/decode_times.h"

#include "base/text.h"

namespace rubato::wire {
namespace {

constexpr std::size_t kMostParts = 16;
constexpr std::size_t kMostBins = 256;

Result<TimedBin> bin_of(const Field& field) {
  const std::string_view value = field.value;
  const std::size_t space = value.find(' ');
  const auto up_to = parse_number(value.substr(0, space));
  const auto count = space == std::string_view::npos ? std::nullopt : parse_integer(value.substr(space + 1));
  if (!up_to || !(*up_to >= 0) || !count || *count < 0)
    return bad_line(field.line, "is no bin: its end in seconds and a count are needed");
  return TimedBin{Seconds(*up_to), static_cast<std::uint64_t>(*count)};
}

Result<Seconds> seconds_of(const Field& field) {
  const auto value = numbers_of(field, 1);
  if (!value) return fail(value.error());
  return Seconds(value->front());
}

}  // namespace

Result<Body> read_times(const std::vector<Field>& fields) {
  auto request = optional_text(fields, "request");
  if (!request) return fail(request.error());
  return TimesRequest{std::move(*request)};
}

Result<Body> read_timed(const std::vector<Field>& fields) {
  auto request = optional_text(fields, "request");
  if (!request) return fail(request.error());
  Timed message{std::move(*request), {}};
  for (const Field& field : fields) {
    if (field.key == "part") {
      if (message.parts.size() == kMostParts)
        return bad_line(field.line, cat("names more than ", kMostParts, " parts"));
      message.parts.push_back({.name = field.value});
      continue;
    }
    // What precedes the first part is unknown, so ignored.
    if (message.parts.empty()) continue;
    TimedPart& part = message.parts.back();
    if (field.key == "bin") {
      const auto bin = bin_of(field);
      if (!bin) return fail(bin.error());
      if (part.bins.size() == kMostBins)
        return bad_line(field.line, cat("is one of more than ", kMostBins, " bins"));
      part.bins.push_back(*bin);
    } else if (field.key == "sum-s" || field.key == "longest-s") {
      const auto seconds = seconds_of(field);
      if (!seconds) return fail(seconds.error());
      (field.key == "sum-s" ? part.sum : part.longest) = *seconds;
    }
  }
  return message;
}

}  // namespace rubato::wire
