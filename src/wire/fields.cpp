#include "wire/fields.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "wire/escape.h"
#include "wire/message.h"

namespace rubato::wire {

tl::unexpected<Error> bad_line(std::size_t line, std::string_view why) {
  return fail(ErrorCode::corrupt, cat("line ", line, " of a lease message ", why),
              "client and guard must be of the same rubato version");
}

Result<std::vector<Field>> parse_fields(std::string_view body, std::size_t most) {
  std::vector<Field> fields;
  if (const auto ends = static_cast<std::size_t>(std::count(body.begin(), body.end(), '\n')); ends > most)
    return fail(ErrorCode::corrupt,
                cat("a lease message has ", ends, " lines; at most ", most, " are legal"));
  for (std::size_t line = 2; !body.empty(); ++line) {
    const std::size_t end = body.find('\n');
    const std::string_view text = body.substr(0, end);
    body = end == std::string_view::npos ? std::string_view() : body.substr(end + 1);
    const std::size_t space = text.find(' ');
    auto key = unescape(text.substr(0, space));
    auto value = unescape(space == std::string_view::npos ? std::string_view() : text.substr(space + 1));
    if (!key || !value) return bad_line(line, "holds a raw control character or a broken escape");
    if (key->empty()) return bad_line(line, "has no key");
    fields.push_back({std::move(*key), std::move(*value), line});
  }
  return fields;
}

Result<const Field*> find_one(const std::vector<Field>& fields, std::string_view key) {
  const Field* found = nullptr;
  for (const Field& field : fields) {
    if (field.key != key) continue;
    if (found != nullptr) return bad_line(field.line, cat("repeats '", key, "'"));
    found = &field;
  }
  return found;
}

Result<GpuId> gpu_of(const Field& field) {
  if (field.value.empty() || field.value.size() > kLongestUuid) {
    return bad_line(field.line,
                    cat("names a GPU in ", field.value.size(), " bytes; 1 to ", kLongestUuid, " are legal"));
  }
  return GpuId{field.value};
}

Result<std::vector<double>> numbers_of(const Field& field, std::size_t count) {
  const auto spaces = static_cast<std::size_t>(std::count(field.value.begin(), field.value.end(), ' '));
  if (spaces + 1 != count)
    return bad_line(field.line, cat("has ", spaces + 1, " numbers; ", count, " are needed"));
  std::vector<double> values;
  for (const std::string& part : split(field.value, ' ')) {
    const auto value = parse_number(part);
    if (!value || !std::isfinite(*value))
      return bad_line(field.line, "holds no finite number: '" + part + "'");
    values.push_back(*value);
  }
  return values;
}

Result<GpuId> required_gpu(const std::vector<Field>& fields) {
  const auto field = find_one(fields, "gpu");
  if (!field) return fail(field.error());
  if (*field == nullptr) return fail(ErrorCode::corrupt, "a lease message names no GPU");
  return gpu_of(**field);
}

Result<std::string> optional_text(const std::vector<Field>& fields, std::string_view key) {
  const auto field = find_one(fields, key);
  if (!field) return fail(field.error());
  return *field == nullptr ? std::string() : (*field)->value;
}

Result<std::optional<Watts>> optional_watts(const std::vector<Field>& fields, std::string_view key) {
  const auto field = find_one(fields, key);
  if (!field) return fail(field.error());
  if (*field == nullptr) return std::nullopt;
  const auto values = numbers_of(**field, 1);
  if (!values) return fail(values.error());
  return Watts((*values)[0]);
}

Result<std::optional<ClockRange>> optional_range(const std::vector<Field>& fields, std::string_view key) {
  const auto field = find_one(fields, key);
  if (!field) return fail(field.error());
  if (*field == nullptr) return std::nullopt;
  const auto values = numbers_of(**field, 2);
  if (!values) return fail(values.error());
  return ClockRange{Megahertz((*values)[0]), Megahertz((*values)[1])};
}

Result<std::optional<ApplicationClocks>> optional_pair(const std::vector<Field>& fields,
                                                       std::string_view key) {
  const auto field = find_one(fields, key);
  if (!field) return fail(field.error());
  if (*field == nullptr) return std::nullopt;
  const auto values = numbers_of(**field, 2);
  if (!values) return fail(values.error());
  return ApplicationClocks{.memory = Megahertz((*values)[0]), .sm = Megahertz((*values)[1])};
}

Result<std::optional<std::int64_t>> optional_whole(const std::vector<Field>& fields, std::string_view key) {
  const auto field = find_one(fields, key);
  if (!field) return fail(field.error());
  if (*field == nullptr) return std::nullopt;
  const auto whole = parse_integer((*field)->value);
  if (!whole || *whole < 0) return bad_line((*field)->line, cat("does not give ", key, " as a whole number"));
  return whole;
}

}  // namespace rubato::wire
