// A report as one HTML file that needs no network: the shell of web/dist, a document as JSON, and packed
// series behind it, so that the text is to be seen while the samples are still being read.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "report/packed_series.h"
#include "report/rows.h"

namespace rubato::report {

/// For an element's content: nothing of it is markup. Control characters and what is not UTF-8 are replaced.
[[nodiscard]] std::string html_text(std::string_view text);
/// JSON that may stand inside a <script> element: the same values, without the letter that could end it.
[[nodiscard]] std::string json_in_script(const std::string& json);

class HtmlPage {
 public:
  explicit HtmlPage(Sink& to) : to_(to) {}
  /// `title`: of the browser's window. `document`: JSON, in the form rubato.page/1 (docs/formats.md).
  /// `outline` stands before the script, which finds it there when it begins; may be null.
  [[nodiscard]] Status begin(std::string_view title, const std::string& document,
                             const PackedSeries* outline = nullptr);
  [[nodiscard]] Status series(const PackedSeries& packed);
  [[nodiscard]] Status end();

 private:
  Sink& to_;
};

}  // namespace rubato::report
