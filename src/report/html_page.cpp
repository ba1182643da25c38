#include "report/html_page.h"

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/page_shell.h"

namespace rubato::report {
namespace {

constexpr std::string_view kTitle = "<!--rubato:title-->";
constexpr std::string_view kDocument = "<!--rubato:document-->";
constexpr std::string_view kData = "<!--rubato:data-->";

/// The shell from behind `after` up to `before`; either may be empty for its begin and end.
std::string_view shell_between(std::string_view after, std::string_view before) {
  const std::string_view shell = page_shell();
  const std::size_t begin = after.empty() ? 0 : shell.find(after) + after.size();
  const std::size_t end = before.empty() ? shell.size() : shell.find(before, begin);
  return shell.substr(begin, end - begin);
}

// No script to a browser: a block of data it neither runs nor shows.
std::string element_of(const PackedSeries& packed) {
  return cat("<script type=\"text/plain\" id=\"series-", packed.id, "\">", packed.base64, "</script>\n");
}

std::string valid_utf8(std::string_view text) {
  const std::string quoted = json_string(text);
  return nlohmann::json::parse(quoted).get<std::string>();
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return out;
}

// Outside of its strings JSON has no such letter, and inside them an escape is the same string.
std::string json_in_script(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

Status HtmlPage::begin(std::string_view title, const std::string& document, const PackedSeries* outline) {
  for (const std::string& part : {std::string(shell_between({}, kTitle)), html_text(title),
                                  std::string(shell_between(kTitle, kDocument)),
                                  cat("<script type=\"application/json\" id=\"rubato-document\">",
                                      json_in_script(document), "</script>\n"),
                                  outline != nullptr ? element_of(*outline) : std::string(),
                                  std::string(shell_between(kDocument, kData))})
    if (const Status written = to_.write(part); !written) return written;
  return {};
}

Status HtmlPage::series(const PackedSeries& packed) {
  return to_.write(element_of(packed));
}

Status HtmlPage::end() {
  return to_.write(shell_between(kData, {}));
}

}  // namespace rubato::report
