// The page a text report is written on: headings, wrapped sentences, rows of a name and a value; and the
// names from report/ that every text report uses.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "base/units.h"
#include "report/format.h"
#include "report/layout.h"

namespace rubato::cli {

using report::command_line;
using report::cut;
using report::ending;
using report::fixed;
using report::Ink;
using report::ink;
using report::padded;
using report::percent;
using report::Table;
using report::text_of;
using report::TextOptions;
using report::wrapped;

class Page {
 public:
  explicit Page(const TextOptions& options) : options_(options) {}

  void heading(const std::string& text);
  void say(std::string_view sentence, std::optional<Ink> colour = {});
  /// With another beginning than two spaces; continued lines are indented as far.
  void say_after(std::string_view first, std::string_view sentence, std::optional<Ink> colour = {});
  void row(std::string_view key, std::string_view value, std::optional<Ink> colour = {});
  /// A row of a timeline; `since_begin` is shown in seconds up to ten minutes.
  void timed(Seconds since_begin, std::string_view what);
  /// One line, cut at the edge.
  void line(std::string_view text, std::optional<Ink> colour = {});
  void table(const Table& table) { out_ += table.text(2, options_); }
  void gap() { out_ += "\n"; }

  [[nodiscard]] const TextOptions& options() const { return options_; }
  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(options_.width); }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void coloured(const std::string& lines, std::optional<Ink> colour);

  TextOptions options_;
  std::string out_;
};

}  // namespace rubato::cli
