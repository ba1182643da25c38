#include "meter/number_file.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/fs_root.h"
#include "base/text.h"

namespace rubato::meter {
namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// Splits off a leading run of digits or of other characters.
std::string_view take_run(std::string_view& text) {
  std::size_t length = 1;
  while (length < text.size() && is_digit(text[length]) == is_digit(text[0])) ++length;
  const std::string_view run = text.substr(0, length);
  text.remove_prefix(length);
  return run;
}

bool in_natural_order(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    const std::string_view x = take_run(a);
    const std::string_view y = take_run(b);
    if (x == y) continue;
    if (is_digit(x[0]) && is_digit(y[0]) && x.size() != y.size()) return x.size() < y.size();
    return x < y;
  }
  return a.size() < b.size();
}

}  // namespace

Result<std::int64_t> read_whole(const std::filesystem::path& file) {
  auto content = read_small_file(file);
  if (!content) return fail(std::move(content.error()));
  const auto value = parse_integer(trim(*content));
  if (!value)
    return fail(ErrorCode::corrupt, cat(file.string(), " holds '", trim(*content).substr(0, 40),
                                        "', where a whole number was expected"));
  return *value;
}

std::string read_word(const std::filesystem::path& file) {
  const auto content = read_small_file(file);
  if (!content) return {};
  return std::string(trim(content->substr(0, content->find('\n'))));
}

std::vector<std::string> entries(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (std::filesystem::directory_iterator it(folder, failed), end; !failed && it != end;
       it.increment(failed))
    names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end(), in_natural_order);
  return names;
}

}  // namespace rubato::meter
