#include "experiment/evidence_scrub.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace rubato::experiment {
namespace {

constexpr std::string_view kGone = "...";

bool word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}
bool hexadecimal(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0;
}

/// How many characters from `at` match `pattern`, in which x stands for a hexadecimal digit; 0: none.
std::size_t matches(std::string_view text, std::size_t at, std::string_view pattern) {
  if (text.size() - at < pattern.size()) return 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = text[at + i];
    if (pattern[i] == 'x' ? !hexadecimal(c) : c != pattern[i]) return 0;
  }
  return pattern.size();
}

std::size_t uuid_at(std::string_view text, std::size_t at) {
  for (const std::string_view prefix : {"GPU-", "MIG-", ""}) {
    if (!text.substr(at).starts_with(prefix)) continue;
    const std::size_t n = matches(text, at + prefix.size(), "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
    if (n > 0) return prefix.size() + n;
  }
  return 0;
}

std::size_t pci_at(std::string_view text, std::size_t at) {
  for (const std::string_view pattern : {"xxxxxxxx:xx:xx.x", "xxxx:xx:xx.x"})
    if (const std::size_t n = matches(text, at, pattern); n > 0) return n;
  return 0;
}

/// "J/s" and "and/or" have a letter before the slash; a path has none.
std::size_t path_at(std::string_view text, std::size_t at) {
  if (text[at] != '/' || at + 1 >= text.size() || !word(text[at + 1])) return 0;
  if (at > 0 && (word(text[at - 1]) || text[at - 1] == '.' || text[at - 1] == '/')) return 0;
  std::size_t n = 1;
  while (at + n < text.size() && (word(text[at + n]) || text[at + n] == '/' || text[at + n] == '.')) ++n;
  while (text[at + n - 1] == '.') --n;
  return n;
}

std::size_t name_at(std::string_view text, std::size_t at, const std::vector<std::string>& names) {
  if (at > 0 && word(text[at - 1])) return 0;
  std::size_t longest = 0;
  for (const std::string& name : names) {
    if (name.empty() || !text.substr(at).starts_with(name)) continue;
    const bool ends = at + name.size() == text.size() || !word(text[at + name.size()]);
    if (ends) longest = std::max(longest, name.size());
  }
  return longest;
}

}  // namespace

std::string scrubbed(std::string_view text, const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t n =
        std::max({name_at(text, at, names), uuid_at(text, at), pci_at(text, at), path_at(text, at)});
    if (n > 0)
      out += kGone;
    else
      out += text[at];
    at += std::max<std::size_t>(n, 1);
  }
  return out;
}

void scrub(nlohmann::ordered_json& document, const std::vector<std::string>& names) {
  if (document.is_string()) {
    document = scrubbed(document.get_ref<const std::string&>(), names);
    return;
  }
  if (!document.is_structured()) return;
  for (auto& item : document) scrub(item, names);
}

}  // namespace rubato::experiment
